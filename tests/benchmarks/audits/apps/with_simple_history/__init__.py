"""django-simple-history, as its manual sets it up: `HistoricalRecords`, and the user (its middleware's work)."""
