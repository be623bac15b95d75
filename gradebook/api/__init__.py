"""The grid's own address: marks saved and refreshed as JSON, for pages of ours with a session."""
