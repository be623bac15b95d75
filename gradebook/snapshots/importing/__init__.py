"""Copies that were exported from the old system elsewhere come in: JSON lines, all of a file or nothing of it."""

from gradebook.snapshots.importing.errors import BadFile, BadLine
from gradebook.snapshots.importing.importer import Imported, check_file, import_file

__all__ = ["BadFile", "BadLine", "Imported", "check_file", "import_file"]
