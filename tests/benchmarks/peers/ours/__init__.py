"""Handover's own worker on the benchmark's job."""
