"""What the meter of shed requests of this process says."""

from prometheus_client import REGISTRY

from config.admission.tiers import Tier


def count_shed_so_far(*tiers: Tier) -> float:
    """Return how many requests of these tiers, or of all, were turned away."""
    counted = (REGISTRY.get_sample_value("handover_shed_total", {"tier": tier}) for tier in tiers or Tier)
    return sum(value or 0 for value in counted)
