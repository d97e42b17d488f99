"""torch.nn.functional on every element type: what it gives, its gradients, and what it refuses."""

from __future__ import annotations

from typing import Any

from torch_golden import Case

from torch_cases.creation import NAMES

# Of a line (1, 1, 5), an image (1, 1, 4, 4), a volume (1, 1, 4, 4, 4), x of 6, rows (2, 3), probabilities p, targets t,
# a number per channel c; and filters of each number of dimensions.
EXPRESSIONS = (
    "max_pool1d(line, 2)",
    "max_pool1d(line, 2, return_indices=True)",
    "max_pool2d(image, 2)",
    "max_pool2d(image, 3, 1, 1, return_indices=True)",
    "max_pool3d(volume, 2)",
    "avg_pool1d(line, 2)",
    "avg_pool2d(image, 3, 2, 1)",
    "avg_pool3d(volume, 2)",
    "adaptive_avg_pool1d(line, 2)",
    "adaptive_avg_pool2d(image, 3)",
    "adaptive_avg_pool3d(volume, 2)",
    "adaptive_max_pool1d(line, 2)",
    "adaptive_max_pool2d(image, 3)",
    "adaptive_max_pool3d(volume, 2)",
    "unfold(image, 2)",
    "fold(image.reshape(1, 4, 4), (3, 3), 2)",
    "pixel_shuffle(image.reshape(1, 4, 2, 2), 2)",
    "batch_norm(image, None, None, None, None, True)",
    "batch_norm(image, c, c, c, c, False)",
    "batch_norm(image, c.float(), c.float(), c.float() + 0, c.float() + 1, True)",
    "batch_norm(image, c.double(), c.double())",
    "batch_norm(image, c.float(), c.float(), c, c)",
    "instance_norm(image)",
    "group_norm(image, 1)",
    "group_norm(image, 1, c, c)",
    "group_norm(image, 1, c.float(), c.float())",
    "layer_norm(image, (4,))",
    "silu(x)",
    "mish(x)",
    "logsigmoid(x)",
    "hardsigmoid(x)",
    "hardswish(x)",
    "leaky_relu(x)",
    "softplus(x)",
    "elu(x)",
    "selu(x)",
    "hardtanh(x)",
    "relu6(x)",
    "glu(x)",
    "prelu(x, c)",
    "gelu(x)",
    "mse_loss(x, p)",
    "l1_loss(x, p)",
    "smooth_l1_loss(x, p)",
    "huber_loss(x, p)",
    "kl_div(x, p)",
    "binary_cross_entropy(p, p)",
    "binary_cross_entropy_with_logits(x, p)",
    "nll_loss(rows, t)",
    "cross_entropy(rows, t)",
    "cross_entropy(rows, t, label_smoothing=0.1)",
    "conv1d(line, filter1)",
    "conv2d(image, filter2)",
    "conv3d(volume, filter3)",
    "conv_transpose1d(line, filter1)",
    "conv_transpose2d(image, filter2)",
    "conv_transpose3d(volume, filter3)",
)
LEAVES = ("line", "image", "volume", "x", "rows")


def _of(kind: str, text: str) -> Case:
    def function(torch: Any) -> Any:
        dtype = getattr(torch, kind)

        def numbers(*shape: int) -> Any:
            values = torch.arange(torch.Size(shape).numel()) * 7 % 11 + 1
            return (values / 4 if dtype.is_floating_point else values).to(dtype).reshape(shape)

        named = {
            "line": numbers(1, 1, 5),
            "image": numbers(1, 1, 4, 4),
            "volume": numbers(1, 1, 4, 4, 4),
            "x": numbers(6),
            "rows": numbers(2, 3),
            "p": torch.tensor([0, 1, 1, 0, 1, 1]).to(dtype),
            "t": torch.tensor([0, 2]),
            "c": torch.ones(1).to(dtype),
            **{f"filter{dims}": numbers(1, 1, *[2] * dims) for dims in (1, 2, 3)},
        }
        if dtype.is_floating_point:
            named |= {name: named[name].requires_grad_() for name in LEAVES}
        result = eval(f"F.{text}", {"F": torch.nn.functional, **named})
        first = result[0] if isinstance(result, tuple) else result
        if not first.requires_grad:
            return result
        weights = torch.arange(first.numel(), dtype=torch.float64).reshape(first.shape) / first.numel() + 0.5
        (first.double() * weights).sum().backward()
        return [result, [named[name].grad for name in LEAVES if named[name].grad is not None]]

    tolerance = {"float16": 2e-3, "bfloat16": 1.6e-2, "float64": 1e-7}.get(kind, 1e-5)
    return Case(function, tolerance, tolerance / 4)


CASES: dict[str, Case] = {f"{kind}: {text}": _of(kind, text) for kind in NAMES for text in EXPRESSIONS}
