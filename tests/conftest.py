"""What every test may count on, however pytest was started."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Let Ctrl-C interrupt, also where a shell started the tests in the background and had them ignore it.

    Programs that a test starts inherit what is ignored, and tests that interrupt them would wait for ever.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
