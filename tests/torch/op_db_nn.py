"""The rows of op_db for torch.nn.functional: activations, normalisation, losses, windows over images and signals."""

from __future__ import annotations

from op_sample import FLOATS, I, Op, T, call, op

M = (3, 4)
X = T(M)

OPS: tuple[Op, ...] = (
    # more of torch.nn.functional
    *(op(f"F.{name}", call(X)) for name in ("hardswish", "mish", "selu", "softsign", "tanhshrink")),
    op("F.hardsigmoid", call(X), gradient_scale=1e4),  # PyTorch multiplies by 1 / 6 in float32
    op("F.softmin", call(X, 1)),
    op("F.glu", call(X), call(T((4, 3)), 0)),
    op("F.prelu", call(X, T((1,))), call(T((2, 3, 4)), T((3,)))),
    op("F.group_norm", call(T((2, 6, 5)), 3, T((6,)), T((6,))), call(T((2, 4)), 2), scale=8),
    op("F.rms_norm", call(X, (4,)), call(T((2, 3, 4)), (3, 4), T((3, 4)), 1e-3)),
    op("F.cosine_similarity", call(X, X), call(T((3, 1, 4)), X, -1), scale=4),
    op("F.pairwise_distance", call(X, X), call(X, X, 1.0, keepdim=True)),
    op("F.huber_loss", call(X, X), call(X, X, reduction="none", delta=0.5)),
    op("F.kl_div", *(call(X, T(M, 0.1, 1.0), reduction=r) for r in ("none", "batchmean", "sum"))),
    op("F.kl_div", call(X, X, reduction="sum", log_target=True)),
    op("F.margin_ranking_loss", call(X, X, T(M, 1, 2, gradient=False), margin=0.5)),
    op("F.triplet_margin_loss", call(X, X, X), call(X, X, X, margin=3.0, reduction="none")),
    op("F.unfold", call(T((2, 3, 5, 5)), 2), call(T((1, 2, 5, 6)), (2, 3), 1, (1, 0), 2)),
    op("F.fold", call(T((2, 12, 16)), 5, 2), call(T((1, 12, 6)), (5, 6), (2, 3), 1, (1, 0), 2)),
    op(
        "F.interpolate",
        *(call(T((1, 2, 3, 4)), (5, 3), mode=m) for m in ("nearest", "nearest-exact", "bilinear", "bicubic")),
    ),
    op("F.interpolate", *(call(T((2, 1, 5, 4)), (3, 7), mode=m, antialias=True) for m in ("bilinear", "bicubic"))),
    op(
        "F.interpolate",
        call(T((1, 2, 5)), scale_factor=1.7, mode="linear"),
        call(T((2, 1, 4)), 7, mode="linear", align_corners=True),
    ),
    op(
        "F.interpolate", call(T((1, 2, 2, 3, 2)), (3, 2, 4), mode="trilinear"), call(T((1, 2, 2, 3, 2)), scale_factor=2)
    ),
    op(
        "F.grid_sample",
        *(
            call(T((1, 2, 3, 4)), T((1, 2, 3, 2)), mode=m, padding_mode=p, align_corners=p == "border")
            for m in ("bilinear", "nearest", "bicubic")
            for p in ("zeros", "border", "reflection")
        ),
        call(T((1, 2, 2, 3, 4)), T((1, 2, 1, 3, 3)), align_corners=False),
    ),
    op("F.pixel_shuffle", call(T((1, 8, 2, 3)), 2)),
    # images and signals
    op("F.conv1d", call(T((2, 3, 8)), T((4, 3, 3)), T((4,))), call(T((3, 8)), T((4, 3, 3)), None, 2, 1), scale=8),
    op(
        "F.conv_transpose1d", call(T((2, 3, 4)), T((3, 2, 3)), T((2,)), 2, 1, 1), call(T((3, 4)), T((3, 2, 3))), scale=8
    ),
    op("F.conv_transpose3d", call(T((1, 2, 2, 3, 2)), T((2, 2, 2, 1, 2)), None, (2, 1, 1), (1, 0, 0)), scale=8),
    op(
        "torch.convolution",
        call(T((1, 2, 5, 4)), T((4, 1, 3, 2)), T((4,)), [2, 1], [1, 0], [1, 2], False, [0, 0], 2),
        call(T((1, 2, 3, 2)), T((2, 1, 2, 3)), T((2,)), [2, 1], [1, 0], [1, 2], True, [1, 1], 2),
        call(T((2, 2, 3)), T((2, 2, 2)), None, [1], [1], [3], True, [2], 1),
        scale=8,
    ),
    op(
        "F.conv2d",
        call(T((2, 3, 6, 5)), T((4, 3, 3, 2)), T((4,))),
        call(T((2, 4, 6, 6)), T((6, 2, 3, 3)), T((6,)), 2, 1, 1, 2),
        call(T((1, 2, 7, 7)), T((2, 2, 3, 3)), None, 1, "same", 2),
        call(T((2, 5, 5)), T((3, 2, 2, 2)), None, (1, 2), (1, 0)),
        scale=8,
    ),
    op("F.conv3d", call(T((1, 2, 4, 4, 4)), T((2, 2, 2, 2, 2)), T((2,)), 2, 1), scale=8),
    op(
        "F.conv_transpose2d",
        call(T((2, 3, 4, 4)), T((3, 2, 3, 3)), T((2,))),
        call(T((1, 4, 3, 3)), T((4, 1, 3, 3)), None, 2, 1, 1, 2),
        scale=8,
    ),
    op(
        "F.max_pool1d",
        call(T((2, 3, 8)), 2),
        call(T((3, 8)), 3, 2, 1),
        call(T((2, 3, 8)), 3, 2, 1, 2, True, return_indices=True),
    ),
    op(
        "F.max_pool2d", call(T((2, 3, 6, 6)), 2), call(T((1, 2, 7, 7)), 3, 2, 1), call(T((2, 7, 7)), (2, 3), dilation=2)
    ),
    op(
        "F.max_pool2d",
        call(T((1, 2, 6, 7)), 3, 2, ceil_mode=True),
        call(T((2, 6, 7)), (3, 2), (2, 3), (1, 0), (1, 2), True, True),
        call(T((1, 2, 6, 7), strided=True), 2, return_indices=True),
    ),
    op("F.max_pool2d", call(T((1, 2, 5, 5)), 2), dtypes=("int64",), gradient=False),
    op(
        "F.max_pool3d",
        call(T((2, 2, 4, 4, 4)), 2),
        call(T((2, 5, 4, 6)), (3, 2, 2), 2, (1, 0, 1), ceil_mode=True, return_indices=True),
    ),
    op("F.adaptive_max_pool1d", call(T((2, 3, 8)), 3), call(T((3, 7)), 2, return_indices=True)),
    op("F.adaptive_max_pool2d", call(T((2, 3, 6, 5)), (4, None)), call(T((3, 5, 7)), 2, return_indices=True)),
    op("F.adaptive_max_pool3d", call(T((1, 2, 4, 5, 3)), (2, 3, None)), call(T((2, 4, 4, 4)), 3, return_indices=True)),
    op("F.avg_pool1d", call(T((2, 3, 8)), 2), call(T((2, 3, 8)), 3, 2, 1, count_include_pad=False)),
    op(
        "F.avg_pool2d",
        call(T((2, 3, 6, 6)), 2),
        call(T((1, 2, 7, 7)), 3, 2, 1),
        call(T((1, 2, 7, 7)), 3, 2, 1, divisor_override=5),
    ),
    op("F.avg_pool1d", call(T((3, 9)), 4, 3, 2, True), call(T((2, 3, 9)), (3,), None, 1, True, False)),
    op(
        "F.avg_pool2d",
        call(T((1, 2, 7, 6)), 3, 2, 1, True),
        call(T((2, 7, 6)), (3, 2), (2, 3), (1, 0), True, False),
        call(T((1, 2, 7, 6)), 3, 2, 1, True, False, 7),
    ),
    op(
        "F.avg_pool3d",
        call(T((1, 2, 4, 4, 4)), 2),
        call(T((2, 5, 4, 6)), (3, 2, 2), 2, (1, 0, 1), True, False),
        call(T((1, 1, 4, 4, 4)), 2, divisor_override=3),
    ),
    op("F.adaptive_avg_pool1d", call(T((2, 3, 8)), 3), call(T((3, 7)), 9)),
    op("F.adaptive_avg_pool2d", call(T((2, 3, 6, 5)), 1), call(T((2, 3, 6, 5)), (4, None)), call(T((3, 5, 4)), (7, 3))),
    op("F.adaptive_avg_pool3d", call(T((1, 2, 4, 5, 3)), (2, None, 2)), call(T((2, 4, 5, 3)), 3)),
    op(
        "F.pad", call(T((1, 2, 4, 5)), (1, 2, 0, 1), mode="reflect"), call(T((2, 4, 5)), (1, 2, 3, 1), mode="replicate")
    ),
    op("F.pad", call(T((1, 1, 3, 4, 3)), (1, 1, 0, 1, 2, 0), mode="reflect"), call(X, (-1, 2, 1, -1), value=0.5)),
    op("F.pad", call(X, (1, 2)), call(X, (0, 1, 2, -1), value=1.5), call(X, (1, 1))),
    op("F.pad", *(call(T((2, 3, 4)), (2, 1), mode=mode) for mode in ("reflect", "replicate", "circular"))),
    op(
        "F.batch_norm",
        call(T((5, 3)), None, None, T((3,)), T((3,)), True),
        call(T((2, 3, 4)), None, None, training=True),
        call(T((2, 3, 2, 2)), T((3,), gradient=False), T((3,), 0.5, gradient=False), T((3,)), T((3,))),
        scale=8,
    ),
    op(
        "F.batch_norm",
        call(T((4, 3)), T((3,), gradient=False), T((3,), 0.5, gradient=False), T((3,)), None, True, 0.3, 1e-3),
        call(T((3, 2, 5)), T((2,), gradient=False), T((2,), 0.5, gradient=False), None, T((2,)), False),
        call(T((2, 3, 4, 5), strided=True), None, None, T((3,)), T((3,)), True),
        call(T((2, 2, 2, 3, 2)), None, None, T((2,)), T((2,)), True),
        scale=8,
        second_gradient=True,
    ),
    op(
        "F.instance_norm",
        call(T((2, 3, 5))),
        call(T((2, 3, 4, 5)), None, None, T((3,)), T((3,))),
        call(T((2, 2, 5)), T((2,), gradient=False), T((2,), 0.5, gradient=False), T((2,)), T((2,)), False),
        scale=8,
    ),
    op("F.group_norm", call(T((2, 4, 3, 2)), 4, T((4,)), None, 1e-3), call(T((2, 4, 3)), 1, T((4,)), T((4,))), scale=8),
    op("F.hardtanh", call(X), call(X, -0.5, 2.0)),
    op("F.relu6", call(T(M, -3, 9))),
    op("F.elu", call(X, 0.7)),
    op("F.softplus", call(X, 2.0, 3.0)),
    op("F.huber_loss", *(call(X, X, reduction=r, delta=1.5) for r in ("sum", "none"))),
    op("F.triplet_margin_loss", call(X, X, X, 1.0, 1, 1e-6, True)),
    op("F.pairwise_distance", call(X, X, 3.0), call(T((4,)), T((4,)))),
    op("F.pixel_unshuffle", call(T((1, 2, 4, 6)), 2), call(T((3, 4, 4)), 2)),
    op("F.pixel_shuffle", call(T((2, 1, 8, 2, 3)), 2)),
    op("F.unfold", call(T((3, 5, 5)), 3, 2, 1)),
    op("F.fold", call(T((12, 16)), 5, 2)),
    op(
        "F.conv2d",
        call(T((1, 2, 6, 7)), T((2, 2, 2, 4)), None, 1, "same"),
        call(T((1, 2, 6, 7)), T((2, 2, 2, 3)), None, 1, "valid", 2),
        scale=8,
    ),
    op(
        "F.scaled_dot_product_attention",
        call(T((2, 4, 3, 4)), T((2, 2, 5, 4)), T((2, 2, 5, 6)), enable_gqa=True),
        scale=8,
    ),
    op(
        "F.scaled_dot_product_attention",
        call(T((2, 3, 4)), T((2, 5, 4)), T((2, 5, 6))),
        call(T((2, 3, 4)), T((2, 3, 4)), T((2, 3, 4)), is_causal=True),
        call(T((3, 4)), T((5, 4)), T((5, 4)), T((3, 5), gradient=False), scale=0.3),
        scale=8,
    ),
    # softmax, normalisation, losses
    op("torch.softmax", call(X, 1), call(X, 0), call(T((2, 3, 4)), 1), dtypes=FLOATS, second_gradient=True),
    op("torch.log_softmax", call(X, 1), call(X, 0), call(T((2, 3, 4)), -2), dtypes=FLOATS),
    op("torch.softmax", call(X, 1, dtype="float64"), dtypes=("float32", "int64"), gradient=False),
    *(op("F.mse_loss", call(X, X, reduction=r), dtypes=FLOATS) for r in ("mean",)),
    *(
        op(f"F.{name}", *(call(X, T(M, -2, 2), reduction=r) for r in ("none", "mean", "sum")))
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss")
    ),
    op("F.smooth_l1_loss", call(X, X, beta=0.3), call(X, X, beta=0)),
    op(
        "F.nll_loss",
        *(call(X, I((3,), 4), reduction=r) for r in ("none", "mean", "sum")),
        call(X, I((3,), 4), T((4,), 0.5, gradient=False)),
        call(X, I((3,), 4), ignore_index=1),
        call(T((4,)), I((), 4)),
        call(T((2, 3, 2, 2)), I((2, 2, 2), 3), T((3,), 0.5, gradient=False)),
    ),
    op(
        "F.multilabel_margin_loss",
        *(call(X, I(M, 4), reduction=r) for r in ("none", "mean", "sum")),
        call(T((4,)), I((4,), 2)),
    ),
    op(
        "F.cross_entropy",
        *(call(X, I((3,), 4), reduction=r) for r in ("none", "mean", "sum")),
        call(X, I((3,), 4), T((4,), 0.5, gradient=False)),
        call(X, I((3,), 4), ignore_index=1),
        call(X, I((3,), 4), label_smoothing=0.1),
        call(X, T(M, 0.0, 1.0)),
        call(T((4,)), I((), 4)),
    ),
    op(
        "F.binary_cross_entropy",
        *(call(T(M, 0.1, 0.9), T(M, 0.0, 1.0, gradient=False), reduction=r) for r in ("none", "mean", "sum")),
        call(T(M, 0.1, 0.9), T(M, 0.0, 1.0, gradient=False), T((4,), 0.5, gradient=False)),
    ),
    op(
        "F.binary_cross_entropy_with_logits",
        *(call(X, T(M, 0.0, 1.0, gradient=False), reduction=r) for r in ("none", "mean", "sum")),
        call(X, T(M, 0.0, 1.0, gradient=False), pos_weight=T((4,), 0.5, gradient=False)),
    ),
    op(
        "F.layer_norm",
        call(X, (4,)),
        call(T((2, 3, 4)), (3, 4), T((3, 4)), T((3, 4))),
        call(X, (4,), T((4,)), T((4,)), 1e-2),
        scale=4,
    ),
    op("F.normalize", call(X), call(X, 1.0, 0)),
)
