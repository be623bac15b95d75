"""The teachers' pages: my mark sheets, one sheet as a grid, its columns."""
