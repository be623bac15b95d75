"""The gate: where a hand-in becomes a submission. A small ASGI application in front of a group commit (ADR 0003).

A request passes `asgi` (the order of the checks), `reading` (head and body), `admission` (how much at once), and waits as a
`HandIn` in the `line`; the `committer`, a plain thread, takes whatever waits and has `session` decide and store it with one
statement; `responses` says the verdict in HTTP. Nothing here imports Django's request machinery.
"""
