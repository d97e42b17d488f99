"""Engines: a `RenderedOutput` in, a package file out.

An engine is a module-level class with the methods of `slipway.engines.engine.Engine`; `ENGINES` names them all. Callers
never ask which one they hold.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from slipway.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slipway.engines.engine import Engine

ENGINES: Mapping[str, str] = {
    "rattler": "slipway.engines.rattler:RattlerEngine",
    "conda-build": "slipway.engines.conda_build:CondaBuildEngine",
}


def load_engine(name: str) -> Engine:
    """The engine of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in ENGINES:
        raise UsageError(f"there is no engine `{name}`", hint="engines: " + ", ".join(ENGINES))
    module, _, attribute = ENGINES[name].partition(":")
    engine: Engine = getattr(importlib.import_module(module), attribute)()
    return engine
