"""`rearrange`: the axes of a tensor in another order, put together and taken apart, as a pattern says."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, TypeAlias

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

_Group: TypeAlias = "tuple[str, ...]"  # the names in a pair of parentheses; of a name that stands alone, only that
_ELLIPSIS = "..."


def rearrange(tensor: Tensor | Sequence[Tensor], pattern: str, **axes_lengths: int) -> Tensor:
    """The tensor with its axes as the right side of `pattern` has them; the left side names those that it has.

    Parentheses take an axis apart, or put some together; `...` stands for axes without names, 1 for one of length 1.
    Of an axis that is taken apart at most one length is found out, the others are said. A sequence of tensors has
    its number as the first axis. ValueError for a pattern that is none, or that does not fit the shape.

    >>> images = torch.zeros(32, 30, 40, 3)
    >>> torch.func.rearrange(images, "b (h1 h) w c -> (b h1) c h w", h1=2).shape
    torch.Size([64, 3, 15, 40])
    """
    if not isinstance(tensor, torch.Tensor):
        tensor = torch.stack(list(tensor))
    left, right = _parsed(pattern, tuple(sorted(axes_lengths)))
    rest = tensor.dim() - sum(group != (_ELLIPSIS,) for group in left)
    has_rest = (_ELLIPSIS,) in left
    if rest < 0 or (rest > 0 and not has_rest):
        raise ValueError(f"Number of dimensions in pattern ({len(left)}) and tensor ({tensor.dim()}) must match")
    unnamed = tuple(f"{_ELLIPSIS}{number}" for number in range(rest)) if has_rest else ()
    axes = _expanded(left, unnamed)
    lengths = dict(axes_lengths)
    for group, size in zip(axes, tensor.shape, strict=True):
        _find_lengths(group, size, lengths, pattern)
    names = [name for group in axes for name in group]
    result = _expanded_inside(right, unnamed)
    order = [names.index(name) for group in result for name in group]
    split = tensor.reshape([lengths[name] for name in names])
    sizes = [functools.reduce(lambda size, name: size * lengths[name], group, 1) for group in result]
    return split.permute(order).reshape(sizes)


@functools.lru_cache(1024)
def _parsed(pattern: str, given: tuple[str, ...]) -> tuple[list[_Group], list[_Group]]:
    """Both sides, with axes of length 1 as empty groups."""
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError("Pattern must contain exactly one '->' separator")
    left, right = _groups(sides[0]), _groups(sides[1])
    before, after = ([name for group in side for name in group] for side in (left, right))
    for names in (before, after):
        if len(set(names)) < len(names):
            raise ValueError(f"Each axis may stand once on a side of the pattern: {pattern}")
    if any(_ELLIPSIS in group and len(group) > 1 for group in left):
        raise ValueError(f"An ellipsis in parentheses is not allowed on the left side: {pattern}")
    if set(before) != set(after):
        raise ValueError(f"Identifiers only on one side of rearrange expression: {sorted(set(before) ^ set(after))}")
    if unknown := set(given) - set(before):
        raise ValueError(f"Axes that have a length, but are not in the pattern: {sorted(unknown)}")
    return left, right


def _groups(side: str) -> list[_Group]:
    groups: list[_Group] = []
    inner: list[str] | None = None
    for token in side.replace("(", " ( ").replace(")", " ) ").replace(_ELLIPSIS, f" {_ELLIPSIS} ").split():
        if token == "(" and inner is None:
            inner = []
        elif token == ")" and inner is not None:
            groups.append(tuple(inner))
            inner = None
        elif token == "1":
            groups += [()] if inner is None else []
        elif not (token == _ELLIPSIS or token.isidentifier()):
            raise ValueError(f"Invalid axis identifier: {token}")
        elif inner is None:
            groups.append((token,))
        else:
            inner.append(token)
    if inner is not None:
        raise ValueError(f"Unbalanced parentheses in pattern: {side}")
    return groups


def _expanded(groups: list[_Group], unnamed: tuple[str, ...]) -> list[_Group]:
    """Groups with the unnamed axes, each by itself, for an ellipsis."""
    result: list[_Group] = []
    for group in groups:
        result += [(name,) for name in unnamed] if group == (_ELLIPSIS,) else [group]
    return result


def _expanded_inside(groups: list[_Group], unnamed: tuple[str, ...]) -> list[_Group]:
    """The same, and with all of them together for an ellipsis in parentheses."""
    alone = _expanded(groups, unnamed)
    return [tuple(each for name in group for each in (unnamed if name == _ELLIPSIS else (name,))) for group in alone]


def _find_lengths(group: _Group, size: int, lengths: dict[str, int], pattern: str) -> None:
    """Adds the length of the one axis of a group that has none."""
    unknown = [name for name in group if name not in lengths]
    known = functools.reduce(lambda product, name: product * lengths[name], set(group) - set(unknown), 1)
    if len(unknown) > 1:
        raise ValueError(f"Only one length of a group can be found out, not those of {unknown}: {pattern}")
    if (size % known if unknown and known else size != known) or (unknown and not known):
        raise ValueError(f"An axis of length {size} cannot be {group} with the lengths {lengths}: {pattern}")
    if unknown:
        lengths[unknown[0]] = size // known
