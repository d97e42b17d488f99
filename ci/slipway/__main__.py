"""`python -m slipway`."""

import sys

from slipway.cli import main

if __name__ == "__main__":
    sys.exit(main())
