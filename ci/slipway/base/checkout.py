"""Whether this slipway runs from a checkout of its repository, or was installed as a package."""

from __future__ import annotations

from pathlib import Path

from slipway.base.errors import UsageError

PACKAGE_ROOT = Path(__file__).resolve().parents[2]
"""Where `import slipway` finds this package: ``ci/`` of a checkout, or an environment's site-packages."""


def find_checkout() -> Path | None:
    """The folder that holds `slipway`, `recipe/`, `src/` and `ci/`; None where slipway was installed as a package."""
    folder = PACKAGE_ROOT.parent
    return folder if PACKAGE_ROOT.name == "ci" and (folder / "slipway").is_file() else None


def require_checkout() -> Path:
    """The checkout that this slipway runs from, for what works on the repository itself.

    Raises:
        UsageError: slipway was installed as a package.
    """
    folder = find_checkout()
    if folder is None:
        raise UsageError(
            "this needs a checkout of slipway's repository, and this slipway was installed as a package",
            where=str(PACKAGE_ROOT),
            hint="clone the repository and use its `./slipway`, or `pip install --editable` it",
        )
    return folder


def default_folder() -> Path:
    """What holds ``recipe/`` and ``dist/`` where no option names them: the checkout, else the working folder."""
    return find_checkout() or Path.cwd()
