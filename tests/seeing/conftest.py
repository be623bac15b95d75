"""Nothing that a test saw is kept for the next one."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def forget_what_was_seen() -> Iterator[None]:
    from config.health.readiness import asked  # noqa: PLC0415
    from config.metrics.figures import figures  # noqa: PLC0415 - settings exist only after pytest_configure
    from outbox.quorum.reads import stop_watching  # noqa: PLC0415

    figures.forget()
    asked.forget()
    yield
    stop_watching()  # a test may have begun to watch for standbys of its own choosing
