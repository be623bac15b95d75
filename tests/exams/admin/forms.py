"""What forms of the admin send."""

from typing import Any


def inline(prefix: str, *rows: dict[str, Any], initial: int = 0) -> dict[str, Any]:
    """Return what an inline formset sends: these rows, of which the first `initial` exist already."""
    data: dict[str, Any] = {f"{prefix}-TOTAL_FORMS": len(rows), f"{prefix}-INITIAL_FORMS": initial}
    for index, row in enumerate(rows):
        data |= {f"{prefix}-{index}-{name}": value for name, value in row.items()}
    return data
