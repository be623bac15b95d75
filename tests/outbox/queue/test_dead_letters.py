"""Dead letters: read what was given up, and have it done again."""

import datetime as dt
import json
import uuid
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models.functions import Now

from outbox.models import DeadLetter, EffectReceipt, Job, JobState, Lane
from outbox.queue.dead_letters import Replayed, replay_dead_letters
from tests.outbox.queue.burying import bury, stumble
from tests.outbox.queue.workshop import (
    EXAM,
    KIND,
    TENANT,
    Workshop,
    claim_batch,
    numbers_of,
    queue,
    read_notes,
    work_on,
)

pytestmark = pytest.mark.django_db(transaction=True)
PERSON = uuid.UUID(int=5)


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    """Run the command and return what it printed."""
    call_command("dead_letters", *map(str, arguments))
    return capsys.readouterr().out


def test_replay_makes_the_job_again_with_fresh_counters() -> None:
    (letter,) = bury()
    assert replay_dead_letters(ids=[letter.id], by=PERSON) == {letter.id: Replayed.QUEUED}
    job = Job.objects.get()
    assert (job.job_id, job.subject_id, job.group_id, job.tenant_id) == (
        letter.job_id,
        letter.subject_id,
        EXAM,
        TENANT,
    )
    assert (job.state, job.lane, job.tries, job.lost_leases, job.snoozes, job.history) == (
        JobState.READY,
        Lane.BACKLOG,
        0,
        0,
        0,
        [],
    )
    letter.refresh_from_db()
    assert letter.replayed_at is not None
    assert letter.replayed_by == PERSON


def test_a_replayed_job_is_done_like_any_other() -> None:
    (letter,) = bury()
    replay_dead_letters(ids=[letter.id], by=None)
    claim = claim_batch()
    assert numbers_of(claim) == [0]
    work_on(Workshop(), claim)
    assert list(read_notes().values()) == [1]


def test_replayed_jobs_become_due_one_after_the_other() -> None:
    """What died together in an outage must not come back together, and what is not queued takes no place in the line."""
    one, two, three = bury(3)
    queue(1, first=1)
    replay_dead_letters(ids=[one.id, two.id, three.id], by=None, per_second=4)
    first, last = (Job.objects.get(subject_id=letter.subject_id) for letter in (one, three))
    assert last.run_at - first.run_at == dt.timedelta(seconds=0.25)


def test_replay_command_spreads_as_told(capsys: pytest.CaptureFixture[str]) -> None:
    bury(3)
    run(capsys, "replay", "--all", "--per-second", "0.1")
    first, second, third = Job.objects.order_by("run_at")
    assert [second.run_at - first.run_at, third.run_at - first.run_at] == [
        dt.timedelta(seconds=10),
        dt.timedelta(seconds=20),
    ]


def test_a_second_replay_does_nothing() -> None:
    (letter,) = bury()
    replay_dead_letters(ids=[letter.id], by=None)
    assert replay_dead_letters(ids=[letter.id], by=PERSON) == {letter.id: Replayed.ALREADY_REPLAYED}
    assert Job.objects.count() == 1
    letter.refresh_from_db()
    assert letter.replayed_by is None


def test_replay_closes_the_letter_when_the_job_is_back_by_another_way() -> None:
    (letter,) = bury()
    queue(1)
    assert replay_dead_letters(ids=[letter.id], by=None) == {letter.id: Replayed.ALREADY_WAITING}
    assert Job.objects.count() == 1
    letter.refresh_from_db()
    assert letter.replayed_at is not None


def test_replay_of_an_unknown_letter_says_so() -> None:
    nowhere = uuid.uuid4()
    assert replay_dead_letters(ids=[nowhere], by=None) == {nowhere: Replayed.UNKNOWN}


def test_a_job_that_dies_after_its_replay_has_a_second_letter() -> None:
    (letter,) = bury()
    replay_dead_letters(ids=[letter.id], by=None)
    work_on(Workshop(fate=stumble), claim_batch())
    assert DeadLetter.objects.filter(job_id=letter.job_id).count() == 2
    assert DeadLetter.objects.filter(job_id=letter.job_id, replayed_at=None).count() == 1


def test_list_prints_one_line_for_each_open_letter(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = bury(2)
    replay_dead_letters(ids=[second.id], by=None)
    assert run(capsys, "list") == (
        f"{first.id}  {first.died_at:%Y-%m-%d %H:%M:%S} UTC  note  {first.subject_id}  defect"
        f"  ValueError: no key for question 7 of job {first.subject_id.int}\n"
    )
    assert run(capsys, "list", "--replayed").startswith(str(second.id))


def test_list_mentions_side_effects_that_failed_for_good_beside_the_letters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (letter,) = bury()
    for state in ("pending", "failed", "failed", "refused"):
        EffectReceipt.objects.create(
            event_id=uuid.uuid4(),
            effect="tell",
            pos=1,
            state=state,
            ended_at=None if state == "pending" else Now(),
        )
    call_command("dead_letters", "list")
    printed = capsys.readouterr()
    assert printed.out.startswith(str(letter.id))
    assert printed.out.count("\n") == 1
    assert printed.err.splitlines() == [
        "Also failed for good, but no jobs: 2 side effects; see `manage.py effects list`.",
        "Refused, no fault: 1 side effects; see `manage.py effects list --refused`.",
    ]


def test_list_narrows_by_kind_and_cause(capsys: pytest.CaptureFixture[str]) -> None:
    (note,) = bury()
    (other,) = bury(kind="other")
    assert [line.split()[0] for line in run(capsys, "list").splitlines()] == [str(note.id), str(other.id)]
    assert run(capsys, "list", "--kind", "other").split()[0] == str(other.id)
    assert run(capsys, "list", "--cause", "defect").split()[0] == str(note.id)
    assert run(capsys, "list", "--kind", "other", "--cause", "defect") == (
        "There is no open dead letter of the kind other and of the cause defect.\n"
    )


def test_list_and_replay_say_that_there_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "list") == "There is no open dead letter.\n"
    assert run(capsys, "list", "--replayed") == "There is no replayed dead letter.\n"
    assert run(capsys, "replay", "--all") == "There is no open dead letter.\n"


def test_show_prints_everything_known_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    (letter,) = bury()
    shown = json.loads(run(capsys, "show", letter.id))
    assert shown.keys() == {field.name for field in DeadLetter._meta.fields}
    assert (shown["id"], shown["cause"], shown["tries"]) == (str(letter.id), "defect", 1)
    assert shown["error_detail"] == "no key for question 7\nof job 0"
    assert [entry["error_class"] for entry in shown["history"]] == ["ValueError"]


def test_show_of_an_unknown_letter_fails(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError, match="There is no dead letter"):
        run(capsys, "show", uuid.uuid4())


def test_replay_command_queues_what_it_was_given_in_the_lane_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second = bury(2)
    assert run(capsys, "replay", first.id, "--lane", "fresh", "--by", PERSON) == f"{first.id}: queued again\n"
    assert list(Job.objects.values_list("job_id", "lane")) == [(first.job_id, Lane.FRESH)]
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.replayed_by, second.replayed_at) == (PERSON, None)


def test_replay_command_takes_all_that_the_filters_let_through(capsys: pytest.CaptureFixture[str]) -> None:
    bury(2)
    bury(kind="other")
    run(capsys, "replay", "--all", "--kind", KIND)
    assert Job.objects.filter(kind=KIND).count() == 2
    assert list(DeadLetter.objects.filter(replayed_at=None).values_list("kind", flat=True)) == ["other"]


def test_replay_command_fails_when_something_was_not_replayed(capsys: pytest.CaptureFixture[str]) -> None:
    (letter,) = bury()
    unknown = uuid.uuid4()
    with pytest.raises(CommandError, match="Not all of them"):
        run(capsys, "replay", letter.id, unknown)
    assert capsys.readouterr().out.splitlines() == [
        f"{letter.id}: queued again",
        f"{unknown}: there is no such dead letter",
    ]


@pytest.mark.parametrize("arguments", [[], ["--all", str(uuid.UUID(int=1))]], ids=["neither", "both"])
def test_replay_command_wants_either_ids_or_all(arguments: list[str]) -> None:
    with pytest.raises(CommandError, match="or say --all"):
        call_command("dead_letters", "replay", *arguments)


@pytest.mark.parametrize("command", ["run_worker", "sweep", "dead_letters"])
def test_help_keeps_its_paragraphs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command(command, "--help")
    assert ended.value.code == 0
    assert "\n\n" in capsys.readouterr().out.split("options:")[0].strip()
