"""Photographed answers (ADR 0014): how a file arrives, what is made of it to be shown, who may see it, and when it goes.

The answer to a question of kind `upload` is the SHA-256 of a file, so the receipt's digest covers the file; nothing here touches the gate.
"""
