"""The way from the old system's copies to the log: six phases, a gate at the end of each, and one door that opens one way (ADR 0019)."""
