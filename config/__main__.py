"""What `make run` starts: `python -m config`. Says in one line when a setting cannot be read, and runs."""

import sys

from django.core.exceptions import ImproperlyConfigured

try:
    from config.run import main
except (ImproperlyConfigured, ValueError) as error:
    sys.exit(f"handover: A setting in the environment or in .env cannot be read: {error}. See .env.example.")

if __name__ == "__main__":
    sys.exit(main())
