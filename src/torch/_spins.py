"""How long idle threads of OpenMP look for work before they sleep; set while the compiled core, and libgomp, is loaded.

libgomp counts how often they look, each time with a pause of the processor's. On Intel's, where that takes 140 cycles,
its 300,000 are 15 milliseconds, in which they keep processors from whoever has work for them: two processes of two
threads each on two processors then take thirty times as long for a step of training as one after the other. A quarter
of a millisecond is enough for the pauses between kernels, and for a virtual machine to wake a processor. Elsewhere a
pause is a few times shorter, and libgomp's own count stays: on AMD's Zen 4 as few as on Intel's end before the other
thread was woken, which then finds the first one asleep, and so on; what follows a break took five times as long.
libgomp reads the variable once, when it is loaded; programs that are started from here do not get to see it.
"""

import os
from pathlib import Path

NAME = "GOMP_SPINCOUNT"
INTELS_SPINS = "5000"


def _is_intels() -> bool:
    try:
        with Path("/proc/cpuinfo").open("rb") as file:
            return b"GenuineIntel" in file.read(256)
    except OSError:
        return False


_is_ours = not {NAME, "OMP_WAIT_POLICY"} & os.environ.keys() and _is_intels()


def limit() -> None:
    """Set the variable, unless whoever started the program has said how to wait, or libgomp's own count is right."""
    if _is_ours:
        os.environ[NAME] = INTELS_SPINS


def restore() -> None:
    """Leave the environment as it was."""
    if _is_ours:
        os.environ.pop(NAME, None)
