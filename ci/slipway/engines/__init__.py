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


def engine_module(name: str) -> str:
    """The module that has the engine of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in ENGINES:
        raise UsageError(f"there is no engine `{name}`", hint="engines: " + ", ".join(ENGINES))
    return ENGINES[name].partition(":")[0]


def load_engine(name: str) -> Engine:
    """The engine of that name.

    Raises:
        UsageError: there is none.
    """
    module = importlib.import_module(engine_module(name))
    engine: Engine = getattr(module, ENGINES[name].partition(":")[2])()
    return engine
