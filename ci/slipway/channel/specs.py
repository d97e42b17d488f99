"""Match specs in the dialect of meta.yaml, made strict for the solver.

conda-build lets ``numpy 2.1`` mean ``numpy 2.1.*`` (its ``ensure_valid_spec``); rattler wants that said.
"""

from __future__ import annotations

import re

PLAIN_VERSION = re.compile(r"[0-9A-Za-z_]+([.!+][0-9A-Za-z_]+)*")


def strict_spec(spec: str) -> str:
    """`spec` with every version that carries no operator made explicit.

    ``name 1.2`` becomes ``name 1.2.*``; ``name 1.2 build`` becomes ``name ==1.2 build``; ``===`` becomes ``==``.
    """
    name, *rest = spec.replace("===", "==").split() or [""]
    if rest and PLAIN_VERSION.fullmatch(rest[0]):
        rest[0] = f"=={rest[0]}" if len(rest) > 1 else f"{rest[0]}.*"
    return " ".join([name, *rest])


def package_name(spec: str) -> str:
    """Which package a match spec is about: ``python >=3.9`` and ``python>=3.9`` are about ``python``."""
    return re.split(r"[\s=<>!~\[]", spec.strip().rpartition("::")[2], maxsplit=1)[0].lower()
