"""The pages of figures: who may see them, what they say of many, of few and of none, and that they admit to being behind."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import translation

from exams.models import Exam
from gradebook.models import User
from outbox.consumers.batches import run_batch
from outbox.log.publish import NewEvent, publish
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer
from projections.analytics.projector import Analytics
from tests import factories
from tests.people import World
from tests.projections.changes import Cell
from tests.projections.results import Sat, describe_column

pytestmark = pytest.mark.django_db(transaction=True)

COLUMN = UUID(int=7)
PEOPLE = [
    ("teacher", 200),
    ("admin", 200),
    ("other_teacher", 404),
    ("other_school_teacher", 404),
    ("student", 404),
    ("nobody", 302),
]


def tell(*events: NewEvent) -> None:
    """Publish, number, and let the consumer read to the head."""
    with transaction.atomic():
        publish(events)
    sequence_events()
    while run_batch(Analytics()).more:
        pass


@pytest.fixture
def exam(world: World) -> Exam:
    """Given to the teacher's class and to another one of the school."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period)
    factories.target(exam, world.school_class)
    factories.target(exam, factories.school_class(world.school))
    return exam


def sheet_url(world: World) -> str:
    return reverse("analytics:sheet", kwargs={"sheet_id": world.sheet.pk})


def exam_url(exam: Exam) -> str:
    return reverse("analytics:exam", kwargs={"exam_id": exam.pk})


def signed_in(person: User | None) -> Client:
    client = Client()
    if person is not None:
        client.force_login(person)
    return client


def fill_column(world: World, marks: list[str], column_id: UUID = COLUMN) -> None:
    cells = [Cell(sheet_id=world.sheet.pk, column_id=column_id) for _ in marks]
    tell(
        describe_column(column_id, world.sheet.pk, title=f"Essay {column_id.int}"),
        *(
            cell.change(code=mark) if mark.isalpha() else cell.change(mark)
            for cell, mark in zip(cells, marks, strict=True)
        ),
    )


@pytest.mark.parametrize(("person", "status"), PEOPLE)
def test_figures_are_shown_to_those_who_may_see_the_sheet_or_the_exam(
    person: str, status: int, world: World, exam: Exam, request: pytest.FixtureRequest
) -> None:
    client = signed_in(request.getfixturevalue(person))
    answers = [client.get(sheet_url(world)), client.get(exam_url(exam))]
    assert [answer.status_code for answer in answers] == [status, status]


def test_figures_of_what_does_not_exist_are_not_found(admin: User) -> None:
    client = signed_in(admin)
    names = [("analytics:sheet", "sheet_id"), ("analytics:exam", "exam_id")]
    assert [client.get(reverse(name, kwargs={key: uuid4()})).status_code for name, key in names] == [404, 404]


def test_figures_of_a_class_are_for_those_who_teach_it(
    teacher: User, admin: User, world: World, exam: Exam
) -> None:
    mine, other = exam.targets.order_by("id").values_list("school_class_id", flat=True)
    tell(*(Sat(exam.pk, classes=(each,)).grade(["1", "2", "3"]) for each in (mine, mine, other)))
    numbers = {
        (person.username, group): [
            answer.context["figures"].distribution.summary.number if answer.status_code == 200 else None
            for answer in [signed_in(person).get(exam_url(exam), {"class": str(group)} if group else {})]
        ]
        for person in (teacher, admin)
        for group in (None, mine, other)
    }
    assert numbers == {
        ("teacher", None): [3],
        ("teacher", mine): [2],
        ("teacher", other): [None],
        ("admin", None): [3],
        ("admin", mine): [2],
        ("admin", other): [1],
    }


def test_figures_of_nothing_say_so(teacher: User, world: World, exam: Exam) -> None:
    client = signed_in(teacher)
    for url in (sheet_url(world), exam_url(exam)):
        text = client.get(url).content.decode()
        assert "Nothing yet" in text
        assert '<svg class="chart' not in text


def test_sheet_figures_show_the_distribution_and_the_table_behind_it(teacher: User, world: World) -> None:
    fill_column(world, ["2", "5", "5", "8", "10", "absent"])
    text = signed_in(teacher).get(sheet_url(world)).content.decode()
    assert '6 <span class="soft">of 10</span>' in text
    assert "<dt>Median</dt><dd>5</dd>" in text
    assert "<dt>Spread</dt><dd>2.76</dd>" in text  # the root of 7.6
    assert '<th scope="row">5</th><td class="number">2</td>' in text
    assert "No number: 1 absent." in text
    assert "say more about single students" not in text


def test_lowest_and_highest_mark_are_shown_as_they_were_typed(teacher: User, world: World) -> None:
    fill_column(world, ["0.125", "9.719"])
    text = signed_in(teacher).get(sheet_url(world)).content.decode()
    assert "<dd>0.125, 9.719</dd>" in text
    assert '<dd>4.92 <span class="soft">of 10</span></dd>' in text


def test_figures_of_fewer_than_five_say_that_they_are_few(teacher: User, world: World, exam: Exam) -> None:
    fill_column(world, ["2", "5", "5", "8"])
    tell(*(Sat(exam.pk).grade([str(points), "1", "2"]) for points in (0, 1, 2, 1)))
    client = signed_in(teacher)
    assert "Only 4 marks: with fewer than 5" in client.get(sheet_url(world)).content.decode()
    answer = client.get(exam_url(exam))
    assert "Only 4 scores: with fewer than 5" in answer.content.decode()
    assert [words for _, words in answer.context["papers"][0].rows] == ["fewer than 5 attempts"] * 3


def test_exam_figures_name_the_question_that_works_against_the_paper(teacher: User, exam: Exam) -> None:
    points = [(f"0.{4 - each}", str(each / 2), str(each)) for each in range(5)]
    tell(*(Sat(exam.pk).grade(each) for each in points))
    (paper,) = signed_in(teacher).get(exam_url(exam)).context["papers"]
    against = "look at it again: those who did well in the rest did worse here"
    assert [words for _, words in paper.rows] == [f"hard; {against}", "", ""]
    assert [row.is_weak for row in paper.chart.rows] == [True, False, False]


def test_exam_figures_are_in_percent_where_papers_give_different_points(teacher: User, exam: Exam) -> None:
    tell(
        Sat(exam.pk).grade(["1", "1"], out_of=["2", "2"]),
        Sat(exam.pk).grade(["3"], out_of=["4"], revision=2),
        Sat(exam.pk).grade(["3"], out_of=["6"], revision=3),
    )
    answer = signed_in(teacher).get(exam_url(exam))
    distribution = answer.context["figures"].distribution
    assert (distribution.is_percent, distribution.summary.highest, distribution.summary.lowest) == (
        True,
        75,
        50,
    )
    assert [paper.revision for paper in answer.context["papers"]] == [1, 2, 3]


def test_results_of_the_first_version_count_without_their_questions(teacher: User, exam: Exam) -> None:
    tell(Sat(exam.pk).grade(["1", "1", "1"], said_in=1))
    answer = signed_in(teacher).get(exam_url(exam))
    assert answer.context["figures"].distribution.summary.number == 1
    assert "nothing can be said about single questions" in answer.content.decode()


def test_column_leads_to_the_exam_whose_results_were_posted_to_it(
    teacher: User, world: World, exam: Exam
) -> None:
    graded = Sat(exam.pk).grade(["1", "1", "1"])
    posted = Cell(sheet_id=world.sheet.pk, column_id=COLUMN).change("3", reason="posted")
    tell(
        describe_column(COLUMN, world.sheet.pk),
        graded,
        NewEvent(**{**_members(posted), "cause_id": graded.event_id}),
    )
    assert f'href="{exam_url(exam)}"' in signed_in(teacher).get(sheet_url(world)).content.decode()


def _members(event: NewEvent) -> dict[str, Any]:
    return {name: getattr(event, name) for name in NewEvent.__dataclass_fields__}


def test_figures_say_that_they_are_behind_or_being_worked_out_again(teacher: User, world: World) -> None:
    with transaction.atomic():
        publish([describe_column(COLUMN, world.sheet.pk)])
    sequence_events()
    Consumer.objects.create(name=Analytics.name, staleness_budget=Analytics.staleness_budget)
    client = signed_in(teacher)
    assert b"behind." not in client.get(sheet_url(world)).content
    Consumer.objects.update(staleness_budget="0 seconds")
    assert b"These figures may be up to 1 s behind." in client.get(sheet_url(world)).content
    Consumer.objects.update(is_filling=True)
    assert b"being worked out again" in client.get(sheet_url(world)).content


def test_figures_keep_a_decimal_point_in_pictures_and_a_comma_in_words(teacher: User, world: World) -> None:
    fill_column(world, ["2.5", "5", "7"])
    with translation.override("de"):
        text = signed_in(teacher).get(sheet_url(world), headers={"Accept-Language": "de"}).content.decode()
    assert "4,83" in text
    assert "," not in text[text.index("<rect") : text.index("</svg>")].split("/>")[0]


@pytest.mark.parametrize("count", [1, 3])
def test_figures_cost_the_same_queries_however_many_columns_and_questions(
    teacher: User, world: World, exam: Exam, count: int
) -> None:
    for number in range(count):
        fill_column(world, ["1", "2"], column_id=UUID(int=number + 1))
    tell(Sat(exam.pk).grade(["1"] * count, out_of=["2"] * count))
    client = signed_in(teacher)
    spent = []
    for url in (sheet_url(world), exam_url(exam)):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(url).status_code == 200
        spent.append(len(queries))
    assert spent == [
        7,
        7,
    ]  # session, person, permission; columns, counts, exams or names, scores, sums; how far behind


def test_figures_show_hostile_names_as_text(teacher: User, world: World) -> None:
    event = describe_column(COLUMN, world.sheet.pk, title="<script>alert(1)</script>")
    tell(event, Cell(sheet_id=world.sheet.pk, column_id=COLUMN).change("1"))
    text = signed_in(teacher).get(sheet_url(world)).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
