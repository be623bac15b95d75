"""The report: one HTML page that needs nothing beside it, and the same facts as JSON."""

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.template.loader import render_to_string

from config.rehearsal.curves import count_answers, draw_curves, measure_latency
from config.rehearsal.plots import Chart, Series
from config.rehearsal.rehearse import Rehearsal

# What an answer meant to the student who heard it; others speak for themselves.
MEANINGS = {
    "none": "no answer: cut off, or the student hung up",
    "200": "200: the same receipt again",
    "202": "202: accepted",
    "429": "429: too often, come back",
    "503": "503: busy, come back",
}
MOST_SHOWN = 200  # differences on the page; the JSON has all


def write_report(rehearsal: Rehearsal, page: Path) -> Path:
    """Write the page, and the JSON beside it; return the latter."""
    facts = page.with_suffix(".json")
    facts.write_text(json.dumps(describe(rehearsal), indent=2) + "\n", encoding="utf-8")
    page.write_text(render(rehearsal), encoding="utf-8")
    return facts


def describe(rehearsal: Rehearsal) -> dict[str, Any]:
    """Return everything, for machines."""
    latency = measure_latency(rehearsal.outcomes)
    return {
        "began_at": rehearsal.began_at,
        "options": dataclasses.asdict(rehearsal.options) | {"address": rehearsal.options.address.url},
        "is_clean": rehearsal.is_clean,
        "drained_at": rehearsal.drained_at,
        "totals": rehearsal.totals._asdict(),
        "answers": count_answers(rehearsal.outcomes),
        "acknowledgement_seconds": latency and latency._asdict(),
        "differences": [difference._asdict() for difference in rehearsal.differences],
        "curves": draw_curves(rehearsal.outcomes, rehearsal.options.window)._asdict(),
        "samples": [sample._asdict() for sample in rehearsal.samples],
    }


def render(rehearsal: Rehearsal) -> str:
    """Return the page."""
    names = [name.replace("_", " ").capitalize() for name in rehearsal.totals._fields]
    return render_to_string(
        "rehearsal/report.html",
        {
            "rehearsal": rehearsal,
            "options": rehearsal.options,
            "students": f"{rehearsal.options.students:,}",
            "totals": _with_commas(zip(names, rehearsal.totals, strict=True)),
            "answers": _with_commas(
                (MEANINGS.get(heard, heard), number)
                for heard, number in count_answers(rehearsal.outcomes).items()
            ),
            "latency": measure_latency(rehearsal.outcomes),
            "manners": _with_commas(rehearsal.count_manners().items()),
            "charts": _draw_charts(rehearsal),
            "differences": rehearsal.differences[:MOST_SHOWN],
            "not_shown": max(0, len(rehearsal.differences) - MOST_SHOWN),
        },
    )


def _with_commas(counts: Iterable[tuple[str, int]]) -> list[tuple[str, str]]:
    return [(name, f"{number:,}") for name, number in counts]


def _draw_charts(rehearsal: Rehearsal) -> list[Chart]:
    window, samples = rehearsal.options.window, rehearsal.samples
    curves = draw_curves(rehearsal.outcomes, window)

    def follow(name: str) -> list[tuple[float, float]]:
        return [(sample.at, getattr(sample, name)) for sample in samples if sample.at >= 0]

    return [
        Chart(
            "Arrivals and receipts",
            "a second",
            [
                Series("pressed Submit", "one", curves.arrivals),
                Series("receipts", "two", curves.acknowledgements),
            ],
            window,
        ),
        Chart(
            "From Submit to the receipt",
            "seconds, by when Submit was pressed",
            [
                Series("p50", "one", curves.p50),
                Series("p90", "two", curves.p90),
                Series("p99", "three", curves.p99),
            ],
            window,
        ),
        Chart(
            "Shed and unanswered",
            "a second",
            [Series("429 and 503", "three", curves.shed), Series("no answer", "four", curves.no_answer)],
            window,
        ),
        Chart("Oldest waiting job", "seconds", [Series("age", "three", follow("oldest"))], window),
        Chart(
            "Drain",
            "attempts",
            [
                Series("handed in", "one", follow("handed_in")),
                Series("results", "two", follow("results")),
                Series("marks", "three", follow("marks")),
                Series("jobs waiting", "four", follow("waiting")),
            ],
            window,
        ),
    ]
