"""What conda-build assumes when no configuration says otherwise: facts only, no logic of rendering.

The values are those of conda-build 26.7 on Linux, as documented or observed; where conda-build takes the version of the
Python it runs on, a fixed one stands here, so that a rendering does not depend on the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from slipway.base.platform import NOARCH, PLATFORMS, find_platform

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slipway.base.platform import Platform

VARIANT_KEYS: Final[Mapping[str, str]] = {
    "python": "3.13",
    "numpy": "1.26",
    "perl": "5.26.2",
    "lua": "5",
    "r_base": "3.5",
    "cpu_optimization_target": "nocona",
    "cran_mirror": "https://cran.r-project.org",
}
"""One value per key; any configuration that names the key replaces it."""

SHARED_KEYS: Final[Mapping[str, Any]] = {
    "pin_run_as_build": {
        "python": {"min_pin": "x.x", "max_pin": "x.x"},
        "r-base": {"min_pin": "x.x", "max_pin": "x.x"},
    },
    "ignore_version": [],
    "ignore_build_only_deps": ["python", "numpy"],
    "extend_keys": ["pin_run_as_build", "ignore_version", "ignore_build_only_deps", "extend_keys"],
}
"""Keys that span the whole matrix: configurations add to them instead of replacing them."""

COMPILERS: Final[Mapping[str, Mapping[str, str]]] = {
    "linux": {"c_compiler": "gcc", "cxx_compiler": "gxx", "fortran_compiler": "gfortran"},
    "osx": {"c_compiler": "clang", "cxx_compiler": "clangxx", "fortran_compiler": "gfortran"},
    "win": {"c_compiler": "vs2017", "cxx_compiler": "vs2017", "fortran_compiler": "gfortran", "vc": "14"},
}
"""More such keys, by the operating system that is built on."""

ARCHITECTURES: Final = frozenset(platform.architecture for platform in PLATFORMS.values()) - {""}
"""Every name of an architecture that a selector may use."""

SYSTEMS: Final = frozenset(platform.system for platform in PLATFORMS.values()) - {NOARCH}
"""Every name of an operating system that a selector may use."""

HASH_LENGTH: Final = 7
HASH_PLACEHOLDER: Final = "1234567"
"""What ``PKG_HASH`` reads as while the recipe is read; the real digits replace ``h1234567`` at the end."""


def target_of(variant: Mapping[str, Any], platform: Platform) -> Platform:
    """What `variant` is for: its `target_platform`, by default the platform that is built on.

    Raises:
        VariantError: there is no such platform.
    """
    target = variant.get("target_platform")
    return platform if target is None else find_platform(str(target))
