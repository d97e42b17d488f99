"""A softmax over many classes, of which the rare ones cost less."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional
from torch.nn.modules.container import ModuleList, Sequential
from torch.nn.modules.linear import Linear
from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-probabilities of targets among `n_classes`, sorted by frequency, in clusters that `cutoffs` part.

    The first cluster is scored with all features, each further one with `div_value` times fewer. The call takes
    (N, in_features) or (in_features) and targets (N) or (), and gives (output, loss): the log-probability of each
    target and the mean of their negatives. ValueError for cutoffs that do not grow, or are not below n_classes - 1.

    >>> module = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[5, 10])
    >>> module(torch.zeros(3, 16), torch.tensor([0, 7, 19])).output.shape
    torch.Size([3])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if len(cutoffs) == 0:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(cutoffs)
            or min(cutoffs) <= 0
            or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs)
            or any(int(cutoff) != cutoff for cutoff in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                "where each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        made: dict[str, Any] = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for number in range(self.n_clusters):
            hidden = int(in_features // (div_value ** (number + 1)))
            classes = self.cutoffs[number + 1] - self.cutoffs[number]
            self.tail.append(
                Sequential(Linear(in_features, hidden, bias=False, **made), Linear(hidden, classes, bias=False, **made))
            )

    def reset_parameters(self) -> None:
        """Draws all weights anew."""
        self.head.reset_parameters()
        for inner, outer in self.tail:
            inner.reset_parameters()
            outer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        """(the log-probability of each target, the mean of their negatives)."""
        dims = target_.dim()
        if dims == 1:
            if input_.size(0) != target_.size(0):
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
            if input_.dim() != 2:
                raise RuntimeError(f"1D target tensor expects 2D input tensors, but found {input_.size()}")
        elif dims == 0:
            if input_.dim() != 1:
                raise RuntimeError(f"0D target tensor expects 1D input tensors, but found {input_.size()}")
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        input = input_ if dims else input_.unsqueeze(0)
        target = target_ if dims else target_.unsqueeze(0)
        if target.numel() and (int(target.min()) < 0 or int(target.max()) >= self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{int(target.min())}, {int(target.max())}] were found. "
            )
        head = target.clone()
        output = input.new_zeros(target.size(0))
        for number in range(self.n_clusters):
            low, high = self.cutoffs[number], self.cutoffs[number + 1]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel():
                head[rows] = self.shortlist_size + number
                scores = functional.log_softmax(self.tail[number](input.index_select(0, rows)), dim=1)
                output = output.index_add(0, rows, scores.gather(1, (target[rows] - low).unsqueeze(1)).squeeze(1))
        head_scores = functional.log_softmax(self.head(input), dim=1)
        output = output + head_scores.gather(1, head.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if dims else output.squeeze(0), loss)

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        head = functional.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for number, tail in enumerate(self.tail):
            inside = functional.log_softmax(tail(input), dim=1)
            parts.append(inside + head[:, self.shortlist_size + number].unsqueeze(1))
        return torch.cat(parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes: (N, in_features) -> (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row: (N, in_features) -> (N)."""
        return self.log_prob(input).argmax(1)
