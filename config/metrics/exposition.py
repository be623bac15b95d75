"""The meters in Prometheus's text format. A database that does not answer is a meter too, and takes only its own meters with it."""

from collections.abc import Iterator

from django.db import DatabaseError
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from config.metrics.counted import list_counted
from config.metrics.figures import figures
from config.metrics.meters import METERS
from outbox.quorum import get_quorum, get_watch


class Meters(Collector):
    """Everything there is to see, gathered at each scrape."""

    def collect(self) -> Iterator[Metric]:
        """Yield the meters."""
        yield from _read_database()
        yield from _look_at_standbys()
        yield from list_counted()

    def describe(self) -> list[Metric]:
        """Return nothing: registering must not ask the database."""
        return []


def write_exposition() -> bytes:
    """Return the page."""
    registry = CollectorRegistry()
    registry.register(Meters())
    return generate_latest(registry)


def _read_database() -> Iterator[Metric]:
    try:
        found = figures.get()
    except DatabaseError:
        found = None
    yield _gauge(
        "handover_database_up", "1 when the database has answered this scrape.", float(found is not None)
    )
    if found is None:
        return
    for meter in METERS:
        family = GaugeMetricFamily(meter.name, meter.help, labels=meter.labels)
        for labels, value in meter.read(found):
            family.add_metric(labels, value)
        yield family


def _look_at_standbys() -> Iterator[Metric]:
    if get_quorum() is None:
        return
    watch = get_watch()
    problem, last = watch.find_problem(), watch.last
    yield _gauge(
        "handover_acknowledging",
        "1 while enough standbys follow for submissions to be acknowledged. Only with HANDOVER_DURABILITY=quorum.",
        float(problem is None),
    )
    yield _gauge("handover_standbys_needed", "How many standbys must have a submission.", watch.quorum.needed)
    if last is not None:
        yield _gauge("handover_standbys_streaming", "Standbys that count and are streaming.", last.streaming)


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(name, words, value=value)
