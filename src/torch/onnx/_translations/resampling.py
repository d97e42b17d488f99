"""Images of other sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.onnx._graph import Dim, Var
from torch.onnx._rows import row

if TYPE_CHECKING:
    from torch.onnx._graph import Graph


_NEAREST = {
    "nearest": {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    "nearest-exact": {"coordinate_transformation_mode": "half_pixel", "nearest_mode": "round_prefer_ceil"},
}


@row("_interpolate")
def interpolate(
    g: Graph,
    x: Var,
    output_size: Any,
    factor_d: Any,
    factor_h: Any,
    factor_w: Any,
    mode: str,
    align_corners: bool,
    antialias: bool,
) -> Any:
    if antialias:
        return _filtered(g, x, output_size, [factor_h, factor_w], mode, align_corners)
    attributes: dict[str, Any] = dict(_NEAREST.get(mode, {}))
    if not attributes:
        between = "half_pixel" if mode == "cubic" else "pytorch_half_pixel"
        attributes["coordinate_transformation_mode"] = "align_corners" if align_corners else between
    if mode == "cubic":
        attributes["cubic_coeff_a"] = -0.75
    attributes["mode"] = mode.removesuffix("-exact")
    factors = [each for each in (factor_d, factor_h, factor_w) if each is not None]
    if len(factors) == x.rank - 2 and not any(isinstance(each, Dim) for each in factors):
        # They say more than the sizes: where the points lie.
        return g.op("Resize", x, None, g.constant([1.0, 1.0, *map(float, factors)]), **attributes)
    sizes = g.sizes([*(g.size_of(x, axis) for axis in (0, 1)), *output_size])
    return g.op("Resize", x, None, None, sizes, **attributes)


def _filtered(g: Graph, x: Var, output_size: Any, factors: list[Any], mode: str, align_corners: bool) -> Any:
    """With antialias: torch's own filter as two matrices, because that of ONNX is another (and begins at opset 18)."""
    for axis in (2, 3):
        size, wanted, factor = x.size(axis), output_size[axis - 2], factors[axis - 2]
        if isinstance(wanted, Dim) or isinstance(factor, Dim):
            raise NotImplementedError("antialias to a size that is dynamic")
        unit = torch.eye(size, dtype=torch.float64).reshape(1, 1, size, size)
        steps = (None, factor, None if factor is None else 1.0)
        matrix = torch._C._nn._interpolate(unit, [wanted, size], *steps, mode, align_corners, True)[0, 0]
        weights = g.constant(matrix.to(x.dtype))
        made = g.op("MatMul", weights, x) if axis == 2 else g.op("MatMul", x, g.transpose(weights, [1, 0]))
        shape = [*(x.shape or ())]
        shape[axis] = wanted
        x = Var(made.name, x.dtype, tuple(shape))
    return x


@row("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def grid_sampler(g: Graph, x: Var, grid: Var, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    if x.rank == 5 and g.opset < 20:
        raise NotImplementedError("of volumes before opset 20")
    modes = ["linear", "nearest", "cubic"] if g.opset >= 20 else ["bilinear", "nearest", "bicubic"]
    paddings = ["zeros", "border", "reflection"]
    return g.op("GridSample", x, grid, mode=modes[interpolation_mode], padding_mode=paddings[padding_mode],
                align_corners=int(align_corners))  # fmt: skip


@row("affine_grid_generator", opset=20)
def affine_grid_generator(g: Graph, theta: Var, size: Any, align_corners: bool) -> Any:
    return g.op("AffineGrid", theta, g.sizes(list(size)), align_corners=int(align_corners))
