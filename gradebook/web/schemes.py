"""The pages of totals: what everybody's marks make together and why, and the rules for it."""

import dataclasses
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from gradebook.entries import BLANK, Refused, plain, read_entry
from gradebook.errors import GradebookError, SchemeRefused, TermIsLocked
from gradebook.models import Category, Column, LetterScale, MarkSheet, Scheme, Treatment
from gradebook.queries.totals import StudentTotal, list_sheet_totals
from gradebook.services.schemes import WEIGHT_DECIMALS, WantedCategory, WantedScheme, set_scheme
from gradebook.web.grid import read_decimal_sign
from gradebook.web.people import get_sheet_or_404, get_user

BLANK_ROWS = 3
MOST_ROWS = 33


@dataclasses.dataclass(frozen=True, slots=True)
class ShownRules:
    """What stands in the form: the rules as they are, or as somebody typed them. `version` is that of the rules they are based on.

    A refused form keeps it, or pressing the button twice would overwrite what somebody else has set meanwhile.
    """

    version: int
    rows: list[dict[str, str]]
    columns: list[tuple[Column, str, bool]]
    absent: str
    missing: str
    blank: str
    scale: str


@login_required
@require_GET
def show_totals(request: HttpRequest, sheet_id: UUID) -> HttpResponse:
    """Show the totals of a sheet as its marks make them now, with what became of every column."""
    sheet = get_sheet_or_404(request, sheet_id)
    columns = list(Column.objects.filter(sheet=sheet).select_related("category"))
    rows = [
        (
            each.name,
            each.total,
            [(_show(each, column), each.total.parts[column.pk].value) for column in columns],
        )
        for each in list_sheet_totals(sheet)
    ]
    context = {"sheet": sheet, "columns": columns, "rows": rows, **_describe(sheet)}
    return render(request, "gradebook/totals.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def edit_rules(request: HttpRequest, sheet_id: UUID) -> HttpResponse:
    """Set a sheet's rules for totals. What was typed stays in the form when it is refused."""
    sheet = get_sheet_or_404(request, sheet_id)
    columns = list(Column.objects.filter(sheet=sheet).select_related("category"))
    error = TermIsLocked().detail if sheet.period.is_locked else ""
    if request.method == "POST":
        shown = _read_shown(request.POST, columns)
        try:
            wanted = _read_scheme(request.POST, shown.rows, columns)
            set_scheme(sheet=sheet, wanted=wanted, version=shown.version, by=get_user(request))
        except GradebookError as refused:
            error = refused.detail
        else:
            messages.success(request, "The rules were saved.")
            return redirect("gradebook:totals", sheet.pk)
    else:
        shown = _get_stored(sheet, columns)
    context = {
        "sheet": sheet,
        "shown": shown,
        "rows": shown.rows + [{"name": "", "weight": "", "drop": ""}] * BLANK_ROWS,
        "treatments": Treatment.choices,
        "scales": LetterScale.objects.filter(school=sheet.school_id).order_by("name"),
        "error": error,
    }
    is_refused = request.method == "POST"
    return render(request, "gradebook/total_rules.html", context, status=409 if is_refused else 200)


def _show(line: StudentTotal, column: Column) -> str:
    """Return a mark in the reader's decimals, or its code's word."""
    entry = line.entries.get(column.pk, BLANK)
    return entry.code or ("" if entry.value is None else plain(entry.value).replace(".", read_decimal_sign()))


def _describe(sheet: MarkSheet) -> dict[str, Any]:
    categories = list(Category.objects.filter(sheet=sheet))
    scheme = Scheme.objects.select_related("scale").filter(sheet=sheet).first() or Scheme(
        sheet=sheet, version=0
    )
    weights = sum((category.weight for category in categories), Decimal(0))
    sign = read_decimal_sign()
    return {
        "scheme": scheme,
        "categories": [(each, plain(each.weight).replace(".", sign)) for each in categories],
        "weight_sum": plain(weights).replace(".", sign),
        "is_hundred": weights == 100,  # noqa: PLR2004 - percent
    }


def _get_stored(sheet: MarkSheet, columns: list[Column]) -> ShownRules:
    """Return a sheet's rules as they are."""
    scheme = Scheme.objects.filter(sheet=sheet).first() or Scheme(sheet=sheet, version=0)
    return ShownRules(
        version=scheme.version,
        rows=_list_rows(sheet),
        columns=[(each, each.category.name if each.category else "", each.is_bonus) for each in columns],
        absent=scheme.absent,
        missing=scheme.missing,
        blank=scheme.blank,
        scale=str(scheme.scale_id or ""),
    )


def _read_shown(post: QueryDict, columns: list[Column]) -> ShownRules:
    """Return the rules as they were typed, whatever is wrong with them."""
    return ShownRules(
        version=_read_version(post),
        rows=_read_rows(post),
        columns=[(each, post.get(f"category-{each.pk}", ""), f"bonus-{each.pk}" in post) for each in columns],
        absent=post.get("absent", ""),
        missing=post.get("missing", ""),
        blank=post.get("blank", ""),
        scale=post.get("scale", ""),
    )


def _list_rows(sheet: MarkSheet) -> list[dict[str, str]]:
    sign = read_decimal_sign()
    return [
        {
            "name": each.name,
            "weight": plain(each.weight).replace(".", sign),
            "drop": str(each.drop_lowest or ""),
        }
        for each in Category.objects.filter(sheet=sheet)
    ]


def _read_rows(post: QueryDict) -> list[dict[str, str]]:
    """Return the categories as they were typed, without the rows that were left blank."""
    typed = zip(post.getlist("name"), post.getlist("weight"), post.getlist("drop"), strict=False)
    rows = [{"name": name, "weight": weight, "drop": drop} for name, weight, drop in typed]
    return [row for row in rows[:MOST_ROWS] if any(value.strip() for value in row.values())]


def _read_scheme(post: QueryDict, rows: list[dict[str, str]], columns: list[Column]) -> WantedScheme:
    return WantedScheme(
        categories=[_read_category(row) for row in rows],
        places={
            column.pk: place for column in columns if (place := post.get(f"category-{column.pk}", "").strip())
        },
        bonus=frozenset(column.pk for column in columns if f"bonus-{column.pk}" in post),
        absent=_read_treatment(post, "absent"),
        missing=_read_treatment(post, "missing"),
        blank=_read_treatment(post, "blank"),
        scale_id=_read_id(post.get("scale", "")),
    )


def _read_category(row: dict[str, str]) -> WantedCategory:
    weight = read_entry(row["weight"], decimal_sign=read_decimal_sign())
    if isinstance(weight, Refused) or weight.value is None:
        raise SchemeRefused(
            f"The weight of “{row['name']}” is a number with at most {WEIGHT_DECIMALS} decimals."
        )
    drop = row["drop"].strip() or "0"
    if not (drop.isascii() and drop.isdigit() and len(drop) <= 2):  # noqa: PLR2004 - digits
        raise SchemeRefused(f"How many marks “{row['name']}” drops is a whole number from 0 to 99.")
    return WantedCategory(row["name"].strip(), weight.value, int(drop))


def _read_treatment(post: QueryDict, name: str) -> Treatment:
    try:
        return Treatment(post.get(name, ""))
    except ValueError as error:
        raise SchemeRefused(f"Say whether a mark that is {name} counts as 0 or is left out.") from error


def _read_id(text: str) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError as error:
        raise SchemeRefused("This scale of letters is not your school's.") from error


def _read_version(post: QueryDict) -> int:
    text = post.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1  # noqa: PLR2004 - digits
