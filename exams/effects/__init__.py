"""What follows from an exam's events outside their transaction: mails, notifications, the proctoring service, drafts (ADR 0012)."""
