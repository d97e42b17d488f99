"""Values and gradients where functions bend, saturate, tie or are not numbers."""

from __future__ import annotations

from typing import Any

from torch_golden import Case

INF = float("inf")
NAN = float("nan")
ENDS = [-INF, -1e30, -200.0, -100.0, -50.0, -20.0, -1.0, 0.0, 1.0, 20.0, 50.0, 100.0, 200.0, 1e30, INF, NAN]
ZERO_AND_BACK = [0.0, -0.0, 1e-30, 1.0, -1.0]

# A function of x, and the points at which it bends.
ELEMENTWISE: dict[str, list[float]] = {
    "F.relu(x)": [*ENDS, -0.0],
    "F.relu6(x)": [*ENDS, 6.0, 5.999, 6.001],
    "F.hardtanh(x)": ENDS,
    "F.hardtanh(x, -2, 3)": [-2.0, 3.0, 0.0],
    "F.hardsigmoid(x)": [*ENDS, -3.0, 3.0, 2.999, -3.001],
    "F.hardswish(x)": [*ENDS, -3.0, 3.0, 2.999, -3.001],
    "F.tanhshrink(x)": ENDS,
    "F.leaky_relu(x)": [*ENDS, -0.0],
    "F.leaky_relu(x, 2.0)": [*ENDS, -0.0],
    "F.elu(x)": [*ENDS, -0.0],
    "F.elu(x, 2.0)": [*ENDS, -0.0],
    "F.selu(x)": [*ENDS, -0.0],
    "F.gelu(x)": ENDS[1:-2],
    "F.gelu(x, approximate='tanh')": ENDS,
    "F.silu(x)": ENDS,
    "F.mish(x)": ENDS,
    "F.softplus(x)": [*ENDS, 20.001],
    "F.softplus(x, 2.0, 5.0)": [*ENDS, 2.5, 2.501],
    "F.softsign(x)": ENDS,
    "F.logsigmoid(x)": [*ENDS, -0.0],
    "torch.sigmoid(x)": ENDS,
    "torch.tanh(x)": ENDS,
    "torch.abs(x)": [*ENDS, -0.0],
    "torch.sign(x)": ENDS,
    "torch.sqrt(x)": [0.0, 1.0, INF, -1.0, NAN],
    "torch.rsqrt(x)": [0.0, 1.0, INF, NAN],
    "torch.log(x)": [0.0, 1.0, INF, -1.0],
    "torch.log1p(x)": [-1.0, 0.0, INF],
    "torch.reciprocal(x)": [0.0, -0.0, INF],
    "torch.pow(x, 0)": [*ZERO_AND_BACK, NAN, INF],
    "torch.pow(x, 1)": [*ZERO_AND_BACK, NAN, INF],
    "torch.pow(x, 0.5)": [0.0, 1.0],
    "torch.pow(x, -1)": [0.0, 1.0],
    "torch.pow(x, x)": [0.0, 1.0, 2.0],
    "torch.pow(0.0, x)": [0.0, 1.0, 2.0],
    "torch.clamp(x, -1, 1)": ENDS,
    "torch.clamp(x, min=0)": ENDS,
    "torch.clamp(x, max=0)": ENDS,
    "torch.clamp(x, 1, -1)": [-2.0, -1.0, 0.0, 1.0, 2.0],
    "torch.clamp(x, NAN, 1)": [0.0, 2.0],
    "torch.maximum(x, torch.zeros_like(x))": ENDS,
    "torch.minimum(x, torch.zeros_like(x))": ENDS,
    "torch.maximum(torch.full_like(x, NAN), x)": [0.0, NAN],
    "torch.masked_fill(x, x > 0, 2.0)": ENDS,
    "torch.where(x > 0, x, 2 * x)": ENDS,
    "torch.remainder(x, 3.0)": [-3.0, 0.0, 3.0, 4.0],
    "torch.div(x, 2, rounding_mode='floor')": [-3.0, 0.0, 3.0],
    "torch.nan_to_num(x)": ENDS,
    "torch.expm1(x)": ENDS,
    "torch.erf(x)": ENDS,
    "F.smooth_l1_loss(x, torch.zeros_like(x), reduction='none')": [*ENDS, 0.5, 0.999],
    "F.smooth_l1_loss(x, torch.zeros_like(x), reduction='none', beta=0.0)": ENDS,
    "F.smooth_l1_loss(x, x.detach(), reduction='none')": [INF, NAN, 1.0],
    "F.huber_loss(x, torch.zeros_like(x), reduction='none')": [*ENDS, 0.5, 0.999],
    "F.huber_loss(x, torch.zeros_like(x), reduction='none', delta=2.0)": [*ENDS, 2.0],
    "F.l1_loss(x, torch.zeros_like(x), reduction='none')": ENDS,
    "F.mse_loss(x, torch.zeros_like(x), reduction='none')": ENDS,
    "F.margin_ranking_loss(x, -x.detach(), torch.ones_like(x), reduction='none')": [0.0, 1.0, -1.0, NAN],
    "F.kl_div(x, torch.zeros_like(x), reduction='none')": [0.0, 1.0, -INF],
    "F.binary_cross_entropy_with_logits(x, torch.zeros_like(x), reduction='none')": [*ENDS, -0.0],
    "F.binary_cross_entropy_with_logits(x, torch.ones_like(x), reduction='none')": [*ENDS, -0.0],
    "F.binary_cross_entropy_with_logits(x, torch.full_like(x, 0.3), reduction='none')": [*ENDS, -0.0],
    "F.binary_cross_entropy_with_logits(x, torch.full_like(x, 0.3), weight=torch.full_like(x, 2.0),"
    " reduction='none')": [*ENDS, -0.0],
    "F.binary_cross_entropy_with_logits(x, torch.full_like(x, 0.3), pos_weight=torch.tensor(3.0), reduction='none')": [
        *ENDS,
        -0.0,
    ],
    "F.binary_cross_entropy_with_logits(x, torch.ones_like(x), pos_weight=torch.tensor(3.0), reduction='none')": [
        *ENDS,
        -0.0,
    ],
    "F.binary_cross_entropy(x, torch.zeros_like(x), reduction='none')": [0.0, 1.0, 0.5, 1e-30, 1e-13],
    "F.binary_cross_entropy(x, torch.ones_like(x), reduction='none')": [0.0, 1.0, 0.5, 1e-30, 1e-13],
    "F.binary_cross_entropy(x, torch.full_like(x, 0.3), reduction='none')": [0.0, 1.0, 0.5, 1e-30, 1e-13],
    "F.binary_cross_entropy(x, torch.full_like(x, 0.3), weight=torch.full_like(x, 2.0), reduction='none')": [
        0.0,
        1.0,
        0.5,
        1e-30,
    ],
    "F.binary_cross_entropy(torch.sigmoid(x), torch.full_like(x, 0.3), reduction='none')": [-200.0, 0.0, 200.0],
}

VECTORS: dict[str, list[float]] = {
    "zeros": [0.0, 0.0, 0.0, 0.0],
    "one zero": [0.0, 3.0, -4.0, 1.0],
    "ties": [2.0, 2.0, 1.0, 1.0],
    "all the same": [2.0, 2.0, 2.0, 2.0],
    "NaN": [1.0, NAN, 2.0, NAN],
    "infinite": [INF, 1.0, -INF, 0.0],
    "tiny": [1e-30, -1e-30, 0.0, 1e-30],
}
OF_A_VECTOR = (
    "x.norm()",
    "x.norm(1)",
    "x.norm(0)",
    "x.norm(3)",
    "x.norm(0.5)",
    "x.norm(INF)",
    "x.norm(-INF)",
    "x.reshape(2, 2).norm(2, 1)",
    "x.reshape(2, 2).norm(1, 1)",
    "x.reshape(2, 2).norm(0, 1)",
    "x.reshape(2, 2).norm(3, 0, keepdim=True)",
    "x.reshape(2, 2).norm(INF, 1)",
    "x.std()",
    "x.std(unbiased=False)",
    "x.reshape(2, 2).std(1)",
    "x.var()",
    "x.reshape(2, 2).var(0)",
    "torch.std_mean(x)",
    "x.max()",
    "x.min()",
    "x.reshape(2, 2).max(0).values",
    "x.reshape(2, 2).min(1).values",
    "x.amax()",
    "x.amin()",
    "x.reshape(2, 2).amax(1)",
    "x.median()",
    "x.reshape(2, 2).median(0).values",
    "x.reshape(1, 4).median(1).values",
    "torch.aminmax(x)",
    "x.sort().values",
    "x.topk(2).values",
    "x.prod()",
    "x.cumsum(0)",
    "x.softmax(0)",
    "x.log_softmax(0)",
    "x.logsumexp(0)",
    "F.normalize(x, dim=0)",
    "F.normalize(x.reshape(2, 2), dim=1)",
    "F.normalize(x.reshape(2, 2), p=1, dim=1)",
    "F.normalize(x.reshape(2, 2), p=3, dim=1)",
    "F.cosine_similarity(x, torch.ones(4), dim=0)",
    "F.cosine_similarity(x, torch.zeros(4), dim=0)",
    "F.cosine_similarity(x.reshape(2, 2), x.reshape(2, 2).flip(0), dim=1)",
    "F.cosine_similarity(x, x, dim=0)",
    "F.pairwise_distance(x, torch.zeros(4))",
    "F.pairwise_distance(x, x.detach())",
    "F.pairwise_distance(x, x.detach(), eps=0)",
    "F.pairwise_distance(x, x.detach(), p=1, eps=0)",
    "torch.cdist(x.reshape(2, 2), x.reshape(2, 2).detach())",
    "torch.cdist(x.reshape(2, 2), x.reshape(2, 2))",
    "torch.cdist(x.reshape(2, 2), torch.zeros(1, 2))",
    "torch.cdist(x.reshape(2, 2), torch.zeros(1, 2), p=1)",
    "torch.cdist(x.reshape(2, 2), torch.zeros(1, 2), p=0)",
    "torch.cdist(x.reshape(2, 2), torch.zeros(1, 2), p=3)",
    "torch.cdist(x.reshape(2, 2), torch.zeros(1, 2), p=INF)",
    "F.max_pool1d(x.reshape(1, 1, 4), 2)",
    "F.adaptive_max_pool1d(x.reshape(1, 1, 4), 3)",
    "F.layer_norm(x, (4,))",
    "F.triplet_margin_loss(x.reshape(2, 2), x.reshape(2, 2).detach(), torch.zeros(2, 2))",
    "F.cross_entropy(x.reshape(2, 2), torch.tensor([0, 1]))",
    "F.cross_entropy(x.reshape(2, 2), torch.tensor([-100, -100]))",
    "F.nll_loss(x.reshape(2, 2), torch.tensor([0, 1]))",
    "torch.nn.utils.clip_grad_norm_([x], 1.0)",
)

# Where this torch answers otherwise, and why.
UNSETTLED = {
    # The squares leave float32: PyTorch adds them up in float64, this torch says that there is no deviation.
    *((text, "tiny") for text in OF_A_VECTOR if "std" in text),
    # Which of equal elements topk gives is nowhere promised.
    *(("x.topk(2).values", name) for name in ("zeros", "all the same")),
    # NaN is the largest number; PyTorch's cdist may lose it.
    *((text, "NaN") for text in OF_A_VECTOR if "cdist" in text and "p=INF" in text),
}

# Tensors where there could be numbers: who gets a gradient, and how much at a tie.
OF_TENSORS = (
    "a.clamp(min=b)",
    "a.clamp(max=b)",
    "a.clamp(b, c)",
    "a.clamp(b, b)",
    "torch.clamp(a, b, c)",
    "torch.clamp_min(a, b)",
    "torch.clamp_max(a, b)",
    "a.clone().clamp_(b, c)",
    "a.masked_fill(torch.tensor([True, False, True, False, True]), c[1])",
    "a.clone().masked_fill_(torch.tensor([True, False, True, False, True]), c[1])",
    "a.masked_fill(torch.tensor(True), c[1])",
    "torch.where(a > b, a, b)",
    "torch.where(a > 0, a, c[0])",
    "torch.maximum(a, b)",
    "torch.minimum(a, b)",
    "torch.max(a, b)",
    "torch.min(a, b)",
    "torch.remainder(a, b + 5)",
    "torch.div(a, b)",
    "torch.pow(a.abs(), b)",
    "torch.lerp(a, b, 0.25)",
    "a.clone().fill_(c[1])",
    "torch.full((2,), 1.0) * c[1]",
    "a.scatter(0, torch.tensor([1, 1]), b[:2])",
    "a.index_put((torch.tensor([1, 2]),), c[1])",
    "F.smooth_l1_loss(a, b)",
    "F.huber_loss(a, b)",
    "F.l1_loss(a, b)",
    "F.mse_loss(a, b)",
    "F.binary_cross_entropy_with_logits(a, b)",
    "F.binary_cross_entropy_with_logits(a, b.detach(), pos_weight=c.detach())",
    "F.binary_cross_entropy(torch.sigmoid(a[:3]), torch.sigmoid(b[:3]))",
    "F.binary_cross_entropy(torch.sigmoid(a[:3]), torch.sigmoid(b[:3]), c[:3].detach(), reduction='sum')",
    "F.binary_cross_entropy(a[[0, 2]], c[2:3].expand(2))",
    "F.kl_div(a, b.exp())",
    "F.kl_div(a, b, log_target=True)",
    "F.prelu(a, c[:1])",
    "F.margin_ranking_loss(a, b, torch.ones(5))",
)


def _gradients(torch: Any, text: str, names: dict[str, Any]) -> Any:
    """The value, the gradients of its sum by what may have one, and the gradients of those by the same."""
    leaves = {name: value for name, value in names.items() if value.requires_grad}
    value = eval(text, {"torch": torch, "F": torch.nn.functional, "INF": INF, "NAN": NAN, **names})
    values = list(value) if isinstance(value, tuple) else [value]
    answer: list[Any] = [item.detach() for item in values]
    total = sum(item.sum() for item in values)
    if not total.requires_grad:
        return [*answer, "no gradient"]
    first = torch.autograd.grad(total, list(leaves.values()), create_graph=True, allow_unused=True)
    return [*answer, *(None if grad is None else grad.detach() for grad in first)]


def _elementwise(text: str, points: list[float]) -> Case:
    return Case(lambda torch: _gradients(torch, text, {"x": torch.tensor(points, requires_grad=True)}), 2e-5, 1e-7)


def _of_vector(text: str, values: list[float]) -> Case:
    return Case(lambda torch: _gradients(torch, text, {"x": torch.tensor(values, requires_grad=True)}), 2e-5, 1e-6)


def _of_tensors(text: str) -> Case:
    def function(torch: Any) -> Any:
        leaves = {
            "a": torch.tensor([1.0, -2.0, 0.0, 3.0, NAN], requires_grad=True),
            "b": torch.tensor([1.0, 2.0, 0.5, NAN, 1.0], requires_grad=True),
            "c": torch.tensor([1.0, 3.0, 0.25, 4.0, 2.0], requires_grad=True),
        }
        return _gradients(torch, text, leaves)

    return Case(function, 2e-5, 1e-6)


CASES: dict[str, Case] = {
    **{text: _elementwise(text, points) for text, points in ELEMENTWISE.items()},
    **{
        f"{text} of {name}": _of_vector(text, values)
        for text in OF_A_VECTOR
        for name, values in VECTORS.items()
        if (text, name) not in UNSETTLED
    },
    **{text: _of_tensors(text) for text in OF_TENSORS},
}
