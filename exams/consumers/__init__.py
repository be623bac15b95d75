"""What in the exams app follows the event log."""
