"""A sheet's rules for totals are set as a whole: categories, which column is in which, what codes mean, the scale of letters.

The one thing to know: a scheme has a version, like a cell. Who set another one since the page was loaded is not overwritten.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from decimal import Decimal
from uuid import UUID

from gradebook import policies
from gradebook.entries import plain
from gradebook.errors import SchemeRefused, SheetNotFound
from gradebook.events import SchemeChanged, SchemeState, scheme_subject
from gradebook.models import Category, Column, LetterScale, MarkSheet, Scheme, Treatment, User
from gradebook.services.facts import event_by
from gradebook.services.terms import changing_marks, require_open
from outbox.log.publish import publish

MOST_CATEGORIES = 30
WEIGHT_DECIMALS = 4
LARGEST_WEIGHT = Decimal(99_999)


@dataclasses.dataclass(frozen=True, slots=True)
class WantedCategory:
    """A category as somebody wants it."""

    name: str
    weight: Decimal
    drop_lowest: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class WantedScheme:
    """A whole scheme as somebody wants it; `places` says which category (by name) a column is in, `bonus` which columns are bonus."""

    categories: Sequence[WantedCategory] = ()
    places: Mapping[UUID, str] = dataclasses.field(default_factory=dict)
    bonus: frozenset[UUID] = frozenset()
    absent: Treatment = Treatment.ZERO
    missing: Treatment = Treatment.ZERO
    blank: Treatment = Treatment.LEFT_OUT
    scale_id: UUID | None = None


def set_scheme(*, sheet: MarkSheet, wanted: WantedScheme, version: int, by: User) -> Scheme:
    """Set a sheet's scheme; `version` is that of the scheme the wish is based on (0: there was none).

    Shares the term and locks the sheet. Raises `SheetNotFound` when `by` may not, `TermIsLocked`, and `SchemeRefused` for a stale
    version and for what makes no sense. Nothing changed: nothing said.
    """
    check_scheme(wanted)
    with changing_marks([sheet.period_id]) as terms:
        if not policies.may_arrange_sheet(by, sheet.pk):
            raise SheetNotFound
        require_open(terms[sheet.period_id])
        MarkSheet.objects.select_for_update(no_key=True).get(pk=sheet.pk)
        scheme = Scheme.objects.filter(sheet=sheet).first() or Scheme(sheet=sheet, version=0)
        if scheme.version != version:
            raise SchemeRefused("Somebody else has set these rules since you opened the page. Load it again.")
        _check_columns(sheet, wanted)
        before = None if version == 0 else _state(scheme)
        _store(scheme, wanted)
        after = _state(scheme)
        if after != before:
            scheme.version += 1
            scheme.save()
            _publish(scheme, before, after, by)
    return scheme


def check_scheme(wanted: WantedScheme) -> None:
    """Raise `SchemeRefused` for what makes no sense in itself."""
    names = [category.name.strip() for category in wanted.categories]
    if len(names) > MOST_CATEGORIES:
        raise SchemeRefused(f"At most {MOST_CATEGORIES} categories.")
    if not all(names) or len({name.casefold() for name in names}) != len(names):
        raise SchemeRefused("Every category needs a name of its own.")
    for category in wanted.categories:
        weight = category.weight
        if not weight.is_finite() or not 0 <= weight <= LARGEST_WEIGHT:
            raise SchemeRefused(f"The weight of {category.name} is a number from 0 to {LARGEST_WEIGHT}.")
        if weight != round(weight, WEIGHT_DECIMALS):
            raise SchemeRefused(f"The weight of {category.name} has at most {WEIGHT_DECIMALS} decimals.")
    if wanted.categories and not any(category.weight for category in wanted.categories):
        raise SchemeRefused("At least one category needs a weight above 0.")
    if unknown := set(wanted.places.values()) - set(names):
        raise SchemeRefused(f"There is no category {min(unknown)}.")


def _check_columns(sheet: MarkSheet, wanted: WantedScheme) -> None:
    known = set(sheet.columns.values_list("pk", flat=True))
    if not (wanted.places.keys() | wanted.bonus) <= known:
        raise SchemeRefused("A column is not in this mark sheet any more. Load the page again.")
    if (
        wanted.scale_id
        and not LetterScale.objects.filter(pk=wanted.scale_id, school=sheet.school_id).exists()
    ):
        raise SchemeRefused("This scale of letters is not your school's.")


def _store(scheme: Scheme, wanted: WantedScheme) -> None:
    """Store the parts: categories keep their row by name, and columns are put where they belong."""
    sheet = scheme.sheet
    names = [category.name.strip() for category in wanted.categories]
    Category.objects.filter(sheet=sheet).exclude(name__in=names).delete()
    rows = {}
    for position, category in enumerate(wanted.categories):
        rows[category.name.strip()], _ = Category.objects.update_or_create(
            sheet=sheet,
            name=category.name.strip(),
            defaults={"weight": category.weight, "drop_lowest": category.drop_lowest, "position": position},
        )
    for column in sheet.columns.select_for_update(no_key=True).order_by("id"):
        place = rows[wanted.places[column.pk]].pk if column.pk in wanted.places else None
        if (column.category_id, column.is_bonus) != (place, column.pk in wanted.bonus):
            Column.objects.filter(pk=column.pk).update(category=place, is_bonus=column.pk in wanted.bonus)
    scheme.absent, scheme.missing, scheme.blank = wanted.absent, wanted.missing, wanted.blank
    scheme.scale_id = wanted.scale_id


def _state(scheme: Scheme) -> SchemeState:
    sheet = scheme.sheet
    categories = Category.objects.filter(sheet=sheet)
    columns = Column.objects.filter(sheet=sheet).order_by("position", "id").select_related("category")
    scale = LetterScale.objects.get(pk=scheme.scale_id) if scheme.scale_id else None
    return SchemeState(
        categories=[
            {"name": each.name, "weight": plain(each.weight), "drop_lowest": each.drop_lowest}
            for each in categories
        ],
        columns=[
            {
                "id": str(each.pk),
                "title": each.title,
                "category": each.category.name if each.category else None,
                "is_bonus": each.is_bonus,
            }
            for each in columns
        ],
        absent=scheme.absent,
        missing=scheme.missing,
        blank=scheme.blank,
        letters=[[step.letter, plain(step.least_percent)] for step in scale.steps.all()] if scale else [],
    )


def _publish(scheme: Scheme, before: SchemeState | None, after: SchemeState, by: User) -> None:
    fact = SchemeChanged(
        school_id=scheme.sheet.school_id,
        sheet_id=scheme.sheet_id,
        actor_name=by.full_name,
        old=before,
        new=after,
    )
    subject = scheme_subject(scheme.sheet_id)
    publish([event_by(by, fact, subject=subject, subject_version=scheme.version)])
