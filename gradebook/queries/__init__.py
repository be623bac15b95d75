"""What pages and commands ask of the gradebook. Every function is a constant number of queries, said in its docstring."""

from gradebook.queries.cells import (
    CellView,
    Changes,
    find_cells,
    list_cells,
    list_changes,
    list_names,
    read_cell,
    take_snapshot,
    view_cell,
)
from gradebook.queries.sheets import (
    Layout,
    find_viewable_sheet,
    get_layout,
    get_viewable_sheet,
    list_my_sheets,
    list_students,
)

__all__ = [
    "CellView",
    "Changes",
    "Layout",
    "find_cells",
    "find_viewable_sheet",
    "get_layout",
    "get_viewable_sheet",
    "list_cells",
    "list_changes",
    "list_my_sheets",
    "list_names",
    "list_students",
    "read_cell",
    "take_snapshot",
    "view_cell",
]
