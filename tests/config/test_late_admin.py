"""The admin's pages: not in a process that shows none, and looked at by the checks even so."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import django; django.setup()
from django.contrib.admin import site
from django.core.checks import run_checks
print(sorted(model.__name__ for model in site._registry))
run_checks(tags=["admin"])
print("Exam" in {model.__name__ for model in site._registry})
"""


def test_pages_of_the_admin_are_loaded_by_its_checks_and_not_before() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert run.stdout.splitlines() == ["[]", "True"]
