"""Those who follow the log: what a consumer is, its cursor and batches, what fails, what is built anew, how far behind it is."""
