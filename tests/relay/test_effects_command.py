"""`manage.py effects`: a number or a name that is unknown is named, and is no success."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from outbox.effects import GiveUp, Refuse
from outbox.effects.failures import list_failed_effects, list_refused_effects
from outbox.effects.registry import list_effects
from outbox.effects.running import run_due_effects
from tests.relay.effects import Make, cause, list_receipts, make_effect, relay_all

__all__ = ["make_effect"]
pytestmark = pytest.mark.django_db(transaction=True)


def run(*words: str) -> str:
    out = StringIO()
    call_command("effects", *words, stdout=out)
    return out.getvalue()


def fail(make_effect: Make, error: Exception | None = None) -> int:
    """Let one effect fail for good (or as told); return its number."""
    make_effect().errors = [error or GiveUp("No such address.")]
    cause()
    relay_all()
    run_due_effects([effect for effect in list_effects() if effect.name == "tell"])
    return (list_failed_effects() | list_refused_effects()).get().pk


def test_replay_tries_what_failed_again_and_names_the_number_that_did_not(make_effect: Make) -> None:
    number = fail(make_effect)

    with pytest.raises(CommandError, match=r"^Not among what failed for good or was refused: 999999999\."):
        run("replay", str(number), "999999999")

    assert [state for _, _, state, _ in list_receipts()] == ["pending"]


def test_what_was_refused_is_listed_and_replayed_only_when_it_is_meant(make_effect: Make) -> None:
    number = fail(make_effect, Refuse("This photo is damaged."))

    assert run("list").splitlines()[-2:] == [
        "0 failed for good.",
        "1 refused, no fault; see `manage.py effects list --refused`.",
    ]
    *_, line, count = run("list", "--refused").splitlines()
    assert line.startswith(f"{number}  tell of event ")
    assert line.endswith(" (tries: 1): This photo is damaged.")
    assert count == "1 refused."
    assert run("replay", "--all") == "0 will be tried again.\n"
    assert run("replay", "--effect", "tell", "--refused") == "1 will be tried again.\n"
    assert [state for _, _, state, _ in list_receipts()] == ["pending"]


@pytest.mark.parametrize("deed", ["list", "replay"])
def test_effect_that_does_not_exist_is_named_with_those_that_do(make_effect: Make, deed: str) -> None:
    make_effect()

    with pytest.raises(CommandError, match=r"^There is no effect nope\. Known: .*tell"):
        run(deed, "--effect", "nope")


def test_list_says_that_nothing_failed() -> None:
    assert run("list").splitlines()[-1] == "0 failed for good."


@pytest.mark.parametrize("words", [[], ["17", "--all"], ["--effect", "tell", "--all"]])
def test_replay_wants_one_way_of_saying_which(words: list[str]) -> None:
    with pytest.raises(CommandError, match="one of the three"):
        run("replay", *words)


def test_command_alone_says_what_it_can_do() -> None:
    with pytest.raises(CommandError, match=r"list\|replay"):
        run()
