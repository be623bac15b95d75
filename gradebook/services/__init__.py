"""Commands of the gradebook: each opens its transaction, takes its locks in one order, and names who acted."""
