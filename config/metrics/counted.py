"""What processes count, added up over all that share. A counter lives where the thing happens: `exams/gate/meters.py`."""

from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, disable_created_metrics
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector

from config.metrics.sharing import is_shared

_PREFIX: Final = "handover_"

disable_created_metrics()


def list_counted() -> list[Metric]:
    """Return what was counted: by everybody who shares, or by this process alone."""
    collector = MultiProcessCollector(CollectorRegistry()) if is_shared() else REGISTRY
    return [metric for metric in collector.collect() if metric.name.startswith(_PREFIX)]
