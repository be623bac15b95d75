"""Other people's queues doing the same job on the same server, so that a figure of ours has somebody to stand beside."""
