"""Operators that torch shows beside torch.nn.functional, by PyTorch's schemas; parts of others; in-place functions.

Values, gradients and errors of expressions over what `nn_functions` names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch_cases.nn_functions import case_of

if TYPE_CHECKING:
    from torch_golden import Case

ACTIVATIONS = (
    "torch.celu(x, 0.7)",
    "torch.celu_(x * 1)",
    "torch.celu(x, 0)",
    "torch.threshold(x, 0.2, 5)",
    "torch.threshold_(x * 1, 0.2, 5)",
    "torch.threshold(torch.tensor([1, 5, -2]), 2, 3)",
    "torch.hardshrink(x)",
    "x.hardshrink(0.3)",
    "x.prelu(p[0])",
    "torch.rrelu(x, 0.1, 0.9, True)",
    "torch.rrelu_(x * 1)",
    "torch.rrelu(x, 0.9, 0.1)",
    "torch.alpha_dropout(x, 0.4, True)",
    "torch.alpha_dropout_(x * 1, 0.4, True)",
    "torch.alpha_dropout(x, 1.4, True)",
    "torch.feature_alpha_dropout(image, 0.4, True)",
    "torch.feature_alpha_dropout_(image * 1, 0.4, True)",
    "torch.native_dropout(x, 0.4, True)",
    "torch.native_dropout(x, 0.4, False)",
    "torch._safe_softmax(torch.stack((x[0], torch.full_like(x[0], float('-inf')))), -1)",
    "torch._softmax_backward_data(x.detach(), y.detach().softmax(-1), -1, torch.float64)",
    "torch._log_softmax_backward_data(x.detach(), y.detach().log_softmax(-1), -1, torch.float64)",
    "F.dropout2d(torch.ones(2, 4, 6), 0.5)",
)
IN_PLACE = (
    *(f"torch.{name}_(p * 1)" for name in ("abs", "acos", "arctan", "ceil", "erf", "exp2", "frac", "i0", "log10")),
    *(
        f"torch.{name}_(p * 1)"
        for name in ("logit", "negative", "reciprocal", "relu", "rsqrt", "sinc", "square", "fix")
    ),
    "torch.clamp_(x * 1, -0.5, 0.5)",
    "torch.clip_(x * 1, max=0.1)",
    "torch.clamp_min_(x * 1, 0.1)",
    "torch.addmv_(x[:, 0] * 1, x, y[0])",
    "torch.xlogy_(p * 1, p)",
    "torch.ldexp_(x * 1, torch.tensor(2.0))",
    "torch.gcd_(torch.tensor([4, 6]), torch.tensor([6, 9]))",
    "torch.round_(x * 100, decimals=-1)",
    "torch.abs_(p)",
    "torch.ones(3, 3).fill_diagonal_(2)",
    "(x * 1).fill_diagonal_(0.5)",
    "torch.ones(7, 3).fill_diagonal_(2, wrap=True)",
    "torch.ones(3, 3, 3).transpose(0, 1).fill_diagonal_(2)",
    "torch.ones(3).fill_diagonal_(2)",
    "torch.ones(2, 3, 3).fill_diagonal_(2)",
    "torch.embedding_renorm_(x.detach() * 1, t, 0.5, 2.0)",
)
LOSSES = (
    "torch.poisson_nll_loss(x, p, True, True, 1e-8, 1)",
    "torch.poisson_nll_loss(p, p * 4, False, True, 1e-8, 0)",
    "torch.hinge_embedding_loss(x, (y > 0) * 2.0 - 1, 0.5, 0)",
    "torch.cosine_embedding_loss(x, y, s, 0.1, 2)",
    "torch.cosine_embedding_loss(x, y, x)",
    "torch.ctc_loss(log_probs, torch.tensor([[1, 2, 2], [3, 1, 0], [1, 0, 0]]), [6, 5, 6], [3, 2, 1], 0, 1)",
    "torch.ctc_loss(log_probs, torch.tensor([1, 2, 2, 3, 1]), torch.tensor([6, 5, 3]), torch.tensor([3, 2, 0]), 0, 2)",
)
PRODUCTS = (
    "torch.pdist(x)",
    "torch.pdist(x, 1)",
    "torch.pdist(x[0])",
    "torch.bilinear(x, y, w3, p[0, :2])",
    "torch.bilinear(x, y[:2], w3)",
    "torch.bilinear(x, y[:, :3], w3)",
    "torch.conv_tbc(q, w3.permute(0, 2, 1), p[0], 1)",
    "torch.channel_shuffle(image, 2)",
    "torch.channel_shuffle(image, 3)",
    "torch.channel_shuffle(x, 2)",
    "torch.norm_except_dim(q, 2, 1)",
    "torch.norm_except_dim(q, 1, -1)",
    "F.grouped_mm(torch.ones(5, 8).bfloat16(), torch.ones(2, 8, 16).bfloat16(), offs=torch.tensor([2, 5]).int())",
    "F.grouped_mm(w3.float(), w3.float())",
    "F.grouped_mm(torch.ones(5, 8).bfloat16(), torch.ones(2, 8, 16).bfloat16())",
)
PARTS = (
    "torch.native_batch_norm(image, p[0], y[0], None, None, True, 0.1, 1e-5)",
    "torch._native_batch_norm_legit(image, p[0], None, True, 0.1, 1e-5)",
    "torch._native_batch_norm_legit(image, None, None, p[0].detach() * 1, p[1].detach() * 1, True, 0.1, 1e-5)",
    "torch.batch_norm_update_stats(image.detach(), p[0].detach() * 1, p[1].detach() * 1, 0.1)",
    "torch.native_group_norm(image, p[0], y[0], 2, 4, 42, 2, 1e-5)",
    "F.group_norm(torch.zeros(0, 4, requires_grad=True), 2, torch.ones(4), torch.ones(4)).requires_grad",
    "F.rms_norm(torch.tensor([300.0, 400.0], dtype=torch.float16), (2,))",
    *(f"torch.segment_reduce(q, '{kind}', lengths=torch.tensor([2, 0, 3]))" for kind in ("sum", "mean", "max", "prod")),
    *(
        f"torch.segment_reduce(x, '{kind}', lengths=torch.tensor([[1, 3], [0, 4], [2, 2]]), axis=1, initial=1)"
        for kind in ("sum", "mean", "max", "min", "prod")
    ),
    "torch.segment_reduce(x, 'sum', offsets=torch.tensor([0, 1, 1, 3]))",
    "torch.segment_reduce(x, 'sum', lengths=torch.tensor([1, 1]), unsafe=True)",
    "torch.segment_reduce(x, 'sum', lengths=torch.tensor([1, 1]))",
    "torch.segment_reduce(x, 'sum', lengths=torch.tensor([-1, 4]))",
    "torch.segment_reduce(x, 'sum')",
    "torch.segment_reduce(x, 'median', lengths=torch.tensor([3]))",
    "torch._chunk_cat([x.detach(), q[0][:2].detach()], 0, 2)",
    "torch._chunk_cat([x.detach(), y.detach()], 1, 3)",
    "torch._chunk_cat([], 0, 2)",
    "torch.hash_tensor(torch.arange(7.0))",
    "torch.hash_tensor(torch.tensor([[1, 2, 4], [-1, 7, 7]]), 1, keepdim=True)",
    "torch.arange(24.0).reshape(2, 3, 4).hash_tensor((0, 2))",
    "torch.hash_tensor(x, mode=1)",
    "torch.hash_tensor(torch.empty(0, 3), 1)",
    "torch.hash_tensor(torch.empty(0, 3), 0)",
    "torch._unsafe_masked_index(x, torch.tensor([True, False]), [torch.tensor([1, 9])], 0.5)",
    "torch._unsafe_masked_index_put_accumulate(x, torch.tensor([True, False]), [torch.tensor([1, 9])], y[:2])",
    "torch.embedding_bag(q[0], b.flatten(), torch.tensor([0, 0, 3]), mode=1)",
    "torch.embedding_bag(q[0], b.flatten(), torch.tensor([0, 0, 3]), False, 2, False, None, False, 1)",
)
PLACES = (
    "torch.grid_sampler(image, grid, 0, 1, True)",
    "torch.grid_sampler_2d(image, grid, 2, 0, False)",
    "torch.grid_sampler_3d(volume, grid3, 0, 2, False)",
    "torch.affine_grid_generator(theta, (2, 1, 3, 4), False)",
)
RECURRENCES = (
    "torch.lstm_cell(x, [y[:, :1], y[:, 1:2]], w3[0], w3[0][:, :1])",
    "torch.gru_cell(x, y[:, :1], x, x[:, :1], p[:, 0], p[:, 1])",
    "torch.rnn_tanh_cell(x, y[:, :3], x, x[:, :3])",
    "torch.rnn_relu_cell(x, y[:, :3], x, x[:, :3], p[:, 0], p[:, 1])",
    "torch.lstm(q, [q[:1, :, :1], q[1:2, :, :1]], [w3[0], w3[0][:, :1]], False, 1, 0.0, False, False, False)",
    "torch.gru(q, q[:1, :1, :1].expand(1, 5, 1), [x, x[:, :1], p[:, 0], p[:, 1]], True, 1, 0.0, False, False, True)",
    "torch.rnn_tanh(q, q[:2, :, :3], [x, x[:, :3], x, x[:, :3]], False, 1, 0.0, False, True, False)",
    "torch.rnn_relu(q.reshape(15, 4)[:6], torch.tensor([3, 2, 1]), q[:1, :, :3], [x, x[:, :3]], False, 1, 0.0, False,"
    " False)",
    "torch.lstm(q.reshape(15, 4)[:6], torch.tensor([3, 2, 1]), [q[:2, :, :1], q[2:4, :, :2]], [*(w3.reshape(8, 4),"
    " w3.reshape(8, 4)[:, :1], w3[0, :2].flatten(), y[:2].flatten(), x[:1, :2]) * 2], True, 1, 0.0,"
    " False, True)",
    "torch.gru(q.reshape(15, 4)[:6], torch.tensor([3, 2, 1]), q[:2, :, :1], [x, x[:, :1]] * 2, False, 1,"
    " 0.0, False, True)",
    "torch.lstm(q, [q[:2, :, :1], q[2:4, :, :1]], [w3[0], w3[0][:, :1], w3[1], w3[1][:, :1]], False, 1, 0.0, True,"
    " True, False)",
)
WRONG = (
    *(f"F.adaptive_{kind}_pool2d(x, (2, 2))" for kind in ("avg", "max")),
    "F.adaptive_avg_pool3d(line, (2, 2, 2))",
    "F.linear_cross_entropy(q, torch.ones(2, 4).double(), torch.ones(5, 3).long())",
    "torch.slice_copy(torch.tensor(1.0))",
    "torch.threshold(torch.tensor([True]), 0, 1)",
    "torch.lstm_cell(x, [y[:, :1]], w3[0], w3[0][:, :1])",
    "torch.gru_cell(x, y[:, :1], x[:2], x[:, :1])",
    "torch.affine_grid_generator(theta, (2, 1, 3), False)",
    "torch.embedding_bag(q[0], b.flatten(), torch.tensor([0]), mode=7)",
    "torch.bilinear(x, y, w3, p[0, :3])",
    "torch.pdist(torch.ones(3, 2, dtype=torch.int32))",
    "torch.segment_reduce(x, 'max', lengths=torch.tensor([2, 2]), axis=5)",
    "torch._chunk_cat([x.detach(), x[0].detach()], 1, 2)",
)
COPIES = (
    "torch.detach_copy(x.detach())",
    "torch.select_copy(x, 1, 2)",
    "torch.slice_copy(x, 1, 1, None, 2)",
    "torch.split_copy(x, 2)",
    "torch.view_as_real_copy(torch.view_as_complex(x.reshape(6, 2)))",
    "torch.view_as_complex_copy(x.detach().reshape(6, 2))",
    "torch.slice_inverse(torch.arange(4.0), torch.ones(2), 0, 1, 3)",
    "x.where(y > 0, p)",
    "x.where(y > 0, 2.5)",
)
BENDS = (
    "torch.tensor([float('inf'), 0.0, 2.0], dtype=torch.float64) @ torch.ones(3, dtype=torch.float64)",
    "torch.autograd.grad((z := torch.tensor([float('inf'), 0.0, 2.0], requires_grad=True)).prod(), z)",
    "torch.autograd.grad((z := torch.tensor([float('inf'), 0.0, 0.0], requires_grad=True)).prod(), z)",
    "torch.autograd.grad((z := torch.tensor([float('nan'), 0.0, 2.0], requires_grad=True)).prod(), z)",
    "torch.autograd.grad((z := torch.tensor([[float('inf'), 0.0], [3.0, 0.0]], requires_grad=True)).prod(1).sum(), z)",
    "torch.nextafter(x, y)",
    *(
        f"torch.nextafter(torch.tensor([1.0, 0.0, 6e-8, 65504.0, 2.0, float('nan')], dtype=torch.{dtype}), "
        f"torch.tensor([2.0, -1.0, -1.0, float('inf'), 2.0, 1.0], dtype=torch.{dtype}))"
        for dtype in ("float16", "bfloat16")
    ),
    "torch.linalg.matrix_power(x[:, :3], 0)",
    "torch.take(x, torch.empty(0, dtype=torch.int64))",
    "x.put(torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.float64))",
    "torch.gather(x, 1, torch.empty(3, 0))",
    "torch.roll(torch.tensor(1.0), 1, 0)",
    "torch.gradient(x, spacing=[0.1], dim=(1, 0))",
    "torch.logspace(1, -3, 4, 5.0, dtype=torch.int64)",
    "torch.logspace(0, 3, 3, dtype=torch.int64)",
    "torch.rrelu(x[0, 0], 0.1, 0.9, True)",
    "torch.tensor(5, dtype=torch.uint8).sum_to_size(())",
    "torch.linalg.householder_product(torch.zeros(0, 0, requires_grad=True), torch.zeros(0)).requires_grad",
    "torch.diag(x[0, :3], out=torch.zeros(1, 1, dtype=torch.float64).expand(3, 3))",
    "torch.cdist(x, y, 0.0)",
    "torch.pdist(x, 0)",
    "torch.pdist(torch.tensor([[float('nan'), 1.0], [0.0, 1.0]]), 0)",
    "torch.cdist(torch.tensor([[float('nan'), 1.0]]), torch.tensor([[0.0, 1.0]]), p=0)",
    "F.rms_norm(torch.ones(2).half(), (2,), torch.ones(2)).dtype",
    "torch.view_as_real(torch.logaddexp(torch.tensor([complex('-inf')]), torch.tensor([complex('-inf')])))",
    "torch.logspace(0, 1.2, 2, dtype=torch.int64)",
    "torch.logspace(-1.5, 2.5, 3, dtype=torch.int32)",
    "F.group_norm(image, 2, p[0], y[0])",
    "torch.histogramdd(torch.empty(0, 2), [1, 1])",
    *(f"torch.randn({count}, dtype=torch.{dtype})" for count in (15, 16, 25, 33) for dtype in ("float16", "bfloat16")),
    "torch.empty(5000, dtype=torch.bfloat16).uniform_(1, 2).max()",
    "torch.empty(3, dtype=torch.complex128).normal_(-2, 1)",
    "F.interpolate(torch.tensor([[[[0, 1, 255], [10, 20, 30]]]], dtype=torch.uint8), size=(4, 5), mode='bilinear')",
    "F.multi_margin_loss(torch.tensor(0.5), torch.tensor(0))",
    "F.fractional_max_pool3d(torch.empty(0, 1, 4, 5, 4), 2, output_ratio=0.5)",
)
COMPLEX = (
    "torch.logaddexp(torch.complex(x, y), torch.complex(y, x)).abs()",
    "torch.logcumsumexp(torch.complex(x, y), 1).abs()",
    "torch.view_as_real(torch.logaddexp(torch.complex(x, y), torch.complex(y, x)))",
    "torch.view_as_real(torch.logcumsumexp(torch.complex(x, y) * 100, 0))",
    "torch.logaddexp2(torch.complex(x, y), torch.complex(y, x))",
)
EXPRESSIONS = (
    *COMPLEX,
    *ACTIVATIONS,
    *IN_PLACE,
    *LOSSES,
    *PRODUCTS,
    *PARTS,
    *PLACES,
    *RECURRENCES,
    *WRONG,
    *COPIES,
    *BENDS,
)
CASES: dict[str, Case] = {text: case_of(text) for text in EXPRESSIONS}
