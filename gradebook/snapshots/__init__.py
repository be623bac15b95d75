"""The old system's whole-class copies: reading them, telling neighbours apart, and writing them while the cut-over lasts."""
