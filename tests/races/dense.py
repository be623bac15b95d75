"""What is true of the log after every interleaving."""

from outbox.models import Event, EventPosition


def assert_positions_are_dense() -> None:
    positions = list(EventPosition.objects.order_by("pos").values_list("pos", flat=True))
    assert positions == list(range(1, len(positions) + 1))
    assert len(positions) == Event.objects.count()
