"""The job queue: how work enters it, is claimed, kept, settled, tried again or given up. Knows nothing of the log."""
