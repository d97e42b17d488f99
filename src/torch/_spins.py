"""How long idle threads of OpenMP look for work before they sleep; set while the compiled core, and libgomp, is loaded.

libgomp lets them look for milliseconds, in which they keep processors from whoever has work for them: two processes of
two threads each on two processors then take thirty times as long for a step of training as one after the other. A tenth
of a millisecond is enough for the pauses between kernels. libgomp reads the variable once, when it is loaded; programs
that are started from here do not get to see it.
"""

import os

NAME = "GOMP_SPINCOUNT"
SPINS = "5000"
_is_ours = not {NAME, "OMP_WAIT_POLICY"} & os.environ.keys()


def limit() -> None:
    """Set the variable, unless whoever started the program has said how to wait."""
    if _is_ours:
        os.environ[NAME] = SPINS


def restore() -> None:
    """Leave the environment as it was."""
    if _is_ours:
        os.environ.pop(NAME, None)
