"""Years of an old system's copies, drawn: something to rehearse the cut-over with (`manage.py make_legacy`)."""
