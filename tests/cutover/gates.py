"""The gates of the cut-over for a test: asked, and what they find and read."""

from config.cutover.gates import list_gates
from config.cutover.moving import advance
from gradebook.snapshots.phases import Phase


def go(confirmed: str = "") -> Phase:
    return advance(ask=lambda gate: gate.check(), by="operator", confirmed=confirmed)


def find_all(phase: Phase) -> list[str]:
    """Return what this phase's gates find."""
    return [finding.what for gate in list_gates(phase) for finding in gate.check().first]


def look(phase: Phase, *, reads_all: bool = False) -> dict[Phase, tuple[bool, int]]:
    """Ask this phase's gates about the one sheet: whether each is green, and how many sheets it knew to be right."""
    reports = {
        gate.phase: gate.check(reads_all=reads_all)
        for gate in list_gates(phase)
        if gate.phase is not Phase.REPLAY
    }
    return {gate: (report.is_green, report.unchanged) for gate, report in reports.items()}
