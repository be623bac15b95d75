"""Report cards apart from the database: what stands on one, its checksum, how two differ, and the PDF."""
