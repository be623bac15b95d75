"""The forms of a question and its answers: an author says what is right, and weights only where they matter."""

from decimal import Decimal
from typing import Any, cast

from django import forms

from exams.canonical import write_number
from exams.models import AnswerOption, Question, QuestionKind
from exams.paper.drafts import Kind
from exams.paper.weights import Tick, even_weights
from gradebook.admin.seen import SeenForm

_LAST = 1_000_000
_OWN = ("title", "kind", "text", "text_format", "points", "is_case_sensitive", "feedback")


class QuestionForm(SeenForm[Question]):
    """A question without its answers; whether a statement is true is said here, not in a list."""

    place = forms.IntegerField(min_value=1, label="Place in the paper", help_text="Others move up or down.")
    truth = forms.ChoiceField(
        label="The statement is",
        required=False,
        choices=[("", "---------"), ("true", "true"), ("false", "false")],
        help_text="For a true/false question.",
    )

    class Meta:
        model = Question
        fields = [
            "place",
            "title",
            "kind",
            "text",
            "text_format",
            "points",
            "truth",
            "is_case_sensitive",
            "feedback",
        ]
        labels = {"is_case_sensitive": "Mind capital letters", "feedback": "Feedback to everybody"}
        help_texts = {
            "title": "For staff; students do not see it.",
            "text_format": "HTML and Markdown are cleaned of scripts, pictures and styles.",
            "is_case_sensitive": "For short answers, where co and Co are not the same.",
            "feedback": "Shown with the result once scores are released and the exam is over for everybody; so is that of the answers.",
        }
        widgets = {
            "text": forms.Textarea(attrs={"rows": 5, "cols": 100}),
            "feedback": forms.Textarea(attrs={"rows": 2, "cols": 100}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        question = self.instance
        if not question._state.adding:  # noqa: SLF001 - Django's documented way to tell
            self.initial["place"] = question.revision.questions.filter(
                position__lte=question.position
            ).count()
            right = question.options.filter(fraction__gt=0).first()
            self.initial["truth"] = right.text if right else ""
            self.initial["points"] = _shortest(question.points)

    @staticmethod
    def list_seen(row: Any) -> list[Any]:
        """Return the question and its answers; not its place, which moves with every other question's."""
        own = [getattr(row, name) for name in _OWN]
        answers = row.options.values_list("id", "text", "match_text", "low", "high", "fraction", "feedback")
        return [*own, *answers.order_by("position", "id")]

    def clean(self) -> dict[str, Any]:
        """Ask for what a true/false question needs."""
        cleaned = super().clean() or {}
        if cleaned.get("kind") == QuestionKind.TRUE_FALSE and not cleaned.get("truth"):
            self.add_error("truth", "Say whether the statement is true.")
        return cleaned


class OptionForm(forms.ModelForm[AnswerOption]):
    """One answer. Left empty, a weight is worked out from what is ticked as right."""

    order = forms.IntegerField(required=False, widget=forms.NumberInput(attrs={"class": "order"}))
    is_right = forms.BooleanField(required=False, label="Right")
    fraction = forms.DecimalField(
        required=False,
        label="Worth %",
        min_value=-100,
        max_value=100,
        max_digits=8,
        decimal_places=5,
        help_text="Empty: shared evenly",
    )

    class Meta:
        model = AnswerOption
        fields = ["order", "text", "match_text", "low", "high", "is_right", "fraction", "feedback"]
        labels = {"match_text": "Goes with", "low": "From", "high": "To"}
        help_texts = {
            "text": "A short answer may have * for any text",
            "low": "Both ends count as right",
            "high": "Empty: exactly “from”",
        }
        widgets = {
            name: forms.Textarea(attrs={"rows": 2, "cols": 30}) for name in ("text", "match_text", "feedback")
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("low", "high", "fraction"):
            self.fields[name].widget.attrs["class"] = "number"
        if not self.instance._state.adding:  # noqa: SLF001 - Django's documented way to tell
            self.initial["is_right"] = self.instance.fraction > 0
            self.initial["order"] = self.instance.position
            for name in ("low", "high", "fraction"):
                self.initial[name] = _shortest(self.initial[name])

    def clean(self) -> dict[str, Any]:
        """Take one end of a range for both where only one is given."""
        cleaned = super().clean() or {}
        if cleaned.get("low") is not None and cleaned.get("high") is None:
            cleaned["high"] = cleaned["low"]
        return cleaned

    def weight(self, *, is_retouched: bool) -> Decimal | None:
        """Return the weight its author means, or None for an even share."""
        is_written = not is_retouched or "fraction" in self.changed_data
        return self.cleaned_data.get("fraction") if is_written else None


class OptionFormSet(forms.BaseInlineFormSet[AnswerOption, Question, OptionForm]):
    """All answers of a question together: weights shared among them, order put right."""

    def clean(self) -> None:
        """Work out weights. Whoever changes a tick gets even shares, except where they wrote a weight as well."""
        super().clean()
        live = self._live_forms()
        if any(form.errors for form in live):
            return  # each says for itself what is wrong
        is_retouched = any("is_right" in form.changed_data for form in live)
        ticks = [Tick(form.cleaned_data["is_right"], form.weight(is_retouched=is_retouched)) for form in live]
        weights = even_weights(cast("Kind", self.instance.kind), ticks)
        for place, (form, weight) in enumerate(zip(live, weights, strict=True), start=1):
            form.instance.fraction = weight
            form.instance.position = form.instance.position or _LAST + place

    def save(self, commit: bool = True) -> list[AnswerOption]:  # noqa: FBT001, FBT002 - Django's signature
        """Save what changed, and then everybody's weight and place."""
        saved = super().save(commit)
        if commit:
            live = sorted(self._live_forms(), key=lambda form: form.cleaned_data.get("order") or _LAST)
            options = [form.instance for form in live]
            for position, option in enumerate(options, start=1):
                option.position = position
            AnswerOption.objects.bulk_update(options, ["position", "fraction"])
        return saved

    def _live_forms(self) -> list[OptionForm]:
        """Return the forms of the answers there are to be."""
        return [
            form
            for form in self.forms
            if (form.has_changed() or not form.instance._state.adding)  # noqa: SLF001 - as above
            and form not in self.deleted_forms
        ]


def _shortest(number: Decimal | None) -> Decimal | None:
    """Return a number of the database without the zeros its column adds."""
    return None if number is None else Decimal(write_number(number))
