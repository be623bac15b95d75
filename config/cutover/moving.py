"""Moving the cut-over: one phase on or one back, once its gates are green, written down in the log.

The one thing to know: whoever moves the phase holds it alone for that moment, and everybody who saves marks shares it, so no save acts by one
phase and commits in the next.
"""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from django.db import OperationalError, transaction

from config.cutover.findings import GateReport
from config.cutover.gates import START, Gate, list_gates
from gradebook.models import Cutover
from gradebook.snapshots.phases import Phase, get_phase, hold_phase
from outbox.db import LOCK_NOT_AVAILABLE, database_now, find_sqlstate
from outbox.facts import Fact
from outbox.log.publish import Actor, NewEvent, publish
from outbox.models.log import ActorType

SUBJECT: Final = "cutover"

Ask = Callable[[Gate], GateReport]


class CannotMove(Exception):
    """The cut-over stays where it is."""


class GateIsRed(CannotMove):
    """A gate found differences; `report` has them."""

    def __init__(self, report: GateReport) -> None:
        self.report = report
        differences = "1 difference" if report.total == 1 else f"{report.total} differences"
        super().__init__(f"{report.name}: {differences}.")


@dataclasses.dataclass(frozen=True, slots=True)
class CutoverMoved(Fact):
    """The cut-over went one phase on or back."""

    kind = "CutoverMoved"

    old: int
    new: int
    actor_name: str


def advance(*, ask: Ask, by: str, confirmed: str = "", rehearse: bool = False) -> Phase:
    """Go to the next phase and return it. With `rehearse` everything is checked and nothing is changed.

    `ask` puts the question to a gate (so that a command can show how far it is). Raises `GateIsRed`, or `CannotMove` at the end, where
    somebody else moved it meanwhile, where the last door was not confirmed by its name, and where another phase than the next one was.
    """
    phase = get_phase()
    if phase is Phase.STOPPED:
        raise CannotMove("The cut-over is over: no copies are written any more.")
    target = Phase(phase + 1)
    if confirmed and confirmed != target.word:  # whoever names a phase believes to be in front of it
        raise CannotMove(f"The next phase is {target.word}, not {confirmed}: --confirm {target.word}")
    for gate in list_gates(phase):
        _require_green(ask(gate))
    if rehearse:
        return target
    if target is Phase.STOPPED and not confirmed:
        raise CannotMove(
            f"From {target.word} there is no way back. Type its name to go: --confirm {target.word}"
        )
    with _alone() as held:
        if held is not phase:
            raise CannotMove("Somebody else has moved the cut-over meanwhile.")
        if (
            phase is Phase.NONE
        ):  # nobody saves now: what the gate said a moment ago is true of the first copy, too
            _require_green(START.check())
        _move(phase, target, by)
    return target


def step_back(*, by: str, rehearse: bool = False) -> Phase:
    """Go one phase back and return it; the old way serves again, from copies that were written all the time. Raises `CannotMove`."""
    with _alone() as phase:
        if phase is Phase.STOPPED:
            raise CannotMove("From the last phase there is no way back: no copies were written since.")
        if phase <= Phase.BESIDE:
            raise CannotMove("There is no phase before this one: events are part of every save.")
        target = Phase(phase - 1)
        if not rehearse:
            _move(phase, target, by)
    return target


@contextmanager
def _alone() -> Iterator[Phase]:
    """Hold the phase alone for the length of a transaction; raise `CannotMove` when somebody's save does not end."""
    try:
        with transaction.atomic():
            yield hold_phase()
    except OperationalError as error:
        if find_sqlstate(error) != LOCK_NOT_AVAILABLE:
            raise
        raise CannotMove(
            "Somebody has been saving marks for seconds. Nothing was changed; try again."
        ) from error


def _require_green(report: GateReport) -> None:
    if not report.is_green:
        raise GateIsRed(report)


def _move(old: Phase, new: Phase, by: str) -> None:
    cutover = Cutover.objects.select_for_update().first()
    if cutover is None:
        cutover = Cutover.objects.create(phase=new)
    else:
        cutover.phase = new
        cutover.version += 1
        cutover.moved_at = database_now()
        cutover.save()
    fact = CutoverMoved(old=old, new=new, actor_name=by)
    event = NewEvent(
        kind=fact.kind,
        schema_version=fact.version,
        subject=SUBJECT,
        subject_version=cutover.version,
        actor=Actor(ActorType.POLICY),
        payload=fact.payload(),
    )
    publish([event])
