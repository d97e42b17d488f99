"""Names that PyTorch has and this torch has not: asking for one says so, instead of what a misspelt name gets.

The error is an AttributeError as well as a NotImplementedError, so that `hasattr` and `getattr` with a default work.
"""

from __future__ import annotations


class MissingNameError(AttributeError, NotImplementedError):
    """PyTorch has this name; this torch has not."""


def missing_name(namespace: str, name: str, advice: str = "", owner: str = "") -> AttributeError:
    """The error to raise: MissingNameError if `name` is one of PyTorch's in `namespace` ("torch"), else AttributeError.

    `advice` makes it one of PyTorch's and says what to do instead; `owner` is what has no such attribute, if no module.
    """
    if not name.startswith("_"):
        from torch._public_names import NAMES  # here, since a name that is found does not need it

        if advice or name in NAMES.get(namespace, "").split():
            end = f": {advice}" if advice else "; docs/coverage.md lists what is and what is not"
            return MissingNameError(f"{namespace}.{name} is not implemented in this torch{end}", name=name)
    owner = owner or f"module '{namespace}'"
    return AttributeError(f"{owner} has no attribute '{name}'", name=name)
