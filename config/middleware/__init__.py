"""Our own middleware, in the order of `MIDDLEWARE` in the settings. What is one module's matter (log lines, the console) has its own there."""
