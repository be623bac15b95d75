"""How much a photographed answer may be. Large enough for a page under a phone's camera, small enough for a school's line."""

from datetime import timedelta
from typing import Final

MIB: Final = 1024 * 1024

LARGEST_FILE: Final = 20 * MIB
LARGEST_CHUNK: Final = MIB
# All but the last chunk: a file has at most 320 of them.
SMALLEST_CHUNK: Final = 64 * 1024
ATTEMPT_QUOTA: Final = 200 * MIB
VERSIONS_PER_QUESTION: Final = 30

# A picture is measured by its header before a single pixel is decoded; a page scanned at 600 dpi has 35 million.
MOST_PIXELS: Final = 64_000_000
LONGEST_SIDE: Final = 20_000
MOST_PAGES: Final = 50
PREVIEW_SIDE: Final = 2_400
THUMBNAIL_SIDE: Final = 320

# What the process that decodes a stranger's file may take. It decodes 64 million pixels of PNG (256 MB) and makes a smaller copy.
RENDER_MEMORY: Final = 1024 * MIB
RENDER_SECONDS: Final = 30

# An upload nobody continues, an object nobody came back for, and an answer nobody handed in, until they are cleaned up.
UPLOAD_PATIENCE: Final = timedelta(hours=24)
WRITING_PATIENCE: Final = timedelta(hours=1)
UNUSED_KEPT: Final = timedelta(days=7)
