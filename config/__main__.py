"""What `make run` starts: `python -m config`; `make cluster` adds the word `cluster`, `make database` the word `database`.

Says in one line when a setting cannot be read, and runs.
"""

import sys

from django.core.exceptions import ImproperlyConfigured

from config.environment import UNREADABLE

try:
    from config.run import main
except (ImproperlyConfigured, ValueError, OSError) as error:
    sys.exit(f"handover: {UNREADABLE.format(error)}")

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
