"""Log lines: one a line on stderr, for a person (`LOG_FORMAT=text`) or for a machine (`json`), with nothing in them that is private."""
