"""`torch.__version__` as text that knows how versions are ordered."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_PATTERN = (
    r"v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<stage>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<number>\d*))?"
    r"(?P<post>(?:[-_.]?(?:post|rev|r)[-_.]?|-)(?P<revision>\d*))?"
    r"(?:[-_.]?(?P<dev>dev)[-_.]?(?P<day>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?"
)
_STAGES = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}


def _order(version: str) -> tuple[Any, ...]:
    """What a version is sorted by (PEP 440): dev, a, b, rc, the release, post; then its local part."""
    import re

    match = re.fullmatch(_PATTERN, version.strip().lower())
    if match is None:
        raise ValueError(f"Invalid version: '{version}'")
    release = [int(part) for part in match["release"].split(".")]
    while release and release[-1] == 0:
        release.pop()
    stage = _STAGES.get(match["stage"] or "", match["stage"])
    if stage is not None:
        before: tuple[Any, ...] = (0, stage, int(match["number"] or 0))
    else:
        before = (-1,) if match["dev"] and not match["post"] else (1,)
    after = int(match["revision"] or 0) if match["post"] else -1
    dev = (0, int(match["day"] or 0)) if match["dev"] else (1,)
    parts = re.split(r"[-_.]", match["local"]) if match["local"] else []
    local = tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)
    return int(match["epoch"] or 0), tuple(release), before, after, dev, local


def _text(other: Any) -> str:
    if isinstance(other, str):
        return other
    try:
        return ".".join(str(part) for part in other)
    except TypeError:
        raise ValueError(f"I can't handle {other} of type {type(other)}: compare with text or a tuple") from None


class TorchVersion(str):
    """A version's text, which `<`, `==` and their like compare as a version: with text, or with a tuple of numbers.

    Text that is no version is compared letter by letter; ValueError for other types.

    >>> TorchVersion("2.13.0a0+git1234567") > "2.4", TorchVersion("2.13.0") >= (2, 13)
    (True, True)
    """

    __slots__ = ()

    def _compare(self, other: Any, comparison: Callable[[Any, Any], bool]) -> bool:
        text = _text(other)
        try:
            return comparison(_order(self), _order(text))
        except ValueError:
            return comparison(str(self), str(text))

    def __lt__(self, other: Any) -> bool:
        return self._compare(other, lambda one, two: one < two)

    def __le__(self, other: Any) -> bool:
        return self._compare(other, lambda one, two: one <= two)

    def __gt__(self, other: Any) -> bool:
        return self._compare(other, lambda one, two: one > two)

    def __ge__(self, other: Any) -> bool:
        return self._compare(other, lambda one, two: one >= two)

    def __eq__(self, other: object) -> bool:
        return self._compare(other, lambda one, two: one == two)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__
