"""Forms of days and moments on Django's own pages, by language (FORMAT_MODULE_PATH)."""
