"""The demo school: everything `load_demo` makes, through the same services people use."""
