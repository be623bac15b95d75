"""Whether this installation is well: as a whole, and for taking in a submission. A look never hangs and never costs a request its connection."""
