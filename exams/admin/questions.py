"""Questions: one page each, with the answers below. Reached from their revision, and leading back to it."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse

from exams.admin.question_forms import OptionForm, OptionFormSet, QuestionForm
from exams.admin.scoping import SchoolScoped, limit_to_school, person_of
from exams.errors import RevisionPublished
from exams.models import AnswerOption, ExamRevision, Question, QuestionKind
from exams.paper import find_problems, find_warnings
from exams.services.authoring import list_drafts, lock_unpublished, place_question, set_truth


class OptionInline(admin.TabularInline[AnswerOption, Question]):
    """The answers; which columns matter depends on the kind, and a script shows those."""

    model = AnswerOption
    form = OptionForm
    formset = OptionFormSet  # type: ignore[assignment]  # of our own forms, which the stubs cannot know
    extra = 4
    verbose_name = "answer"


@admin.register(Question)
class QuestionAdmin(SchoolScoped[Question]):
    """One question of a revision that is not published yet."""

    form = QuestionForm
    school_path = "revision__exam__school"
    inlines = [OptionInline]
    list_display = ["__str__", "kind", "points", "revision"]
    list_select_related = ["revision__exam"]
    list_filter = ["kind"]
    search_fields = ["title", "text"]

    class Media:
        css = {"all": ["exams/admin/authoring.css"]}
        js = ["exams/admin/question.js"]

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Leave it out of the index: the way to a question leads through its revision."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Question | None = None) -> bool:
        """A published question never changes."""
        return super().has_change_permission(request, obj) and not (obj and obj.revision.published_at)

    def has_delete_permission(self, request: HttpRequest, obj: Question | None = None) -> bool:
        """Nor does it go."""
        return super().has_delete_permission(request, obj) and not (obj and obj.revision.published_at)

    def get_fields(self, request: HttpRequest, obj: Question | None = None) -> Any:
        """Show what was seen to nobody but the form."""
        fields = super().get_fields(request, obj)
        is_form = obj is not None and self.has_change_permission(request, obj)
        return fields if is_form else [name for name in fields if name != "seen"]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Put a new question at the end."""
        revision = self._revision_to_fill(request)
        return {"place": revision.questions.count() + 1 if revision else 1}

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Add only to a revision that is named, seen by this person, and not published."""
        revision = self._revision_to_fill(request)
        if revision is None:
            messages.error(
                request, "Add a question from the page of its revision, while that is not published."
            )
            return redirect("admin:exams_examrevision_changelist")
        return super().add_view(request, form_url, (extra_context or {}) | {"revision": revision})

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show the way back to the paper."""
        question = self.get_object(request, object_id)
        context = {"revision": question.revision} if question else {}
        return super().change_view(request, object_id, form_url, (extra_context or {}) | context)

    def save_model(self, request: HttpRequest, obj: Question, form: ModelForm[Question], change: Any) -> None:
        """Save under the revision's lock; a new question goes to the end before it goes to its place."""
        if not change:
            revision = self._revision_to_fill(request)
            if revision is None:
                raise RevisionPublished
            obj.revision = revision
        lock_unpublished(obj.revision)
        if change and isinstance(form, QuestionForm):
            form.require_unchanged()
        if not change:
            obj.position = obj.revision.questions.count() + 1_000_000
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: Any) -> None:
        """Save the answers, put the question into its place, and say what is still wrong with it."""
        question: Question = form.instance
        super().save_related(request, form, formsets, change)
        if question.kind == QuestionKind.TRUE_FALSE:
            set_truth(question=question, truth=form.cleaned_data["truth"] == "true")
        place_question(question=question, place=form.cleaned_data["place"])
        self._tell_problems(request, question)

    def _tell_problems(self, request: HttpRequest, question: Question) -> None:
        (draft,) = [draft for draft in list_drafts(question.revision) if draft.id == question.pk]
        for problem in [*find_problems([draft]), *find_warnings([draft])]:
            messages.warning(request, f"The question “{problem.name}” {problem.message}")

    def delete_model(self, request: HttpRequest, obj: Question) -> None:
        """Delete under the revision's lock."""
        lock_unpublished(obj.revision)
        super().delete_model(request, obj)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Offer no actions: who ticks rows of a list does not see which papers they are in."""
        return {}

    def response_post_save_add(self, request: HttpRequest, obj: Question) -> HttpResponseRedirect:
        """Go back to the paper."""
        return _to_revision(obj)

    def response_post_save_change(self, request: HttpRequest, obj: Question) -> HttpResponseRedirect:
        """Go back to the paper."""
        return _to_revision(obj)

    def response_add(
        self, request: HttpRequest, obj: Question, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Add another one to the same paper."""
        response = super().response_add(request, obj, post_url_continue)
        return self._to_next(obj) if "_addanother" in request.POST else response

    def response_change(self, request: HttpRequest, obj: Question) -> HttpResponse:
        """Add another one to the same paper."""
        response = super().response_change(request, obj)
        return self._to_next(obj) if "_addanother" in request.POST else response

    def _to_next(self, question: Question) -> HttpResponse:
        return redirect(f"{reverse('admin:exams_question_add')}?revision={question.revision_id}")

    def _revision_to_fill(self, request: HttpRequest) -> ExamRevision | None:
        """Return the unpublished revision that the address names, if this person may see it."""
        try:
            wanted = UUID(request.GET.get("revision", ""))
        except ValueError:
            return None
        revisions = limit_to_school(ExamRevision.objects.all(), person_of(request), "exam__school")
        return revisions.defer("paper", "key").filter(pk=wanted, published_at__isnull=True).first()


def _to_revision(question: Question) -> HttpResponseRedirect:
    return redirect("admin:exams_examrevision_change", question.revision_id)
