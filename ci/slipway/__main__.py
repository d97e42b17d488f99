"""`python -m slipway`."""

import os
import sys

from slipway.cli import main

if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    if "rattler" in sys.modules:
        # Its threads may still call into Python while the interpreter takes itself down, which ends in a crash now and
        # then. Everything is written and every lock is free by now, so leave at once.
        os._exit(code)
    sys.exit(code)
