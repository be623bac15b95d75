"""Real consumers of the real history, killed and frozen in and after a batch, or while it is rebuilt: every change once."""

import signal

import pytest

from outbox.log.sequencer import sequence_events
from outbox.models import Consumer, Event, Heartbeat
from projections.models import MarkHistory
from tests.processes.changes import change_marks
from tests.processes.workers import Start, start
from tests.waiting import wait_until

__all__ = ["start"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process, pytest.mark.timeout(300)]
NAME = "marksheet_history"


def list_history() -> list[tuple[str, int]]:
    """Return (student, version) of every line of history, in order of position."""
    return list(MarkHistory.objects.order_by("pos").values_list("student_name", "cell_version"))


def list_changes(cells: int, versions: int) -> list[tuple[str, int]]:
    return [(f"Student {cell}", version) for version in range(1, versions + 1) for cell in range(cells)]


def has_caught_up() -> bool:
    return Consumer.objects.filter(name=NAME, position=Event.objects.count()).exists()


def test_consumer_follows_and_ends_in_good_order_on_sigterm(start: Start) -> None:
    with start("run_sequencer") as sequencer, start("run_consumer", NAME) as consumer:
        for version in range(1, 6):
            change_marks(range(20), version=version)
        wait_until(has_caught_up, seconds=60)
        assert set(Heartbeat.objects.values_list("role", flat=True)) == {"sequencer", f"consumer:{NAME}"}
        for each in (sequencer, consumer):
            each.send(signal.SIGTERM)
        assert [sequencer.wait(), consumer.wait()] == [0, 0]
    assert list_history() == list_changes(20, 5)
    assert not Heartbeat.objects.exists()


@pytest.mark.parametrize(("point", "kept"), [("in_batch", 0), ("after_batch", 20)])
def test_consumer_killed_around_its_commit_is_continued_where_it_stood(
    point: str, kept: int, start: Start
) -> None:
    change_marks(range(20))
    sequence_events()
    with start("run_consumer", NAME, HANDOVER_FAULT_POINT=f"{point}:kill") as killed:
        assert killed.wait() == -signal.SIGKILL
    assert len(list_history()) == kept

    with start("run_consumer", NAME, "--once") as next_one:
        assert next_one.wait() == 0
    assert list_history() == list_changes(20, 1)


def test_consumer_frozen_in_its_batch_is_overtaken_and_well_again_when_it_wakes(start: Start) -> None:
    change_marks(range(20))
    sequence_events()
    with start("run_consumer", NAME, HANDOVER_FAULT_POINT="in_batch:stop") as frozen:
        frozen.wait_until_frozen()
        with start("run_consumer", NAME, "--once") as other:
            assert other.wait() == 0  # as soon as the server has ended the frozen one's session
        assert list_history() == list_changes(20, 1)

        frozen.send(signal.SIGCONT)
        change_marks(range(20), version=2)
        sequence_events()
        wait_until(has_caught_up, seconds=60)
        frozen.send(signal.SIGTERM)
        assert frozen.wait() == 0
    assert list_history() == list_changes(20, 2)


def test_several_consumers_in_one_process_end_together_on_sigterm(start: Start) -> None:
    change_marks(range(5))
    sequence_events()
    with start("run_consumer", NAME, "gradebook_marks") as consumers:
        wait_until(lambda: list(Consumer.objects.values_list("position", flat=True)) == [5, 5])
        consumers.send(signal.SIGTERM)
        assert consumers.wait() == 0
    assert list_history() == list_changes(5, 1)
    assert not Heartbeat.objects.exists()


def test_rebuild_killed_in_the_middle_is_finished_by_the_running_consumer_or_by_running_it_again(
    start: Start,
) -> None:
    change_marks(range(20))
    sequence_events()
    with start("run_consumer", NAME, "--once") as consumer:
        assert consumer.wait() == 0
    with start("rebuild_projection", NAME, HANDOVER_FAULT_POINT="in_batch:kill") as killed:
        assert killed.wait() == -signal.SIGKILL
    assert (list_history(), Consumer.objects.get().state) == ([], "rebuilding")

    with start("rebuild_projection", NAME) as again:
        assert again.wait() == 0
        assert again.output == f"{NAME} is rebuilt.\n"
    assert list_history() == list_changes(20, 1)
    assert Consumer.objects.get().state == "running"


def test_rebuild_beside_the_running_consumer_finds_the_two_equal(start: Start) -> None:
    with start("run_sequencer"), start("run_consumer", NAME):
        for version in range(1, 11):
            change_marks(range(20), version=version)
        wait_until(has_caught_up, seconds=60)
        with start("rebuild_projection", NAME, "--beside") as rebuild:
            assert rebuild.wait() == 0
    assert rebuild.output.splitlines() == [
        "projections_markhistory: 0 rows missing, 0 too many, 0 different",
        f"{NAME} equals the log at position 200. Nothing to take over.",
    ]


def test_every_command_of_the_log_works_as_the_applications_role(start: Start, app_database_url: str) -> None:
    change_marks(range(20))
    for command in (
        ["run_sequencer", "--once"],
        ["run_consumer", NAME, "--once"],
        ["rebuild_projection", NAME],
        ["rebuild_projection", NAME, "--beside"],
        ["verify_log"],
        ["consumers", "pause", NAME],
        ["consumers", "resume", NAME],
        ["run_sequencer", "--start-epoch"],  # as the owner, who has an address of its own
        ["consumers", "adopt", NAME],
        ["run_consumer", NAME, "--once"],
    ):
        with start(*command, DATABASE_URL=app_database_url) as process:
            assert process.wait() == 0, process.output
    assert list_history() == list_changes(20, 1)
