"""What of all that is no submission is worked on, waits, or is turned away: the door in front of Django and the pools (ADR 0015)."""
