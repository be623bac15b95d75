"""The event log: how a change enters it, the order it gets, reading it and verifying it. Knows neither consumers nor jobs."""
