"""django-pghistory, as its manual sets it up: triggers that copy the row, and the user in the context (its middleware's work)."""
