"""The functions behind the modules of `torch.nn`.

Most are operators, shown here under PyTorch's names: their documentation is that of `docs/operators.md`. The modules of
this package hold those that take Python's own arguments: options in words, defaults that depend on others, warnings.
"""

from torch import _C
from torch.nn.functional.activation import (
    elu,
    glu,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    mish,
    relu,
    relu6,
    relu_,
    selu,
    sigmoid,
    silu,
    softmax,
    softmin,
    softsign,
    tanh,
    tanhshrink,
)
from torch.nn.functional.dropout import (
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
)
from torch.nn.functional.fold import (
    fold,
    pad,
    unfold,
)
from torch.nn.functional.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
    triplet_margin_loss,
)
from torch.nn.functional.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    normalize,
    rms_norm,
)
from torch.nn.functional.pooling import (
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from torch.nn.functional.sparse import (
    embedding,
)

adaptive_avg_pool1d = _C._VariableFunctions.adaptive_avg_pool1d
avg_pool1d = _C._VariableFunctions.avg_pool1d
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

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "embedding",
    "fold",
    "gelu",
    "glu",
    "group_norm",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "huber_loss",
    "instance_norm",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softmin",
    "softplus",
    "softsign",
    "tanh",
    "tanhshrink",
    "triplet_margin_loss",
    "unfold",
]

# Functions that are pickled (an activation kept in a model, say) are looked up where PyTorch has them.
for _name in __all__:
    _function = globals()[_name]
    if getattr(_function, "__module__", "").startswith(f"{__name__}."):
        _function.__module__ = __name__
del _name, _function
