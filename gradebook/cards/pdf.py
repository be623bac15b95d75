"""Cards and class lists as PDF, by typst: one compiler a batch, so that fonts are loaded once.

Everything a person wrote reaches the template as data, never as markup.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typst


class Printer:
    """Renders one template many times."""

    def __init__(self, template: str) -> None:
        self._compiler = typst.Compiler(str(Path(__file__).with_name(f"{template}.typ")))

    def print(self, data: Mapping[str, Any]) -> bytes:
        """Return the PDF of this data."""
        printed = self._compiler.compile(
            format="pdf", sys_inputs={"data": json.dumps(data, ensure_ascii=False)}
        )
        assert isinstance(printed, bytes)  # one document; only images come as several
        return printed
