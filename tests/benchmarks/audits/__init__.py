"""The audit libraries of Django keeping the same edit on the same server, so that a save of ours has somebody to stand beside."""
