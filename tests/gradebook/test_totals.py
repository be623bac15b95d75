"""Totals: cases O24 and O25 with their siblings, the rules' own command, and a recalculation that writes only what moved."""

from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from gradebook.entries import Entry, read_entry
from gradebook.errors import SchemeRefused, SheetNotFound, TermIsLocked
from gradebook.models import Category, Column, LetterScale, Scheme, StoredTotal, Treatment, User
from gradebook.services.schemes import WantedCategory, WantedScheme, set_scheme
from gradebook.services.terms import lock_term
from gradebook.services.totals import recalculate_term
from gradebook.totals import Group, Item, Part, Rules, Total, find_total
from outbox.models.log import Event
from tests import factories
from tests.gradebook.marks import save
from tests.people import World

A, B, C = (UUID(int=number) for number in (1, 2, 3))


def _entry(text: str) -> Entry:
    entry = read_entry(text, decimal_sign=".")
    assert isinstance(entry, Entry)
    return entry


def _total(marks: str, *, weights: str = "", drop: int = 0, rules: Rules | None = None) -> Total:
    """The total of marks out of 10, each in a category of its own where weights are given."""
    texts = marks.split("|")
    groups = [
        Group(UUID(int=100 + place), Decimal(weight), drop) for place, weight in enumerate(weights.split())
    ]
    items = [
        Item(UUID(int=place), Decimal(10), groups[min(place, len(groups) - 1)].id if groups else None)
        for place in range(len(texts))
    ]
    entries = {UUID(int=place): _entry(text) for place, text in enumerate(texts)}
    return find_total(items, entries, rules or Rules(groups=tuple(groups)))


@pytest.mark.parametrize(
    ("marks", "weights", "percent"),
    [
        ("8|6", "", "70.00"),
        ("8||absent", "", "40.00"),  # blank is left out, absent counts as 0
        ("8|excused|exempt", "", "80.00"),
        ("10|0|5", "19.02 20.98 60", "49.02"),
        ("10|0|0", "33.33 33.33 33.33", "33.33"),
        ("10|5", "25.5 74.5", "62.75"),
        ("10|10", "79.8 20.2", "100.00"),
        ("excused|8", "50 50", "80.00"),  # O25: the category goes with its weight
        ("|8", "50 50", "80.00"),
        ("1|2|2", "1 1 1", "16.67"),
    ],
)
def test_totals(marks: str, weights: str, percent: str) -> None:
    assert _total(marks, weights=weights).percent == Decimal(percent)


@pytest.mark.parametrize("marks", ["", "excused|exempt", "|excused"])
def test_nothing_to_count_is_no_result_and_not_zero(marks: str) -> None:
    total = _total(marks)
    assert (total.state, total.percent, total.letter) == ("none", None, "")


def test_withheld_mark_withholds_the_total() -> None:
    total = _total("9|withheld")
    assert (total.state, total.percent) == ("withheld", None)


def test_lowest_are_dropped_but_never_the_last() -> None:
    group = Group(A, Decimal(1), drop_lowest=2)
    items = [Item(UUID(int=place), Decimal(most), A) for place, most in enumerate((10, 20, 10))]
    marks = {
        UUID(int=0): Entry(Decimal(5)),
        UUID(int=1): Entry(Decimal(10)),
        UUID(int=2): Entry(Decimal(9)),
    }
    total = find_total(items, marks, Rules(groups=(group,)))
    assert total.percent == Decimal("90.00")
    assert [total.parts[item.id] for item in items] == [Part.DROPPED, Part.DROPPED, Part.COUNTED]
    one = find_total(items[:1], marks, Rules(groups=(group,)))
    assert one.percent == Decimal("50.00")


def test_bonus_adds_points_and_nothing_to_what_they_are_out_of() -> None:
    items = [Item(A, Decimal(10)), Item(B, Decimal(5), is_bonus=True)]
    assert find_total(items, {A: Entry(Decimal(9)), B: Entry(Decimal(2))}, Rules()).percent == Decimal(110)
    assert find_total(items, {A: Entry(Decimal(9)), B: Entry(code="absent")}, Rules()).percent == Decimal(90)
    assert find_total(items, {B: Entry(Decimal(2))}, Rules()).percent is None


def test_letter_goes_by_the_rounded_percentage() -> None:
    rules = Rules(letters=(("A", Decimal(90)), ("B", Decimal(80)), ("F", Decimal(0))))
    item = [Item(A, Decimal(1000))]
    for points, letter in (("899.950", "A"), ("899.949", "B"), ("800", "B"), ("0", "F")):
        assert find_total(item, {A: Entry(Decimal(points))}, rules).letter == letter


@pytest.fixture
def columns(world: World) -> list[Column]:
    return [factories.column(world.sheet, title=title, max_points=10) for title in ("Test", "Essay", "Extra")]


def _wanted(columns: list[Column], *weights: str) -> WantedScheme:
    names = ["Tests", "Essays", "Other"][: len(weights)]
    return WantedScheme(
        categories=[
            WantedCategory(name, Decimal(weight)) for name, weight in zip(names, weights, strict=True)
        ],
        places={column.pk: name for column, name in zip(columns, names, strict=False)},
    )


@pytest.mark.django_db
class TestRules:
    """The command that sets a sheet's rules."""

    def test_what_was_typed_is_what_is_stored_however_often(
        self, world: World, columns: list[Column], teacher: User
    ) -> None:
        wanted = _wanted(columns, "19.02", "20.98", "60")
        first = set_scheme(sheet=world.sheet, wanted=wanted, version=0, by=teacher)
        again = set_scheme(sheet=world.sheet, wanted=wanted, version=1, by=teacher)
        assert (first.version, again.version) == (1, 1)
        assert [(each.name, str(each.weight)) for each in Category.objects.all()] == [
            ("Tests", "19.0200"),
            ("Essays", "20.9800"),
            ("Other", "60.0000"),
        ]
        event = Event.objects.get(kind="SchemeChanged")
        assert [each["weight"] for each in event.payload["new"]["categories"]] == ["19.02", "20.98", "60"]

    def test_stale_rules_are_not_written_over_newer_ones(
        self, world: World, columns: list[Column], teacher: User
    ) -> None:
        set_scheme(sheet=world.sheet, wanted=_wanted(columns, "1"), version=0, by=teacher)
        with pytest.raises(SchemeRefused, match="Somebody else"):
            set_scheme(sheet=world.sheet, wanted=_wanted(columns, "1", "2"), version=0, by=teacher)

    @pytest.mark.parametrize(
        ("categories", "why"),
        [
            ([WantedCategory("A", Decimal(-1))], "number from 0"),
            ([WantedCategory("A", Decimal("NaN"))], "number from 0"),
            ([WantedCategory("A", Decimal("0.00001"))], "at most 4 decimals"),
            ([WantedCategory("A", Decimal(0))], "above 0"),
            ([WantedCategory(" ", Decimal(1))], "name of its own"),
            ([WantedCategory("A", Decimal(1)), WantedCategory("a ", Decimal(1))], "name of its own"),
        ],
    )
    def test_nonsense_is_refused(
        self, world: World, teacher: User, categories: list[WantedCategory], why: str
    ) -> None:
        with pytest.raises(SchemeRefused, match=why):
            set_scheme(sheet=world.sheet, wanted=WantedScheme(categories), version=0, by=teacher)
        assert not Category.objects.exists()

    def test_foreign_columns_scales_and_people_are_refused(
        self, world: World, columns: list[Column], teacher: User, other_teacher: User
    ) -> None:
        foreign = WantedScheme([WantedCategory("A", Decimal(1))], places={uuid4(): "A"})
        scale = LetterScale.objects.create(school=world.other_school, name="Letters")
        for wanted in (foreign, WantedScheme(scale_id=scale.pk), WantedScheme(places={columns[0].pk: "B"})):
            with pytest.raises(SchemeRefused):
                set_scheme(sheet=world.sheet, wanted=wanted, version=0, by=teacher)
        with pytest.raises(SheetNotFound):
            set_scheme(sheet=world.sheet, wanted=WantedScheme(), version=0, by=other_teacher)

    def test_rules_of_a_locked_term_stand_still(
        self, world: World, columns: list[Column], teacher: User
    ) -> None:
        lock_term(period_id=world.period.pk, by=factories.admin())
        with pytest.raises(TermIsLocked):
            set_scheme(sheet=world.sheet, wanted=_wanted(columns, "1"), version=0, by=teacher)


@pytest.mark.django_db
class TestRecalculation:
    """Only what moved is written, and says why."""

    def test_first_time_then_nothing_then_what_moved(
        self, world: World, columns: list[Column], student: User, other_student: User, teacher: User
    ) -> None:
        for person in (student, other_student):
            save(columns[0], person, "8", by=teacher)
        period = world.period.pk
        first = recalculate_term(period_id=period)
        assert (first.looked_at, first.first, first.written) == (2, 2, 2)
        assert recalculate_term(period_id=period).written == 0
        save(columns[1], student, "6", by=teacher)
        again = recalculate_term(period_id=period)
        assert (again.looked_at, again.moved_by_marks, again.written) == (2, 1, 1)
        moved = StoredTotal.objects.get(student=student)
        assert (moved.before, moved.percent, moved.cause) == (Decimal("80.00"), Decimal("70.00"), "marks")

    def test_rules_that_move_a_total_are_named_as_the_cause(
        self, world: World, columns: list[Column], student: User, teacher: User
    ) -> None:
        save(columns[0], student, "8", by=teacher)
        save(columns[1], student, "6", by=teacher)
        recalculate_term(period_id=world.period.pk)
        set_scheme(sheet=world.sheet, wanted=_wanted(columns, "75", "25"), version=0, by=teacher)
        assert recalculate_term(period_id=world.period.pk).moved_by_rules == 1
        row = StoredTotal.objects.get()
        assert (row.before, row.percent, row.cause) == (Decimal("70.00"), Decimal("75.00"), "scheme")


@pytest.mark.django_db
class TestPages:
    """The totals and their rules, as a teacher sees them."""

    def test_teacher_sets_rules_and_sees_what_they_make(
        self, client: Client, world: World, columns: list[Column], student: User, teacher: User
    ) -> None:
        save(columns[0], student, "8", by=teacher)
        save(columns[1], student, "6", by=teacher)
        client.force_login(teacher)
        url = reverse("gradebook:total_rules", args=[world.sheet.pk])
        form = {
            "version": "0",
            "name": ["Tests", "Essays", ""],
            "weight": ["79.8", "20.19", ""],
            "drop": ["", "", ""],
            f"category-{columns[0].pk}": "Tests",
            f"category-{columns[1].pk}": "Essays",
            "absent": "zero",
            "missing": "zero",
            "blank": "left_out",
            "scale": "",
        }
        refused = client.post(url, form | {"weight": ["a lot", "20.19", ""]})
        page = refused.content.decode()
        assert (refused.status_code, "a lot" in page, 'value="Essays" list=' in page) == (409, True, True)
        assert client.post(url, form).status_code == 302
        page = client.get(reverse("gradebook:totals", args=[world.sheet.pk])).content.decode()
        assert "they add up to 99.99" in page
        assert "75.96" in page  # (79.8 x 80 + 20.19 x 60) / 99.99
        assert Scheme.objects.get().blank == Treatment.LEFT_OUT

    def test_rules_that_somebody_else_has_set_meanwhile_are_not_overwritten_by_pressing_twice(
        self, client: Client, world: World, columns: list[Column], teacher: User
    ) -> None:
        client.force_login(teacher)
        url = reverse("gradebook:total_rules", args=[world.sheet.pk])
        form = {"version": "0", "absent": "left_out", "missing": "zero", "blank": "zero"}
        typed = {f"category-{columns[1].pk}": " Essays", f"bonus-{columns[0].pk}": "on"}
        set_scheme(sheet=world.sheet, wanted=_wanted(columns, "75", "25"), version=0, by=teacher)
        refused = client.post(url, form | typed | {"name": "Essays", "weight": "1", "drop": ""})
        shown = refused.context["shown"]
        assert (refused.status_code, shown.version, shown.absent, shown.blank) == (409, 0, "left_out", "zero")
        assert [each[1:] for each in shown.columns[:2]] == [("", True), (" Essays", False)]

    def test_strangers_do_not_find_them(
        self, client: Client, world: World, other_teacher: User, student: User
    ) -> None:
        for person in (other_teacher, student):
            client.force_login(person)
            for name in ("totals", "total_rules"):
                assert client.get(reverse(f"gradebook:{name}", args=[world.sheet.pk])).status_code == 404
