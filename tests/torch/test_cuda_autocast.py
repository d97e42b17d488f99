"""Autocast on CUDA devices: the dtype of what each operator of PyTorch's lists gives, and training with it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))

HALF, BRAIN, SINGLE = torch.float16, torch.bfloat16, torch.float32

# Calls with x in float32 and h in float16, both 4 x 4.
LOWER: dict[str, Callable[[Any, Any], Any]] = {
    "addbmm": lambda x, h: torch.addbmm(x, x[None], x[None]),
    "addmm": lambda x, h: torch.addmm(x, x, x),
    "addmv": lambda x, h: torch.addmv(x[0], x, x[0]),
    "addr": lambda x, h: torch.addr(x, x[0], x[1]),
    "baddbmm": lambda x, h: torch.baddbmm(x[None], x[None], x[None]),
    "bmm": lambda x, h: torch.bmm(x[None], h[None]),
    "chain_matmul": lambda x, h: torch.chain_matmul(x, x, x),
    "conv1d": lambda x, h: functional.conv1d(x[None], x[:, :, None]),
    "conv2d": lambda x, h: functional.conv2d(x[None, None], x[None, None, :2, :2]),
    "conv3d": lambda x, h: functional.conv3d(x[None, None, None], x[None, None, None, :2, :2]),
    "conv_transpose1d": lambda x, h: functional.conv_transpose1d(x[None], x[:, :, None]),
    "conv_transpose2d": lambda x, h: functional.conv_transpose2d(x[None, None], x[None, None, :2, :2]),
    "einsum": lambda x, h: torch.einsum("ij,jk->ik", x, h),
    "gru": lambda x, h: nn.GRU(4, 3, device="cuda")(x)[0],
    "gru_cell": lambda x, h: nn.GRUCell(4, 3, device="cuda")(x),
    "linear": lambda x, h: functional.linear(x, x),
    "lstm": lambda x, h: nn.LSTM(4, 3, device="cuda")(x)[0],
    "lstm_cell": lambda x, h: nn.LSTMCell(4, 3, device="cuda")(x)[0],
    "matmul": lambda x, h: x @ h,
    "mm": lambda x, h: x.mm(x),
    "module": lambda x, h: nn.Linear(4, 2, device="cuda")(x),
    "multi_dot": lambda x, h: torch.linalg.multi_dot([x, x, x]),
    "mv": lambda x, h: x.mv(x[0]),
    "prelu": lambda x, h: functional.prelu(x, x[0, :1]),
    "rnn_cell": lambda x, h: nn.RNNCell(4, 3, device="cuda")(x),
    "scaled_dot_product_attention": lambda x, h: functional.scaled_dot_product_attention(x[None], x[None], x[None]),
    "vecdot": lambda x, h: torch.linalg.vecdot(x, x),
}
SINGLES: dict[str, Callable[[Any, Any], Any]] = {
    "acos": lambda x, h: h.acos(),
    "asin": lambda x, h: torch.asin(h),
    "binary_cross_entropy_with_logits": lambda x, h: functional.binary_cross_entropy_with_logits(h, h),
    "cdist": lambda x, h: torch.cdist(h, h),
    "cosh": lambda x, h: h.cosh(),
    "cosine_embedding_loss": lambda x, h: functional.cosine_embedding_loss(h, h, h[0]),
    "cosine_similarity": lambda x, h: functional.cosine_similarity(h, h),
    "cross_entropy": lambda x, h: functional.cross_entropy(h, torch.arange(4, device="cuda")),
    "cumprod": lambda x, h: h.cumprod(0),
    "cumsum": lambda x, h: h.cumsum(0),
    "dist": lambda x, h: torch.dist(h, h),
    "divided number": lambda x, h: 2 / h,
    "erfinv": lambda x, h: h.erfinv(),
    "exp": lambda x, h: h.exp(),
    "expm1": lambda x, h: h.expm1(),
    "group_norm": lambda x, h: functional.group_norm(h, 2),
    "hinge_embedding_loss": lambda x, h: functional.hinge_embedding_loss(h, h),
    "huber_loss": lambda x, h: functional.huber_loss(h, h),
    "interpolate": lambda x, h: functional.interpolate(h[None], 8),
    "kl_div": lambda x, h: functional.kl_div(h, h, reduction="sum"),
    "l1_loss": lambda x, h: functional.l1_loss(h, h),
    "layer_norm": lambda x, h: functional.layer_norm(h, (4,)),
    "linalg.norm": lambda x, h: torch.linalg.norm(h),
    "linalg.vector_norm": lambda x, h: torch.linalg.vector_norm(h),
    "log": lambda x, h: h.log(),
    "log10": lambda x, h: h.log10(),
    "log1p": lambda x, h: h.log1p(),
    "log2": lambda x, h: h.log2(),
    "log_softmax": lambda x, h: functional.log_softmax(h, -1),
    "logsumexp": lambda x, h: h.logsumexp(0),
    "margin_ranking_loss": lambda x, h: functional.margin_ranking_loss(h, h, h),
    "mse_loss": lambda x, h: functional.mse_loss(h, h),
    "multi_margin_loss": lambda x, h: functional.multi_margin_loss(h, torch.arange(4, device="cuda")),
    "nll_loss": lambda x, h: functional.nll_loss(h, torch.arange(4, device="cuda")),
    "norm": lambda x, h: h.norm(),
    "normalize": lambda x, h: functional.normalize(h),
    "pairwise_distance": lambda x, h: functional.pairwise_distance(h, h),
    "pdist": lambda x, h: functional.pdist(h),
    "poisson_nll_loss": lambda x, h: functional.poisson_nll_loss(h, h),
    "pow": lambda x, h: h.pow(2),
    "power": lambda x, h: h**2,
    "power of a number": lambda x, h: 2**h,
    "prod": lambda x, h: h.prod(),
    "reciprocal": lambda x, h: h.reciprocal(),
    "renorm": lambda x, h: h.renorm(1, 0, 5),
    "rsqrt": lambda x, h: h.rsqrt(),
    "sinh": lambda x, h: h.sinh(),
    "smooth_l1_loss": lambda x, h: functional.smooth_l1_loss(h, h),
    "soft_margin_loss": lambda x, h: functional.soft_margin_loss(h, h),
    "softmax": lambda x, h: functional.softmax(h, -1),
    "softmin": lambda x, h: functional.softmin(h, -1),
    "softplus": lambda x, h: functional.softplus(h),
    "sum": lambda x, h: h.sum(),
    "sum of rows": lambda x, h: h.sum(0),
    "tan": lambda x, h: h.tan(),
    "triplet_margin_loss": lambda x, h: functional.triplet_margin_loss(h, h, h),
    # in the widest dtype
    "add": lambda x, h: x + h,
    "addcdiv": lambda x, h: torch.addcdiv(h, h, x),
    "addcmul": lambda x, h: torch.addcmul(h, x, h),
    "atan2": lambda x, h: torch.atan2(h, x),
    "bilinear": lambda x, h: functional.bilinear(h, h, x[None]),
    "cat": lambda x, h: torch.cat([h, x]),
    "cross": lambda x, h: torch.cross(h[:, :3], x[:, :3], dim=1),
    "dot": lambda x, h: torch.dot(h[0], x[0]),
    "grid_sample": lambda x, h: functional.grid_sample(h[None, None], x[None, :, :2][:, None], align_corners=False),
    "index_put": lambda x, h: torch.index_put(x, [torch.tensor([1], device="cuda")], h[0]),
    "inner": lambda x, h: torch.inner(h, x),
    "scatter_add": lambda x, h: torch.scatter_add(x, 0, torch.zeros(1, 4, dtype=torch.int64, device="cuda"), h),
    "stack": lambda x, h: torch.stack([h, x]),
    "tensordot": lambda x, h: torch.tensordot(h, x, 1),
}
KEPT: dict[str, Callable[[Any, Any], Any]] = {
    "relu": lambda x, h: h.relu(),
    "gelu": lambda x, h: functional.gelu(h),
    "mean": lambda x, h: h.mean(),
    "area": lambda x, h: functional.interpolate(h[None], 2, mode="area"),
    "in place": lambda x, h: h.clone().exp_(),
    "sum of a dtype": lambda x, h: h.sum(dtype=HALF),
    "softmax of a dtype": lambda x, h: functional.softmax(h, -1, dtype=HALF),
    "trace": lambda x, h: h.trace(),
    "dot": lambda x, h: torch.dot(h[0], h[0]),
    "cat": lambda x, h: torch.cat([h, h]),
    "out": lambda x, h: torch.exp(h, out=torch.empty_like(h)),
}


def _operands(dtype: torch.dtype = HALF) -> tuple[Any, Any]:
    x = torch.linspace(0.1, 0.9, 16, device="cuda").reshape(4, 4)
    return x, x.to(dtype)


@pytest.mark.parametrize("dtype", [HALF, BRAIN])
@pytest.mark.parametrize("name", LOWER)
def test_computed_in_fewer_bits(name: str, dtype: torch.dtype) -> None:
    with torch.autocast("cuda", dtype=dtype):
        assert LOWER[name](*_operands(dtype)).dtype is dtype
    assert LOWER[name](*_operands(SINGLE)).dtype is SINGLE


@pytest.mark.parametrize("name", SINGLES)
def test_computed_in_float32(name: str) -> None:
    with torch.autocast("cuda"):
        result = SINGLES[name](*_operands())
        assert result.dtype is SINGLE
    assert result.isfinite().all() or name == "erfinv"


@pytest.mark.parametrize("name", KEPT)
def test_computed_in_what_it_gets(name: str) -> None:
    with torch.autocast("cuda"):
        assert KEPT[name](*_operands()).dtype is HALF


def test_defaults_and_switches() -> None:
    assert torch.get_autocast_gpu_dtype() is torch.get_autocast_dtype("cuda") is HALF
    assert not torch.is_autocast_enabled()
    with torch.autocast("cuda", dtype=BRAIN):
        assert torch.is_autocast_enabled()
        assert torch.is_autocast_enabled("cuda")
        assert not torch.is_autocast_enabled("cpu")
        assert torch.get_autocast_gpu_dtype() is BRAIN
    assert torch.get_autocast_gpu_dtype() is HALF
    torch.set_autocast_enabled("cuda", True)
    try:
        assert (_operands()[0] @ _operands()[0]).dtype is HALF
        torch.set_autocast_gpu_dtype(BRAIN)
        assert (_operands()[0] @ _operands()[0]).dtype is BRAIN
    finally:
        torch.set_autocast_enabled(False)
        torch.set_autocast_gpu_dtype(HALF)
    assert (_operands()[0] @ _operands()[0]).dtype is SINGLE
    with torch.cuda.amp.autocast():
        assert (_operands()[0] @ _operands()[0]).dtype is HALF


def test_each_device_has_its_block() -> None:
    x, here = _operands()[0], torch.ones(4, 4)
    with torch.autocast("cuda"):
        assert (here @ here).dtype is SINGLE
        with torch.autocast("cpu"):
            assert (here @ here).dtype is BRAIN
            assert (x @ x).dtype is HALF
            with torch.autocast("cuda", enabled=False):
                assert (here @ here).dtype is BRAIN
                assert (x @ x).dtype is SINGLE
            assert (x @ x).dtype is HALF
        with torch.autocast("cuda", dtype=BRAIN):
            assert (x @ x).dtype is BRAIN
    with torch.autocast("cpu"):
        assert (x @ x).dtype is SINGLE


def test_other_dtypes_stay() -> None:
    x = _operands()[0].double()
    with torch.autocast("cuda"):
        assert (x @ x).dtype is torch.float64
        assert x.sum().dtype is torch.float64
        assert (torch.arange(4, device="cuda") ** 2).dtype is torch.int64


def test_parameters_are_converted_once() -> None:
    weight = torch.ones(4, 4, device="cuda", requires_grad=True)
    x = _operands()[0]
    with torch.autocast("cuda"):
        nodes = [(x @ weight).grad_fn.next_functions[1][0] for _ in range(2)]
        assert nodes[0] is nodes[1]
        with torch.autocast("cuda", dtype=BRAIN):
            assert (x @ weight).dtype is BRAIN
    with torch.autocast("cuda", cache_enabled=False):
        nodes = [(x @ weight).grad_fn.next_functions[1][0] for _ in range(2)]
        assert nodes[0] is not nodes[1]


def test_probabilities_are_refused() -> None:
    x = _operands()[0]
    for dtype in (HALF, BRAIN):
        with torch.autocast("cuda", dtype=dtype), pytest.raises(RuntimeError, match="unsafe to autocast"):
            functional.binary_cross_entropy(x, x)
    with torch.autocast("cuda"):
        assert functional.binary_cross_entropy(x.cpu(), x.cpu()).dtype is SINGLE


def test_functions_with_decorators() -> None:
    seen: list[Any] = []

    class Doubled(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cuda", cast_inputs=SINGLE)
        def forward(ctx: Any, x: Any) -> Any:
            seen.append((x.dtype, torch.is_autocast_enabled("cuda")))
            return x * 2

        @staticmethod
        @torch.amp.custom_bwd(device_type="cuda")
        def backward(ctx: Any, grad: Any) -> Any:
            seen.append(torch.is_autocast_enabled("cuda"))
            return grad * 2

    x = _operands()[1].requires_grad_()
    with torch.autocast("cuda"):
        out = Doubled.apply(x)
    out.sum().backward()
    assert x.grad.dtype is HALF
    assert seen == [(SINGLE, False), False]


def test_training_with_a_scaler() -> None:
    torch.manual_seed(0)
    x, y = torch.randn(8, 4, device="cuda"), torch.randint(3, (8,), device="cuda")
    net: Any = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.GELU(), nn.Linear(4, 3)).cuda()
    plain = copy.deepcopy(net)
    losses: dict[str, list[float]] = {"mixed": [], "plain": []}
    scaler = torch.amp.GradScaler("cuda", init_scale=1024.0, growth_interval=2)
    for name, model in (("mixed", net), ("plain", plain)):
        optimizer = torch.optim.SGD(model.parameters(), 0.5)
        for _ in range(3):
            optimizer.zero_grad()
            with torch.autocast("cuda", enabled=name == "mixed"):
                logits = model(x)
                loss = functional.cross_entropy(logits, y)
            assert logits.dtype is (HALF if name == "mixed" else SINGLE)
            assert loss.dtype is SINGLE
            losses[name].append(loss.item())
            if name == "mixed":
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
            else:
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
    assert losses["mixed"] == pytest.approx(losses["plain"], rel=0.05)
    assert losses["mixed"][-1] < losses["mixed"][0]
    assert scaler.get_scale() == 2048.0
    assert all(parameter.grad.dtype is SINGLE for parameter in net.parameters())


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_a_step_that_is_not_finite_is_left_out(bad: float) -> None:
    weight = torch.nn.Parameter(torch.ones(4, device="cuda"))
    other = torch.nn.Parameter(torch.ones(0, device="cuda"))
    optimizer = torch.optim.SGD([weight, other], 0.1)
    scaler = torch.amp.GradScaler("cuda", init_scale=8.0)
    scaler.scale(weight.sum()).backward()
    weight.grad[2] = bad
    assert scaler.step(optimizer) is None
    scaler.update()
    assert weight.eq(1).all()
    assert scaler.get_scale() == 4.0
    optimizer.zero_grad()
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert torch.allclose(weight, torch.full_like(weight, 0.9))


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoints_compute_again_as_before(reentrant: bool) -> None:
    weight = torch.ones(4, 4, device="cuda", requires_grad=True)
    seen: list[Any] = []

    def run(x: Any) -> Any:
        out = functional.dropout(x @ weight, 0.5)
        seen.append(out.detach())
        return out * out

    x = _operands()[0].requires_grad_()
    with torch.autocast("cuda", dtype=BRAIN):
        out = torch.utils.checkpoint.checkpoint(run, x, use_reentrant=reentrant)
    before = torch.cuda.get_rng_state()
    out.sum().backward()
    assert seen[0].dtype is seen[1].dtype is BRAIN
    assert torch.equal(seen[0], seen[1])
    assert torch.equal(torch.cuda.get_rng_state(), before)
