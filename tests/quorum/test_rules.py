"""What is decided without asking a server: which standby names will do, who is promoted, how many must be asked."""

import pytest

from config.failover import CannotFailOver, Member, Standing, choose
from config.failover.steps import check_enough
from outbox.quorum import Position, Quorum, Reading

THREE = Quorum(("a", "b", "c"))
TWO_OF_FOUR = Quorum(("a", "b", "c", "d"), needed=2)


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        ("ANY 1 (a, b, c)", None),
        ("any 1(b,c)", None),
        ("FIRST 1 (B, c)", None),
        ("2 (b, c)", None),
        ("b, c", None),
        ('ANY 1 ("b", "c")', None),
        ("", "synchronous_standby_names is empty: commits wait for no standby"),
        ("  ", "synchronous_standby_names is empty: commits wait for no standby"),
        ("*", "synchronous_standby_names = '*' counts *, which HANDOVER_STANDBYS does not name"),
        (
            "ANY 1 (b, backup)",
            "synchronous_standby_names = 'ANY 1 (b, backup)' counts backup, which HANDOVER_STANDBYS does not name",
        ),
        ("ANY one (b)", "synchronous_standby_names = 'ANY one (b)' cannot be understood"),
    ],
)
def test_standby_names_will_do_when_commits_wait_for_one_of_ours(names: str, fault: str | None) -> None:
    assert THREE.find_fault(names) == fault


def test_standby_names_that_wait_for_too_few_are_refused() -> None:
    assert TWO_OF_FOUR.find_fault("ANY 2 (b, c, d)") is None
    assert TWO_OF_FOUR.find_fault("ANY 1 (b, c, d)") == (
        "synchronous_standby_names = 'ANY 1 (b, c, d)' waits for fewer than 2 of them (HANDOVER_STANDBYS_NEEDED)"
    )


@pytest.mark.parametrize(("members", "needed"), [((), 1), (("a",), 2), (("a", "b"), 0)])
def test_rule_that_nothing_could_fulfil_is_refused(members: tuple[str, ...], needed: int) -> None:
    with pytest.raises(ValueError, match="cannot be waited for"):
        Quorum(members, needed)


@pytest.mark.parametrize(
    ("server", "lsn", "holds"),
    [("one", 90, True), ("one", 91, False), ("two", 1, False)],
    ids=["flushed", "not yet", "another server's"],
)
def test_reading_holds_what_its_own_standbys_have_flushed(server: str, lsn: int, holds: bool) -> None:
    reading = Reading("one", flushed=100, quorum=90, streaming=2, names="", level="on", is_flushing=True)

    assert reading.holds(Position(server, lsn)) is holds


def standing(name: str, timeline: int, lsn: int, system: str = "s") -> Standing:
    return Standing(timeline, lsn, name, system)


@pytest.mark.parametrize(
    ("standings", "chosen"),
    [
        ([standing("b", 1, 10), standing("c", 1, 20)], "c"),
        ([standing("c", 1, 20), standing("b", 1, 20)], "b"),
        ([standing("b", 1, 99), standing("c", 2, 20)], "c"),
    ],
    ids=["the most", "equals by name", "a later timeline"],
)
def test_choice_falls_on_the_standby_that_has_the_most(standings: list[Standing], chosen: str) -> None:
    assert choose(standings).name == chosen


def test_servers_of_two_clusters_are_not_compared() -> None:
    with pytest.raises(CannotFailOver, match="not copies of one another"):
        choose([standing("b", 1, 10), standing("c", 1, 20, system="t")])


@pytest.mark.parametrize(
    ("quorum", "asked", "is_enough"),
    [(THREE, 2, True), (THREE, 1, False), (TWO_OF_FOUR, 2, True), (TWO_OF_FOUR, 1, False)],
)
def test_so_many_are_asked_that_one_of_them_has_each_acknowledged_commit(
    quorum: Quorum, asked: int, is_enough: bool
) -> None:
    standbys = [Member(name, "postgres://") for name in quorum.members[1 : asked + 1]]
    if is_enough:
        check_enough(standbys, quorum)
    else:
        with pytest.raises(CannotFailOver, match="must be asked"):
            check_enough(standbys, quorum)
