"""What every test may count on, however pytest was started."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Let Ctrl-C and a hangup end programs, also where the tests run in the background or under nohup.

    Programs that a test starts inherit what is ignored, and tests that interrupt them would wait for ever.
    """
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
