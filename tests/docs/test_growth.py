"""Whoever adds a table says how it grows: docs/operations.md names each, once."""

import re
from pathlib import Path

from django.apps import apps

OPERATIONS = Path(__file__).resolve().parents[2] / "docs" / "operations.md"


def test_every_table_is_in_the_list_of_what_grows_once() -> None:
    section = OPERATIONS.read_text().split("## What grows\n")[1].split("\n## ")[0]
    rows = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    models = apps.get_models(include_auto_created=True)
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row)) == sorted(
        {model._meta.db_table for model in models if model._meta.managed}
    )
