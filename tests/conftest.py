"""What every test may count on, however pytest was started."""

from __future__ import annotations

import signal

import pytest


def pytest_configure() -> None:
    """Let Ctrl-C and a hangup end programs, also where the tests run in the background or under nohup.

    Programs that a test starts inherit what is ignored, and tests that interrupt them would wait for ever.
    """
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where tests run side by side (pytest-xdist), those of a file run one after another, as their fixtures expect.

    Files that work on the packages of this run's `ship`, which one slipway at a time may do, are one group.
    """
    if not config.pluginmanager.hasplugin("xdist"):
        return
    paths = {item.path for item in items}
    shared = {path for path in paths if "SLIPWAY_TEST_DIST" in path.read_text(encoding="utf-8")}
    for item in items:
        item.add_marker(pytest.mark.xdist_group("shipped" if item.path in shared else str(item.path)))
