"""L3, and the command: a deadline against the real product, every receipt held against the tables."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from config.rehearsal.behaviour import Manner
from config.rehearsal.rehearse import CannotRehearse, Options, rehearse
from config.rehearsal.wire import Address
from exams.models import Attempt, Exam, Submission
from gradebook.models import User
from tests import factories
from tests.serving import find_free_port

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]


def say_nothing(done: int, total: int) -> None:
    pass


@pytest.mark.parametrize(
    ("students", "window"), [(300, 3.0), pytest.param(3_000, 10.0, marks=pytest.mark.chaos)]
)
def test_l3_everybody_at_the_deadline_is_acknowledged_once(
    product: Address, students: int, window: float
) -> None:
    rehearsal = rehearse(Options(product, students, window, patience=60, drain=120), tell=say_nothing)

    assert rehearsal.differences == []
    assert rehearsal.totals == (students,) * 7
    assert rehearsal.is_clean
    assert set(rehearsal.count_manners()) == {manner.value for manner in Manner}
    assert all(outcome.acknowledged_at is not None for outcome in rehearsal.outcomes)
    again = [one for one in rehearsal.outcomes if one.manner in {Manner.TWICE, Manner.AGAIN}]
    assert [len(one.receipts) for one in again] == [2] * len(again)
    assert not User.objects.filter(role="student", is_active=True).exists()


def test_command_writes_a_report_that_stands_alone(product: Address, tmp_path: Path) -> None:
    page, printed = tmp_path / "report.html", io.StringIO()

    call_command(
        "rehearse_deadline", students=40, window=1.0, address=product, report=page, keep=True, stdout=printed
    )

    html, facts = page.read_text(), json.loads(page.with_suffix(".json").read_text())
    assert "Everything adds up." in html
    assert html.count("<svg viewBox") >= 5
    assert not any(loads in html for loads in ("<script", "<link", "src=", "url(", "@import"))
    assert (facts["is_clean"], facts["differences"], facts["totals"]["marks"]) == (True, [], 40)
    assert "receipts                40" in printed.getvalue()
    assert User.objects.filter(role="student", is_active=True).count() == 40


def test_command_names_what_is_missing_and_fails(gate: Address, tmp_path: Path) -> None:
    """No worker runs: receipts are given, and nothing comes of them."""
    page, printed = tmp_path / "report.html", io.StringIO()

    with pytest.raises(CommandError, match="Not everything adds up"):
        call_command(
            "rehearse_deadline", students=5, window=0.5, address=gate, drain=1.0, report=page, stdout=printed
        )

    facts = json.loads(page.with_suffix(".json").read_text())
    attempts = sorted(str(pk) for pk in Attempt.objects.values_list("pk", flat=True))
    assert (facts["totals"]["receipts"], facts["totals"]["results"], facts["drained_at"]) == (5, 0, None)
    assert sorted({one["attempt_id"] for one in facts["differences"]}) == attempts
    assert "0 results instead of 1" in {one["detail"] for one in facts["differences"]}
    assert "there was still work to do" in page.read_text()
    assert all(f"DIFFERENCE {attempt}" in printed.getvalue() for attempt in attempts[:3])


@pytest.mark.django_db(transaction=True)
def test_command_refuses_while_real_exams_are_running() -> None:
    exam = factories.published_revision().exam

    with pytest.raises(CommandError, match=rf"{exam.title} \({exam.school.name}\).*--yes-really"):
        call_command("rehearse_deadline", students=1, window=1.0)

    assert not Exam.objects.exclude(pk=exam.pk).exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--report", "facts.json"], "does not end in .html"),
        (["--report", "/dev/null/here.html"], "Cannot write /dev/null/here.html"),
        (["--address", "localhost"], "is not http://host:port"),
        (["--connections", "0"], "--connections"),
        (["--students", "0"], "--students"),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_arguments_that_cannot_be_are_refused_before_anything_is_done(
    arguments: list[str], words: str
) -> None:
    with pytest.raises(CommandError, match=words):
        call_command("rehearse_deadline", "--students=1", "--window=1", *arguments)
    assert not User.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_nothing_is_written_when_nobody_answers() -> None:
    nowhere = Address.parse(f"http://127.0.0.1:{find_free_port()}")
    with pytest.raises(CannotRehearse, match="No Handover answers"):
        rehearse(Options(nowhere, 1, 1.0), tell=say_nothing)
    assert (User.objects.count(), Attempt.objects.count(), Submission.objects.count()) == (0, 0, 0)
