"""Our own middleware. What is the matter of another package (log lines, the console without a database) has its own there."""
