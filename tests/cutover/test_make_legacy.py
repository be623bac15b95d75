"""Drawn years of copies go through the cut-over like real ones."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Count

from config.management.commands import make_legacy
from gradebook.models import MarkSnapshot, Period
from tests.cutover.old_class import CatchUp, catch_up, cutover

__all__ = ["catch_up"]
pytestmark = pytest.mark.django_db(transaction=True)


def make(*arguments: str) -> str:
    output = StringIO()
    call_command("make_legacy", *arguments, stdout=output)
    return output.getvalue()


def test_drawn_years_pass_every_gate(catch_up: CatchUp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_legacy, "BUCKET", 30)
    monkeypatch.setattr(make_legacy, "FEWEST", 3)
    monkeypatch.setattr(make_legacy, "MOST", 6)
    make("--classes", "1", "--years", "2", "--allow-known-passwords")
    counted = (
        MarkSnapshot.objects.values("sheet").annotate(number=Count("id")).values_list("number", flat=True)
    )
    assert max(counted) == 30
    terms = Period.objects.order_by("starts_on")
    assert [(term.is_locked, term.generation) for term in terms] == [(True, 1), (False, 1)]
    cutover("advance")
    cutover("advance")
    cutover("backfill")
    for _ in range(3):
        catch_up()
        cutover("advance")
    assert "Now in phase 6, stopped" in cutover("advance", "--confirm", "stopped")
    assert cutover("check") == "green  no new copies\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "known to everybody"),
        (("--allow-known-passwords", "--classes", "0"), "--classes must be from 1"),
    ],
)
def test_it_is_refused(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        make(*arguments)
    assert not MarkSnapshot.objects.exists()
