"""Which tests stay in one worker: those that share a process of their file (a fixture of scope "module"), and those that say so (`xdist_group`).

Spread over three workers they would start three.
"""

from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Mark them before pytest-xdist looks for marks; a file's own mark comes first."""
    for item in items:
        if _shares_with_its_file(item) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    yield


def _shares_with_its_file(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and any(
        fixture.scope == "module"
        for fixtures in item._fixtureinfo.name2fixturedefs.values()
        for fixture in fixtures
    )
