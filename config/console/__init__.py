"""`/console/`: what an operator looks at during an exam, and the few deeds that are done from there. Everybody else finds nothing."""
