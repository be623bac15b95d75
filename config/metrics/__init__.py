"""`GET /metrics`: ages, depths and rates for a monitoring that speaks Prometheus's text format; listed in docs/operations.md.

Two kinds. What the database knows is asked of it, by whichever web process the scrape met. What web processes count is in files
that they share (`counted.py`), so that it does not matter which one is asked.
"""
