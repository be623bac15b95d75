"""Marks from a file: read (`tables`), held against the sheet (`plans`), written whole or not at all (`importing`)."""
