"""The functions behind the modules of `torch.nn`.

Most are operators, shown here under PyTorch's names: their documentation is that of `docs/operators.md`. The modules of
this package hold those that take Python's own arguments: options in words, defaults that depend on others, warnings.
"""

import sys
from functools import partial
from typing import TYPE_CHECKING as TYPE_CHECKING, Any

from torch import _C, Tensor as Tensor
from torch._jit_internal import (
    BroadcastingList1 as BroadcastingList1,
    BroadcastingList2 as BroadcastingList2,
    BroadcastingList3 as BroadcastingList3,
    boolean_dispatch as boolean_dispatch,
)
from torch._notes import (
    reproducibility_notes as reproducibility_notes,
    sparse_support_notes as sparse_support_notes,
    tf32_notes as tf32_notes,
)
from torch._overridable import overridable
from torch.nn.functional import attention
from torch.nn.functional._options import assert_int_or_pair as assert_int_or_pair
from torch.nn.functional.activation import (
    celu,
    celu_,
    elu,
    elu_,
    glu,
    gumbel_softmax,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    log_softmax,
    mish,
    relu,
    relu6,
    relu_,
    rrelu,
    rrelu_,
    selu,
    selu_,
    sigmoid,
    silu,
    softmax,
    softmin,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
    threshold_,
)
from torch.nn.functional.attention import (
    multi_head_attention_forward,
)
from torch.nn.functional.dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from torch.nn.functional.fold import (
    fold,
    pad,
    unfold,
)
from torch.nn.functional.grouped import (
    ScalingType,
    SwizzleType,
    grouped_mm,
    scaled_grouped_mm as scaled_grouped_mm,
    scaled_mm as scaled_mm,
)
from torch.nn.functional.linear_loss import linear_cross_entropy
from torch.nn.functional.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
    ctc_loss,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from torch.nn.functional.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    normalize,
    rms_norm,
)
from torch.nn.functional.pooling import (
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    fractional_max_pool2d,
    fractional_max_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from torch.nn.functional.sparse import (
    embedding,
    embedding_bag,
)
from torch.nn.functional.upsampling import (
    interpolate,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)
from torch.nn.functional.vision import (
    GRID_SAMPLE_INTERPOLATION_MODES as GRID_SAMPLE_INTERPOLATION_MODES,
    GRID_SAMPLE_PADDING_MODES as GRID_SAMPLE_PADDING_MODES,
    affine_grid,
    grid_sample,
)

has_torch_function = _C._has_torch_function
has_torch_function_unary = _C._has_torch_function_unary
has_torch_function_variadic = _C._has_torch_function_variadic
adaptive_avg_pool1d = _C._VariableFunctions.adaptive_avg_pool1d
avg_pool1d = _C._VariableFunctions.avg_pool1d
bilinear = _C._VariableFunctions.bilinear
channel_shuffle = _C._VariableFunctions.channel_shuffle
native_channel_shuffle = _C._VariableFunctions.native_channel_shuffle
conv_tbc = _C._VariableFunctions.conv_tbc
hardshrink = _C._VariableFunctions.hardshrink
pdist = _C._VariableFunctions.pdist
conv1d = _C._VariableFunctions.conv1d
conv2d = _C._VariableFunctions.conv2d
conv3d = _C._VariableFunctions.conv3d
conv_transpose1d = _C._VariableFunctions.conv_transpose1d
conv_transpose2d = _C._VariableFunctions.conv_transpose2d
conv_transpose3d = _C._VariableFunctions.conv_transpose3d
cosine_similarity = _C._VariableFunctions.cosine_similarity
pairwise_distance = _C._VariableFunctions.pairwise_distance
pixel_shuffle = _C._VariableFunctions.pixel_shuffle
pixel_unshuffle = _C._VariableFunctions.pixel_unshuffle
prelu = _C._VariableFunctions.prelu
avg_pool2d = _C._nn.avg_pool2d
avg_pool3d = _C._nn.avg_pool3d
gelu = _C._nn.gelu
linear = _C._nn.linear
one_hot = _C._nn.one_hot
scaled_dot_product_attention = _C._nn.scaled_dot_product_attention
softplus = _C._nn.softplus
logsigmoid = _C._nn.log_sigmoid
adaptive_max_pool1d_with_indices = partial(adaptive_max_pool1d, return_indices=True)
adaptive_max_pool2d_with_indices = partial(adaptive_max_pool2d, return_indices=True)
adaptive_max_pool3d_with_indices = partial(adaptive_max_pool3d, return_indices=True)
fractional_max_pool2d_with_indices = partial(fractional_max_pool2d, return_indices=True)
fractional_max_pool3d_with_indices = partial(fractional_max_pool3d, return_indices=True)
max_pool1d_with_indices = partial(max_pool1d, return_indices=True)
max_pool2d_with_indices = partial(max_pool2d, return_indices=True)
max_pool3d_with_indices = partial(max_pool3d, return_indices=True)
# Names that libraries take although they are not public.
_canonical_mask, _none_or_dtype = attention.canonical_mask, attention.none_or_dtype

__all__ = [
    "ScalingType",
    "SwizzleType",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "grouped_mm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "native_channel_shuffle",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

# PyTorch pickles `gelu` and its like (an activation kept in a model) by this path.
sys.modules.setdefault("torch._C._nn", _C._nn)

# Functions that are pickled (an activation kept in a model, say) are looked up where PyTorch has them. Operators ask
# their arguments' classes themselves; here the functions written in Python do, too.
for _name in __all__:
    _function = globals()[_name]
    if (getattr(_function, "__module__", None) or "").startswith(f"{__name__}."):
        _function.__module__ = __name__
        if not isinstance(_function, type):
            globals()[_name] = overridable(_function)
del _name, _function


def __getattr__(name: str) -> Any:
    if name == "handle_torch_function":
        from torch.overrides import handle_torch_function

        return handle_torch_function
    from torch._missing import missing_name

    raise missing_name(__name__, name)
