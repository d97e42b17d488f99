"""Losses as modules. `reduction`: "mean", "sum", or "none" for a loss per element."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from torch.nn import functional
from torch.nn.functional._options import choose_reduction
from torch.nn.modules.distance import PairwiseDistance
from torch.nn.modules.linear import Linear
from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch
    from torch import Tensor
    from torch.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions


class _Loss(Module):
    # Of its own, so that get_type_hints of a loss needs no names of Module's file.
    reduction: str

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = choose_reduction(reduction, size_average, reduce)


class _WeightedLoss(_Loss):
    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """The squared differences of input and target, averaged, added up, or one by one.

    `reduction`: "mean", "sum" or "none".

    >>> torch.nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 4.0]))
    tensor(2.5000)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """The absolute differences of input and target. `reduction`: "mean", "sum" or "none".

    >>> torch.nn.L1Loss()(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 4.0]))
    tensor(1.5000)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Half the squared difference over `beta` below `beta`, the difference less `beta / 2` above.

    `reduction`: "mean", "sum" or "none".

    >>> torch.nn.SmoothL1Loss()(torch.tensor([1.0]), torch.tensor([0.5]))
    tensor(0.1250)
    """

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean", beta: float = 1.0
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class NLLLoss(_WeightedLoss):
    """The negative log likelihood of classes: log-probabilities (N, C), (C) or (N, C, *), targets (N), () or (N, *).

    `weight` (C) is one factor per class; `ignore_index` is a target that does not count. `reduction`: "mean", "sum"
    or "none".

    >>> torch.nn.NLLLoss()(torch.tensor([[-0.5, -1.0]]), torch.tensor([1]))
    tensor(1.)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """The negative log likelihood of classes, from scores of any size: (N, C), (C) or (N, C, *).

    Targets are classes, int64 (N), () or (N, *), or probabilities in the shape of the input. `weight` (C) is one factor
    per class, `ignore_index` a target that does not count, `label_smoothing` what all classes share of every target.
    `reduction`: "mean", "sum" or "none".

    >>> torch.nn.CrossEntropyLoss()(torch.tensor([[0.0, 0.0]]), torch.tensor([1]))
    tensor(0.6931)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class BCELoss(_WeightedLoss):
    """`-(target * log(x) + (1 - target) * log(1 - x))` for probabilities x. `weight` broadcasts against them.

    `reduction`: "mean", "sum" or "none".

    >>> torch.nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """`BCELoss` of `sigmoid(x)`, computed without overflow; `pos_weight` weighs positive targets.

    `reduction`: "mean", "sum" or "none".

    >>> torch.nn.BCEWithLogitsLoss()(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class KLDivLoss(_Loss):
    """The divergence of two distributions: `target * (log(target) - x)` for log-probabilities x.

    `log_target`: targets are logarithms, too. `reduction`: also "batchmean", the divergence as it is defined.

    >>> torch.nn.KLDivLoss(reduction="batchmean")(torch.tensor([[0.5, 0.5]]).log(), torch.tensor([[0.0, 1.0]]))
    tensor(0.6931)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class HuberLoss(_Loss):
    """Half the squared difference below `delta`, `delta * (difference - delta / 2)` above.

    `reduction`: "mean", "sum" or "none".

    >>> torch.nn.HuberLoss()(torch.tensor([2.0]), torch.tensor([4.0]))
    tensor(1.5000)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class MarginRankingLoss(_Loss):
    """`max(0, -target * (x1 - x2) + margin)`: target 1 wants the first greater, -1 the second.

    `reduction`: "mean", "sum" or "none".

    >>> torch.nn.MarginRankingLoss()(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor(2.)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return functional.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """`max(0, d(anchor, positive) - d(anchor, negative) + margin)` for vectors (N, D), with the p-norm as d.

    `swap` takes `d(positive, negative)` where that is smaller than `d(anchor, negative)`. `reduction`: "mean", "sum"
    or "none".

    >>> torch.nn.TripletMarginLoss(margin=2.0)(torch.zeros(1, 2), torch.zeros(1, 2), torch.ones(1, 2))
    tensor(0.5858)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return functional.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class NLLLoss2d(NLLLoss):
    """`NLLLoss`, by the name that it had for images.

    >>> torch.nn.NLLLoss2d()(torch.full((1, 2, 1, 1), -0.5), torch.zeros(1, 1, 1, dtype=torch.int64))
    tensor(0.5000)
    """


class PoissonNLLLoss(_Loss):
    """The negative log likelihood of counts under a Poisson distribution of rate exp(x), or x without `log_input`.

    `full`: with Stirling's term; `eps` keeps from the logarithm of 0. `reduction`: "mean", "sum" or "none".

    >>> torch.nn.PoissonNLLLoss()(torch.tensor([0.0]), torch.tensor([3.0]))
    tensor(1.)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return functional.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """The negative log likelihood of targets under normal distributions of given means and variances.

    `full`: with the constant; variances count as at least `eps`. `reduction`: "mean", "sum" or "none".

    >>> torch.nn.GaussianNLLLoss()(torch.tensor([0.0]), torch.tensor([2.0]), torch.tensor([1.0]))
    tensor(2.)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return functional.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class HingeEmbeddingLoss(_Loss):
    """Distances where the target is 1, `max(0, margin - x)` where it is -1. `reduction`: "mean", "sum" or "none".

    >>> torch.nn.HingeEmbeddingLoss()(torch.tensor([0.5]), torch.tensor([-1.0]))
    tensor(0.5000)
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """`sum(max(0, 1 - (x[target[j]] - x[i]))) / C` over targets j and other classes i: (N, C) or (C).

    Targets hold classes up to the first -1. `reduction`: "mean", "sum" or "none".

    >>> torch.nn.MultiLabelMarginLoss()(torch.tensor([[0.5, 0.25]]), torch.tensor([[0, -1]]))
    tensor(0.3750)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.multilabel_margin_loss(input, target, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """`log(1 + exp(-target * x))` for targets of 1 and -1. `reduction`: "mean", "sum" or "none".

    >>> torch.nn.SoftMarginLoss()(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over the classes of `BCEWithLogitsLoss`: (N, C). `weight` (C): a factor for each class.

    `reduction`: "mean", "sum" or "none".

    >>> torch.nn.MultiLabelSoftMarginLoss()(torch.zeros(1, 2), torch.tensor([[0.0, 1.0]]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """`1 - cos` of two vectors where the target is 1, `max(0, cos - margin)` where it is -1: (N, D), (N, D), (N).

    `reduction`: "mean", "sum" or "none".

    >>> torch.nn.CosineEmbeddingLoss(0.5)(torch.ones(1, 2), torch.ones(1, 2), torch.tensor([-1.0]))
    tensor(0.5000)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return functional.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """`sum(max(0, margin - x[target] + x[i]) ** p) / C` over the other classes i: (N, C) and classes (N).

    `p`: 1 or 2; `weight` (C): a factor for each class. `reduction`: "mean", "sum" or "none".

    >>> torch.nn.MultiMarginLoss()(torch.tensor([[0.5, 0.25]]), torch.tensor([0]))
    tensor(0.3750)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead")
        self.p, self.margin = p, margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` with any `distance_function` of two tensors; `PairwiseDistance` without one.

    >>> loss = torch.nn.TripletMarginWithDistanceLoss(distance_function=torch.nn.CosineSimilarity())
    >>> loss(torch.ones(1, 2), torch.ones(1, 2), torch.ones(1, 2))
    tensor(1.)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function: Any = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return functional.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class CTCLoss(_Loss):
    """Connectionist temporal classification: the negative log likelihood of targets over all alignments with time.

    Log-probabilities are (time, batch, classes); targets (batch, longest) or joined (sum of lengths), without `blank`;
    then come the lengths of both. "mean" divides each loss by its target's length first. `zero_infinity`: losses of
    targets that time does not suffice for are 0.

    >>> probabilities = torch.full((2, 1, 2), 0.5).log()
    >>> torch.nn.CTCLoss()(probabilities, torch.tensor([[1]]), [2], [1])
    tensor(0.2877)
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        return functional.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


class LinearCrossEntropyLoss(_WeightedLoss):
    """A linear layer and the `CrossEntropyLoss` of its scores: (N, in_features) or (in_features), and targets.

    The layer, `linear`, has num_classes scores for each element of `out_features`. Other options are those of the loss.

    >>> torch.nn.LinearCrossEntropyLoss(3, 2)(torch.zeros(1, 3), torch.tensor([1]))
    tensor(0.6931, grad_fn=<NllLossBackward0>)
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, None, None, reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        scores = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, scores, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        sizes = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return functional.linear_cross_entropy(
            input,
            self.linear.weight.reshape((*sizes, self.linear.in_features)),
            target,
            linear_bias=None if bias is None else bias.reshape(sizes),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, reduction={self.reduction}, "
            f"ignore_index={self.ignore_index}, label_smoothing={self.label_smoothing}, options={self.options}"
        )
