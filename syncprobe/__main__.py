"""Makes ``python -m syncprobe`` the same as ``syncprobe``."""

from __future__ import annotations

import sys

from syncprobe.cli import main

if __name__ == "__main__":
    sys.exit(main())
