"""Reads of the exams app: the lists and the single attempt a student sees, and what personal deadlines are made of."""
