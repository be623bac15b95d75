#!/usr/bin/env python
"""Django's command line for Handover: `python manage.py help` lists every command."""

import os
import sys

from config.command_line import main

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main(sys.argv)
