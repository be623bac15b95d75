"""English, and British English."""
