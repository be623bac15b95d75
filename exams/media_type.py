"""What a body may say it is, at every door: `application/json`, with no parameter but a charset, and that UTF-8; and how large it may be.

A parameter we do not know could change what the bytes mean; so it is refused, never passed over.
"""

import re
from typing import Final

LARGEST_BODY: Final = 1024 * 1024

_JSON = re.compile(r'application/json\s*(;\s*charset\s*=\s*("utf-?8"|utf-?8)\s*)?', re.IGNORECASE | re.ASCII)


def is_json(content_type: str) -> bool:
    """Say whether a Content-Type is the one we read."""
    return _JSON.fullmatch(content_type.strip()) is not None
