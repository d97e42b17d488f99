"""`python -m slipway`, and the program `slipway` of an installed package."""

import gc
import os
import sys
from typing import NoReturn

from slipway.cli import main


def run() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    gc.set_threshold(20_000, 20, 50)  # much is made here that stays; looking for rubbish in it took 4 % of `ship`
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    if "rattler" in sys.modules:
        # Its threads may still call into Python while the interpreter takes itself down, which ends in a crash now and
        # then. Everything is written and every lock is free by now, so leave at once.
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
