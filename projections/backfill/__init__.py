"""History from before the log: the old system's copies compared, neighbour by neighbour, into lines like those of the log."""
