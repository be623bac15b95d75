"""The report's numbers and drawings, and its words where something went wrong."""

import json
import re
from pathlib import Path

from config.rehearsal.behaviour import Manner, Outcome, Try
from config.rehearsal.curves import Latency, count_answers, draw_curves, measure_latency, percentile
from config.rehearsal.page import write_report
from config.rehearsal.plots import Chart, Series, tick_step
from config.rehearsal.reconcile import Difference, Totals
from config.rehearsal.rehearse import Options, Rehearsal
from config.rehearsal.watch import Sample
from config.rehearsal.wire import Address

SHED_ONCE = Outcome("a1", 1.0, Manner.PLAIN, [b"r"], [Try(1.0, 1.1, 503), Try(3.0, 3.5, 202)])
NEVER = Outcome("a2", 2.0, Manner.HANGS_UP, [], [Try(2.0, 2.0, 0)])
SLOW = Outcome("a4", 1.0, Manner.SLOW, [b"r"], [Try(1.0, 5.0, 202)])
QUICK = Outcome("a3", 5.9, Manner.PLAIN, [b"r"], [Try(5.9, 6.0, 200)])


def a_rehearsal(*differences: Difference, drained_at: float | None = 7.0) -> Rehearsal:
    return Rehearsal(
        options=Options(Address.parse("http://127.0.0.1:8000"), 3, 6.0),
        began_at="2026-11-29T12:00:00+00:00",
        outcomes=[SHED_ONCE, NEVER, QUICK],
        samples=[Sample(-1.0, 0, 0, 0, 0, 0.0), Sample(6.5, 2, 1, 1, 1, 0.4), Sample(7.0, 2, 2, 2, 0, 0.0)],
        totals=Totals(3, 2, 2, 2, 2, 2, 2),
        differences=differences,
        drained_at=drained_at,
    )


def test_percentile_is_the_nearest_rank() -> None:
    assert [percentile([1, 2, 3, 4], share) for share in (0.01, 0.5, 0.51, 0.99, 1.0)] == [1, 2, 3, 4, 4]


def test_latency_counts_from_the_press_to_the_receipt_with_all_tries_between() -> None:
    assert measure_latency([SHED_ONCE, NEVER, QUICK]) == Latency(6.0 - 5.9, 2.5, 2.5, 2.5)
    assert measure_latency([NEVER]) is None


def test_percentiles_leave_out_who_was_slow_by_themselves() -> None:
    assert measure_latency([SHED_ONCE, SLOW]) == Latency(2.5, 2.5, 2.5, 4.0)


def test_answers_are_counted_by_status() -> None:
    assert count_answers([SHED_ONCE, NEVER, QUICK]) == {"none": 1, "200": 1, "202": 1, "503": 1}


def test_curves_are_rates_a_second_where_they_happened() -> None:
    curves = draw_curves([SHED_ONCE, NEVER, QUICK], 6.0)  # steps of a tenth of a second
    assert sum(rate for _, rate in curves.arrivals) == 30
    assert [(round(at, 2), rate) for at, rate in curves.shed if rate] == [(1.15, 10)]
    assert [rate for _, rate in curves.no_answer if rate] == [10]
    assert [round(value, 6) for _, value in curves.p99] == [2.5, 0.1]


def test_ticks_are_round() -> None:
    assert [tick_step(most) for most in (0, 0.9, 4, 5, 6, 24, 500, 815)] == [1, 0.2, 1, 1, 2, 5, 100, 200]


def test_chart_places_points_within_its_axes_and_escapes_words() -> None:
    svg = Chart("A & B", "<s>", [Series("x", "one", [(0, 0), (10, 40)])], ends_at=10).svg
    assert 'aria-label="A &amp; B, &lt;s&gt;"' in svg
    assert '<polyline class="one" points="64.0,224.0 708.0,12.0"/>' in svg


def test_chart_of_nothing_can_be_drawn() -> None:
    assert "<polyline" in Chart("Empty", "s", [Series("x", "one", [])], ends_at=1).svg


def test_report_names_each_difference_in_page_and_json(tmp_path: Path) -> None:
    lost = Difference("0190-x", "lost", "a receipt is held, and no <submission> is there")

    facts = write_report(a_rehearsal(lost), tmp_path / "r.html")

    html = (tmp_path / "r.html").read_text()
    assert "1 difference." in html
    assert "no &lt;submission&gt; is there" in html
    assert re.findall(r'<th scope="row">(\d+: .*?|no answer: .*?)</th><td class="n">(.*?)</td>', html) == [
        ("no answer: cut off, or the student hung up", "1"),
        ("200: the same receipt again", "1"),
        ("202: accepted", "1"),
        ("503: busy, come back", "1"),
    ]
    stored = json.loads(facts.read_text())
    assert stored["differences"] == [lost._asdict()]
    assert (stored["is_clean"], stored["options"]["address"]) == (False, "http://127.0.0.1:8000")


def test_report_shows_two_hundred_differences_and_counts_the_rest(tmp_path: Path) -> None:
    many = [Difference(f"attempt-{place}", "lost", "…") for place in range(203)]
    write_report(a_rehearsal(*many), tmp_path / "r.html")
    html = (tmp_path / "r.html").read_text()
    assert ("attempt-199<" in html, "attempt-200<" in html, "3 more are in the JSON" in html) == (
        True,
        False,
        True,
    )


def test_report_says_when_only_time_ran_out(tmp_path: Path) -> None:
    write_report(a_rehearsal(drained_at=None), tmp_path / "r.html")
    html = (tmp_path / "r.html").read_text()
    assert "Nothing differs, but not all was done in time." in html
    assert "not in time" in html
