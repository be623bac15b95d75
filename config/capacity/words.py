"""A plan in words, with all it rests on."""

from config.capacity.planning import BACKLOG_RULE, MOST_BUSY, CapacityPlan
from config.rehearsal.arrivals import STEEPNESS


def describe(plan: CapacityPlan) -> str:
    """Return the answer, how it comes about, and what it assumes."""
    demand, rates, gate, workers = plan.demand, plan.rates, plan.gate, plan.workers
    lines = [
        f"{demand.students:,} students within {demand.window:,.0f} s before the deadline:",
        "",
        f"  gate processes   {gate.processes}   (WEB_CONCURRENCY, over all machines)",
        f"  workers          {workers.processes}",
        "",
        "At the gate",
        f"  peak             {gate.peak_arrivals:,.0f} hand-ins/s, at the deadline",
        f"  busy             {gate.busy:.0%} of {gate.processes} x {rates.acks:,.0f} acknowledgements/s",
        f"  in line          {gate.mean_wait * 1000:,.1f} ms on average, p99 {gate.p99_wait * 1000:,.1f} ms (M/M/c, Erlang C)",
        f"  waiting          {gate.waiting:,.1f} hand-ins (Little's law); room for {gate.line:,} before anybody is shed",
        "",
        "Behind it",
        f"  arrivals         {workers.mean_arrivals:,.0f}/s on average, over the window and the wait for results",
        f"  workers do       {workers.capacity:,.0f}/s; longest queue {workers.longest_backlog:,.0f}, at the deadline",
        f"  last result      {workers.drained_after:,.0f} s after the deadline (wanted: {demand.results_within:,.0f} s)",
        "",
        "Assumed",
        f"  arrivals grow exponentially to the deadline (k = {STEEPNESS:g}), as manage.py rehearse_deadline sends them",
        "  each process does what one did when it was measured: processors for all of them, and a database that keeps up with",
        f"  the sum of {gate.processes * rates.acks:,.0f} acknowledgements/s (past its limit more gates only make the line longer)",
        f"  a gate is at most {MOST_BUSY:.0%} busy at the peak; workers have {BACKLOG_RULE:g} times the mean arrivals, so that after an outage",
        "  they have caught up in as long as they were away",
        "  one process may die at the peak: add one of each if that must not be noticed",
        "",
        f"Rehearse it: manage.py rehearse_deadline --students {demand.students} --window {demand.window:g}",
    ]
    return "\n".join(lines)
