"""The pages for students. The page an exam is sat on is a client of the student API like any other; the rest is plain HTML."""
