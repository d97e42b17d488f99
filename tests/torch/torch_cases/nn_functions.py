"""torch.nn.functional, init and utils: values, gradients and random numbers, in float64; and errors of their options.

Of a line, image and volume (2, 4, ...), rows x and y (3, 4), probabilities p (3, 4), classes t (3), signs s (3), and
sequences q (5, 3, 4).
"""

from __future__ import annotations

import importlib
from typing import Any

from torch_golden import Case

LEAVES = ("line", "image", "volume", "x", "y", "p", "q", "grid", "grid3", "theta", "log_probs", "w3")
SIZES = ("size=(3, 11)", "scale_factor=1.7", "scale_factor=0.6", "scale_factor=(2.0, 0.5), recompute_scale_factor=True")

RESIZED = (
    *(f"F.interpolate(line, size=7, mode='{mode}')" for mode in ("nearest", "nearest-exact", "linear", "area")),
    *(
        f"F.interpolate(image, {size}, mode='{mode}')"
        for size in SIZES
        for mode in ("nearest", "nearest-exact", "area")
    ),
    *(
        f"F.interpolate(image, {size}, mode='{mode}', align_corners={corners})"
        for size in SIZES
        for mode in ("bilinear", "bicubic")
        for corners in (False, True)
    ),
    *(
        f"F.interpolate(image, {size}, mode='{mode}', antialias=True)"
        for size in SIZES
        for mode in ("bilinear", "bicubic")
    ),
    "F.interpolate(volume, size=(3, 5, 7), mode='trilinear')",
    "F.interpolate(volume, scale_factor=2, mode='nearest')",
    "F.interpolate(image.float(), scale_factor=1.3, mode='nearest')",
    "F.interpolate(line, size=7, scale_factor=2)",
    "F.interpolate(line)",
    "F.interpolate(line, size=7, mode='bilinear')",
    "F.interpolate(image, size=7, mode='linear')",
    "F.interpolate(image, size=(7,))",
    "F.interpolate(line, size=7, mode='nearest', align_corners=True)",
    "F.interpolate(line, size=7, mode='linear', antialias=True)",
    "F.interpolate(x, size=7)",
    "F.upsample(line, scale_factor=2)",
)
SAMPLED = (
    *(
        f"F.grid_sample(image, grid, '{mode}', '{padding}', {corners})"
        for mode in ("bilinear", "nearest", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for corners in (False, True)
    ),
    *(
        f"F.grid_sample(volume, grid3, '{mode}', '{padding}', False)"
        for mode in ("bilinear", "nearest")
        for padding in ("zeros", "border", "reflection")
    ),
    "F.grid_sample(image, grid, 'cubic')",
    "F.grid_sample(image, grid3)",
    "F.affine_grid(theta, (2, 1, 3, 4), False)",
    "F.affine_grid(theta, (2, 1, 3, 4), True)",
    "F.affine_grid(theta, (2, 1, 3, 4, 5))",
)
LOSSES = (
    *(f"F.poisson_nll_loss(x, p, log_input={a}, full={b})" for a in (True,) for b in (True, False)),
    "F.poisson_nll_loss(p, p * 4, log_input=False, full=True, reduction='none')",
    "F.gaussian_nll_loss(x, y, p, full=True)",
    "F.gaussian_nll_loss(x, y, p[:, :1], reduction='sum')",
    "F.gaussian_nll_loss(x, y, p[:, 0], reduction='none')",
    "F.gaussian_nll_loss(x, y, -p)",
    "F.gaussian_nll_loss(x, y, p[:, :2])",
    "F.hinge_embedding_loss(x, (y > 0) * 2.0 - 1, margin=0.5, reduction='none')",
    "F.cosine_embedding_loss(x, y, s, margin=0.1, reduction='none')",
    "F.cosine_embedding_loss(x[0], y[0], s[0])",
    "F.cosine_embedding_loss(x, y, x)",
    "F.soft_margin_loss(x, (y > 0) * 2.0 - 1)",
    "F.multilabel_soft_margin_loss(x, (y > 0) * 1.0, p[0].detach(), reduction='none')",
    "F.multi_margin_loss(x, t, reduction='none')",
    "F.multi_margin_loss(x, t, p=2, margin=0.5, weight=p[0].detach())",
    "F.multi_margin_loss(x[0], t[0])",
    "F.multi_margin_loss(x, t, p=3)",
    "F.multilabel_margin_loss(x, torch.tensor([[0, 3, -1, 1], [2, -1, 0, 0], [-1, 0, 0, 0]]), reduction='none')",
    "F.multilabel_margin_loss(x[0], torch.tensor([1, 1, -1, 0]))",
    "F.triplet_margin_with_distance_loss(x, y, p, margin=0.5, swap=True, reduction='none')",
    "F.mse_loss(x, y, weight=p)",
    "F.l1_loss(x, y, reduction='sum', weight=p)",
    "F.huber_loss(x, y, weight=p, delta=0.5)",
    "F.mse_loss(x, y, size_average=False)",
    "F.l1_loss(x, y, reduce=False)",
    "F.ctc_loss(log_probs, torch.tensor([[1, 2, 2], [3, 1, 0], [1, 0, 0]]), [6, 5, 6], [3, 2, 1])",
    "F.ctc_loss(log_probs, torch.tensor([1, 2, 2, 3, 1]), (6, 5, 3), (3, 2, 0), reduction='none')",
    "F.ctc_loss(log_probs, torch.tensor([2, 2, 2, 2, 1]), (6, 5, 3), (4, 1, 0), blank=3, reduction='sum')",
    "F.ctc_loss(log_probs, torch.tensor([1, 1, 1, 1, 1]), (3, 5, 6), (4, 1, 0), zero_infinity=True)",
    "F.ctc_loss(log_probs, torch.tensor([1, 1, 1, 1, 1]), (3, 5, 6), (4, 1, 0))",
    "F.ctc_loss(log_probs[:, 0], torch.tensor([1, 2]), torch.tensor(6), torch.tensor(2))",
    "F.ctc_loss(log_probs, torch.tensor([1, 2]), (6, 6), (1, 1))",
    "F.linear_cross_entropy(x, w3[:, 0], t, ignore_index=1)",
)
OTHERS = (
    "F.rrelu(x, training=True)",
    "F.rrelu(x, 0.1, 0.9)",
    "F.alpha_dropout(x, 0.4, True)",
    "F.feature_alpha_dropout(image, 0.4, True)",
    "F.celu(x, 0.7)",
    "F.hardshrink(x)",
    "F.softshrink(x, 0.3)",
    "F.softshrink(x, -1)",
    "F.threshold(x, 0.2, 5)",
    "F.lp_pool1d(line, 3, 3, 2)",
    "F.lp_pool2d(image, 2, (3, 2), ceil_mode=True)",
    "F.lp_pool3d(volume, 1, 2)",
    "F.max_unpool1d(*F.max_pool1d(line, 2, return_indices=True), 2)",
    "F.max_unpool2d(*F.max_pool2d(image, 3, 2, return_indices=True), 3, 2, output_size=(6, 6))",
    "F.max_unpool3d(*F.max_pool3d(volume, 2, return_indices=True), 2)",
    "F.max_unpool2d(*F.max_pool2d(image, 3, 2, return_indices=True), 3, 2, output_size=(9, 6))",
    "F.fractional_max_pool2d(image, (2, 3), (4, 3), return_indices=True)",
    "F.fractional_max_pool3d(volume, 2, output_ratio=0.6)",
    "F.fractional_max_pool2d(image, 2)",
    "F.local_response_norm(image, 3)",
    "F.local_response_norm(line, 2)",
    "F.pdist(x)",
    "F.pdist(x, 1)",
    "F.bilinear(x, y, w3, p[0, :2])",
    "F.channel_shuffle(image, 2)",
    "F.conv_tbc(q, w3.permute(0, 2, 1), p[0])",
    "F.embedding(t, x * 1, max_norm=0.5)",
    "F.embedding(t, x, scale_grad_by_freq=True)",
    *(f"F.embedding_bag(b, q[0], mode='{mode}', padding_idx=1)" for mode in ("sum", "mean", "max")),
    "F.embedding_bag(b.flatten(), q[0], torch.tensor([0, 0, 3]), mode='mean')",
    "F.embedding_bag(b.flatten(), q[0], torch.tensor([0, 2, 8]), mode='sum', include_last_offset=True)",
    "F.embedding_bag(b, q[0], mode='sum', per_sample_weights=p[:2])",
    "F.embedding_bag(b, q[0], mode='mean', per_sample_weights=p[:2])",
    "F.embedding_bag(b, q[0], torch.tensor([0]))",
    "rnn.pack_padded_sequence(q, [2, 5, 3], enforce_sorted=False)",
    "rnn.pad_packed_sequence(rnn.pack_padded_sequence(q, [2, 5, 3], enforce_sorted=False), total_length=6)",
    "rnn.pad_sequence([x, y[:1]], True, -1.0, 'left')",
    "rnn.unpad_sequence(q * 1, torch.tensor([2, 5, 3]))",
    "rnn.pack_padded_sequence(q, [2, 5, 3])",
    "rnn.pack_padded_sequence(q, [5, 3])",
    "rnn.pack_padded_sequence(q, [5, 3, 0])",
    "init.orthogonal_(torch.empty(4, 6))",
    "init.orthogonal_(torch.empty(6, 2, 2), gain=2)",
    "init.sparse_(torch.empty(6, 3), 0.4)",
    "init.dirac_(torch.empty(4, 2, 3, 3), 2)",
    "init.trunc_normal_(torch.empty(20), std=0.5, a=-0.4, b=0.7)",
    "init.trunc_normal_(torch.empty(20), std=0.5, a=1.4, b=1.7)",
    "init.xavier_uniform(torch.empty(3, 2))",
    "utils.weight_norm(nn.Linear(4, 3).double())(x)",
    "utils.parametrizations.weight_norm(nn.Conv1d(4, 3, 2).double(), dim=None)(line)",
    "utils.spectral_norm(nn.Linear(4, 3).double())(x)",
    "utils.parametrizations.spectral_norm(nn.ConvTranspose1d(4, 3, 2).double())(line)",
    "utils.skip_init(nn.Linear, 4, 3).weight.shape",
    "utils.fuse_conv_bn_eval(nn.Conv1d(4, 3, 2).double().eval(), nn.BatchNorm1d(3).double().eval())(line)",
)
MODULES = (
    *(
        f"nn.{kind}(4, 3, 2, batch_first={first}, bidirectional={both}).double()(q)"
        for kind in ("RNN", "LSTM", "GRU")
        for first, both in ((False, True), (True, False))
    ),
    *(
        f"nn.{kind}(4, 3, 2, bidirectional=True, dropout=0.5).double()"
        "(rnn.pack_padded_sequence(q, [2, 5, 3], False, False))"
        for kind in ("RNN", "LSTM", "GRU")
    ),
    "nn.LSTM(4, 3, 2, proj_size=2, bidirectional=True).double()"
    "(q, (torch.ones(4, 3, 2).double(), torch.ones(4, 3, 3).double()))",
    "nn.GRU(4, 3, 3, dropout=0.3).double()(q)",
    "nn.LSTM(4, 3)(q)",
    "nn.LSTM(4, 3).double()(q, (x, x))",
    "nn.GRU(4, 3).double()(q, torch.zeros(2, 3, 3).double())",
    "nn.RNN(4, 3, nonlinearity='sigmoid')",
    "nn.GRU(4, 3, proj_size=2)",
    "nn.LSTM(4, 0)",
    "nn.LSTM(5, 3).double()(q)",
    "nn.LSTMCell(4, 3).double()(x)",
    "nn.GRUCell(4, 3, bias=False).double()(x, y[:, :3])",
    "nn.RNNCell(5, 3).double()(x)",
    "nn.MultiheadAttention(4, 2, dropout=0.5).double()(q, q, q)",
    "nn.MultiheadAttention(4, 2).double()(q, q, q, attn_mask=mask, average_attn_weights=False)",
    "nn.MultiheadAttention(4, 2, batch_first=True).double()(q, q, q, key_padding_mask=hidden, need_weights=False)",
    "nn.MultiheadAttention(4, 2).double()(q, q, q, attn_mask=mask, is_causal=True, need_weights=False)",
    "nn.MultiheadAttention(4, 3)",
    "nn.MultiheadAttention(4, 2).double()(q, q, q, attn_mask=mask[:2])",
    "nn.TransformerEncoderLayer(4, 2, 8).double()(q, mask)",
    "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2).double()"
    "(q, src_key_padding_mask=hidden)",
    "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2).double().eval()"
    ".requires_grad_(False)(q.detach(), src_key_padding_mask=hidden)",
    "nn.TransformerDecoderLayer(4, 2, 8, norm_first=True, activation='gelu').double()(q, q[:3])",
    "nn.Transformer(4, 2, 1, 1, 8, batch_first=True).double()"
    "(q, q, tgt_mask=nn.Transformer.generate_square_subsequent_mask(3))",
    "nn.AdaptiveLogSoftmaxWithLoss(4, 9, [2, 5], 1.5).double()(x, t)",
    "nn.EmbeddingBag(5, 4, max_norm=1.0)(b)",
    "nn.LazyLinear(3, dtype=torch.float64)(x)",
    "nn.Sequential(nn.LazyConv1d(3, 2, dtype=torch.float64), nn.LazyBatchNorm1d(dtype=torch.float64))(line)",
    "nn.CrossMapLRN2d(3)(image.detach())",
)
LAYER = "nn.Linear(4, 3).double()"
PRUNED = (
    f"prune.random_unstructured({LAYER}, 'weight', 0.4)(x)",
    f"prune.l1_unstructured(prune.random_unstructured({LAYER}, 'weight', 3), 'weight', 4).weight",
    f"prune.random_structured({LAYER}, 'weight', 2, 1).weight",
    f"prune.ln_structured(prune.ln_structured({LAYER}, 'weight', 1, 2, 0), 'weight', 0.5, 1, 1).weight",
    f"prune.remove(prune.custom_from_mask({LAYER}, 'bias', torch.tensor([1, 0, 1])), 'bias')(x)",
    f"prune.remove({LAYER}, 'bias')",
    f"prune.l1_unstructured({LAYER}, 'weight', 40)",
    f"prune.l1_unstructured({LAYER}, 'weight', 1.5)",
    f"prune.l1_unstructured({LAYER}, 'weight', '1')",
    f"prune.random_structured({LAYER}, 'bias', 1, 0)",
    f"[(m := {LAYER}), prune.global_unstructured([(m, 'weight'), (m, 'bias')], prune.L1Unstructured, amount=5), m.bias,"
    " m.weight][2:]",
)
EXPRESSIONS = (*RESIZED, *SAMPLED, *LOSSES, *OTHERS, *MODULES, *PRUNED)


def case_of(text: str) -> Case:
    """What an expression gives, and the gradients of those of its tensors that have one."""

    def function(torch: Any) -> Any:
        def numbers(*shape: int) -> Any:
            count = torch.Size(shape).numel()
            return ((torch.arange(count, dtype=torch.float64) * 0.7 + 0.3).sin() * 1.5).reshape(shape)

        named = {
            "line": numbers(2, 4, 6),
            "image": numbers(2, 4, 7, 6),
            "volume": numbers(2, 4, 4, 5, 6),
            "x": numbers(3, 4),
            "y": numbers(4, 4)[1:].flip(0).contiguous(),
            "p": numbers(3, 4).sigmoid(),
            "t": torch.tensor([0, 2, 1]),
            "s": torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64),
            "q": numbers(5, 3, 4),
            "b": torch.tensor([[0, 1, 2, 1], [2, 2, 1, 0]]),
            "w3": numbers(2, 4, 4),
            "grid": numbers(2, 3, 5, 2),
            "grid3": numbers(2, 3, 2, 2, 3),
            "theta": numbers(2, 2, 3),
            "log_probs": numbers(6, 3, 4).log_softmax(-1),
            "mask": torch.triu(torch.full((5, 5), float("-inf"), dtype=torch.float64), 1),
            "hidden": torch.tensor([[False, False, True]] * 5),
        }
        for name in LEAVES:
            named[name] = named[name].detach().requires_grad_()
        nn = torch.nn
        places = {"F": nn.functional, "rnn": nn.utils.rnn, "init": nn.init, "utils": nn.utils, "nn": nn, "torch": torch}
        places["prune"] = importlib.import_module("torch.nn.utils.prune")
        result = eval(text, {**places, **named})
        tensors = _tensors(torch, result)
        total = sum(
            (tensor.double() * (torch.arange(tensor.numel()).double().reshape(tensor.shape) + 1).cos()).sum()
            for tensor in tensors
            if tensor.requires_grad and tensor.grad_fn is not None
        )
        if isinstance(total, torch.Tensor):
            total.backward()
        return [tensors or repr(result), [named[name].grad for name in LEAVES if named[name].grad is not None]]

    single = any(word in text for word in ("init.", "float()", "max_norm=1.0)(b)", "celu"))
    tolerance = 2e-5 if single else 1e-9
    return Case(function, tolerance, tolerance)


def _tensors(torch: Any, value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [found for item in value for found in _tensors(torch, item)] if isinstance(value, (tuple, list)) else []


CASES: dict[str, Case] = {text: case_of(text) for text in EXPRESSIONS}
