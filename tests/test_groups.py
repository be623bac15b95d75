"""Groups of tests are kept together: pytest-xdist tells them by a suffix of the test's name, which a pytest unknown to it may drop in silence."""

import pytest


def suffix_of(request: pytest.FixtureRequest) -> str:
    return str(request.node.nodeid).partition("@")[2]


def is_distributed(request: pytest.FixtureRequest) -> bool:
    """Whether this is one of the workers of `--dist loadgroup`."""
    return bool(getattr(request.config.option, "loadgroup", False))


@pytest.fixture(scope="module")
def shared() -> object:
    return object()


@pytest.mark.xdist_group("some name")
def test_group_that_a_test_names_is_known_to_the_distribution(request: pytest.FixtureRequest) -> None:
    assert suffix_of(request) == ("some name" if is_distributed(request) else "")


def test_tests_that_share_a_fixture_of_their_file_are_a_group(
    request: pytest.FixtureRequest, shared: object
) -> None:
    assert suffix_of(request) == ("tests/test_groups.py" if is_distributed(request) else "")


def test_test_that_shares_nothing_is_in_no_group(request: pytest.FixtureRequest) -> None:
    assert suffix_of(request) == ""
