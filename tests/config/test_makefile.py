"""`make test TESTS=…`: a part that is not there is named, before anything is installed or started for it."""

import subprocess

import pytest

from tests.serving import ROOT


def name(tests: str) -> tuple[int, str]:
    done = subprocess.run(
        ["make", "-s", "named", f"TESTS={tests}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("tests", ["tests/nothing.py", "tests/config tests/nothing.py::test_x"])
def test_part_that_is_not_there_is_named(tests: str) -> None:
    code, said = name(tests)

    assert code == 2
    assert said.startswith("There is no tests/nothing.py. TESTS names files or folders below tests")


@pytest.mark.parametrize(
    "tests",
    ["tests", "tests/docs tests/config/test_keys.py::test_x[a b]", "tests/docs -k nothing", "-m journey"],
)
def test_part_that_is_there_may_be_narrowed(tests: str) -> None:
    assert name(tests) == (0, "")


def test_tests_ask_for_their_names_first() -> None:
    [line] = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("test:")]
    assert line.partition(":")[2].split()[0] == "named"
