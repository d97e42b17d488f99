"""A module of every class of torch.nn, as an expression that this torch and PyTorch both evaluate, and its inputs.

Each row: the expression, then one shape per input. A row's inputs are float32 in [0.1, 0.9], which suits every loss;
`I(shape, high)` stands for int64 indices below `high`.

    python tests/torch/nn_modules.py FILE.pt

writes the modules of this torch, for `golden/make_modules.py --check-ours FILE.pt` to read with PyTorch.
"""

from __future__ import annotations

import re
from typing import Any

from op_sample import I, T

Row = tuple[str, tuple[Any, ...]]

SIGNAL, IMAGE, VOLUME = (2, 4, 8), (2, 4, 6, 6), (1, 4, 4, 4, 4)

ROWS: tuple[Row, ...] = (
    *((f"nn.{name}()", ((3, 4),)) for name in ("Identity", "ReLU", "ReLU6", "SiLU", "Mish", "SELU", "Hardswish")),
    *(
        (f"nn.{name}()", ((3, 4),))
        for name in ("Hardsigmoid", "Hardtanh", "Sigmoid", "LogSigmoid", "Tanh", "Tanhshrink")
    ),
    *((f"nn.{name}()", ((3, 4),)) for name in ("Softsign", "GELU", "LeakyReLU", "ELU", "Softplus", "GLU", "PReLU")),
    ("nn.Hardswish(True)", ((3, 4),)),
    ("nn.GELU('tanh')", ((3, 4),)),
    *((f"nn.{name}(1)", ((3, 4),)) for name in ("Softmax", "Softmin", "LogSoftmax")),
    ("nn.Linear(4, 3)", ((2, 4),)),
    ("nn.Linear(4, 3, bias=False)", ((2, 4),)),
    ("nn.Flatten()", ((2, 3, 4),)),
    ("nn.Unflatten(1, (2, 2))", ((2, 4),)),
    *((f"nn.{name}(0.25).eval()", (IMAGE,)) for name in ("Dropout", "Dropout2d")),
    ("nn.Dropout1d(0.25).eval()", (SIGNAL,)),
    ("nn.Dropout3d(0.25).eval()", (VOLUME,)),
    ("nn.Embedding(5, 3, padding_idx=1)", (I((4,), 5),)),
    ("nn.LayerNorm(4)", ((3, 4),)),
    ("nn.GroupNorm(2, 4)", (IMAGE,)),
    ("nn.RMSNorm((4,))", ((3, 4),)),
    ("nn.BatchNorm1d(4)", (SIGNAL,)),
    ("nn.BatchNorm2d(4, momentum=None, bias=False)", (IMAGE,)),
    ("nn.BatchNorm3d(4, affine=False, track_running_stats=False)", (VOLUME,)),
    ("nn.InstanceNorm1d(4)", (SIGNAL,)),
    ("nn.InstanceNorm2d(4, affine=True, track_running_stats=True)", (IMAGE,)),
    ("nn.InstanceNorm3d(4)", (VOLUME,)),
    ("nn.Conv1d(4, 2, 3, padding='same', dilation=2)", (SIGNAL,)),
    ("nn.Conv2d(4, 6, (3, 2), stride=2, padding=1, groups=2)", (IMAGE,)),
    ("nn.Conv2d(4, 2, 3, padding=1, padding_mode='reflect', bias=False)", (IMAGE,)),
    ("nn.Conv3d(4, 2, 2)", (VOLUME,)),
    ("nn.ConvTranspose1d(4, 2, 3, stride=2, output_padding=1)", (SIGNAL,)),
    ("nn.ConvTranspose2d(4, 2, 2, stride=2)", (IMAGE,)),
    ("nn.ConvTranspose3d(4, 2, 2)", (VOLUME,)),
    ("nn.MaxPool1d(2)", (SIGNAL,)),
    ("nn.MaxPool2d(3, 2, 1, ceil_mode=True)", (IMAGE,)),
    ("nn.MaxPool3d(2)", (VOLUME,)),
    ("nn.AvgPool1d(3, padding=1)", (SIGNAL,)),
    ("nn.AvgPool2d(3, 2, 1, count_include_pad=False)", (IMAGE,)),
    ("nn.AvgPool3d(2)", (VOLUME,)),
    ("nn.AdaptiveAvgPool1d(3)", (SIGNAL,)),
    ("nn.AdaptiveAvgPool2d((3, None))", (IMAGE,)),
    ("nn.AdaptiveAvgPool3d(2)", (VOLUME,)),
    ("nn.AdaptiveMaxPool1d(3)", (SIGNAL,)),
    ("nn.AdaptiveMaxPool2d((3, 2), return_indices=True)", (IMAGE,)),
    ("nn.AdaptiveMaxPool3d(2)", (VOLUME,)),
    ("nn.Unfold((2, 3), padding=1)", (IMAGE,)),
    ("nn.Fold((3, 3), 2)", ((2, 8, 4),)),
    ("nn.PixelShuffle(2)", (IMAGE,)),
    ("nn.PixelUnshuffle(2)", (IMAGE,)),
    *(
        (f"nn.{kind}Pad{dims}d(1{', 0.5' if kind == 'Constant' else ''})", (shape,))
        for kind in ("Constant", "Zero", "Reflection", "Replication", "Circular")
        for dims, shape in ((1, SIGNAL), (2, IMAGE), (3, VOLUME))
    ),
    ("nn.CosineSimilarity()", ((3, 4), (3, 4))),
    ("nn.PairwiseDistance(1.0)", ((3, 4), (3, 4))),
    *((f"nn.{name}()", ((3, 4), (3, 4))) for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCELoss")),
    ("nn.BCEWithLogitsLoss(pos_weight=torch.ones(4))", ((3, 4), (3, 4))),
    ("nn.NLLLoss(weight=torch.ones(4))", ((3, 4), I((3,), 4))),
    ("nn.CrossEntropyLoss(label_smoothing=0.1)", ((3, 4), I((3,), 4))),
    ("nn.KLDivLoss(reduction='batchmean')", ((3, 4), (3, 4))),
    ("nn.MarginRankingLoss(0.5)", ((3,), (3,), (3,))),
    ("nn.TripletMarginLoss(swap=True)", ((3, 4), (3, 4), (3, 4))),
    ("nn.Sequential(nn.Conv2d(4, 3, 3), nn.BatchNorm2d(3), nn.ReLU(True), nn.Flatten(), nn.Linear(48, 2))", (IMAGE,)),
    ("nn.Sequential(OrderedDict(first=nn.Linear(4, 4), second=nn.Tanh())).eval()", ((2, 4),)),
    *((f"nn.{name}()", ((3, 4),)) for name in ("CELU", "Hardshrink", "Softshrink")),
    ("nn.AlphaDropout().eval()", ((3, 4),)),
    ("nn.RReLU().eval()", ((3, 4),)),
    ("nn.FeatureAlphaDropout().eval()", (IMAGE,)),
    ("nn.Threshold(0.5, 0.25)", ((3, 4),)),
    ("nn.Softmax2d()", (IMAGE,)),
    ("nn.Bilinear(4, 3, 2)", ((2, 4), (2, 3))),
    ("nn.EmbeddingBag(5, 3, mode='sum', padding_idx=1)", (I((2, 4), 5),)),
    ("nn.EmbeddingBag(5, 3, max_norm=1.0, mode='max')", (I((2, 4), 5),)),
    ("nn.Embedding(5, 3, max_norm=1.0)", (I((4,), 5),)),
    ("nn.LocalResponseNorm(3)", (IMAGE,)),
    ("nn.CrossMapLRN2d(3)", (IMAGE,)),
    ("nn.SyncBatchNorm(4).eval()", (IMAGE,)),
    ("nn.ChannelShuffle(2)", (IMAGE,)),
    ("nn.LPPool1d(2, 2)", (SIGNAL,)),
    ("nn.LPPool2d(3, 2, ceil_mode=True)", (IMAGE,)),
    ("nn.LPPool3d(2, 2)", (VOLUME,)),
    ("nn.MaxUnpool1d(2)", (SIGNAL, I(SIGNAL, 16))),
    ("nn.MaxUnpool2d(2)", (IMAGE, I(IMAGE, 144))),
    ("nn.MaxUnpool3d(2)", (VOLUME, I(VOLUME, 512))),
    ("nn.FractionalMaxPool2d(2, output_size=(3, 2), _random_samples=torch.full((2, 4, 2), 0.3))", (IMAGE,)),
    (
        "nn.FractionalMaxPool3d(2, output_ratio=0.6, return_indices=True, _random_samples=torch.full((1, 4, 3), 0.7))",
        (VOLUME,),
    ),
    ("nn.Upsample(scale_factor=2, mode='bilinear')", (IMAGE,)),
    ("nn.UpsamplingNearest2d(scale_factor=1.5)", (IMAGE,)),
    ("nn.UpsamplingBilinear2d(size=(9, 4))", (IMAGE,)),
    ("nn.RNN(4, 3, 2, nonlinearity='relu')", ((5, 2, 4),)),
    ("nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True, proj_size=2, dropout=0.5).eval()", ((2, 5, 4),)),
    ("nn.GRU(4, 3, bias=False)", ((5, 4),)),
    ("nn.RNNCell(4, 3)", ((2, 4),)),
    ("nn.LSTMCell(4, 3)", ((2, 4),)),
    ("nn.GRUCell(4, 3)", ((2, 4),)),
    ("nn.RNNBase('GRU', 4, 3)", ()),
    ("nn.RNNCellBase(4, 3, True, 2)", ()),
    ("nn.MultiheadAttention(4, 2, batch_first=True)", ((2, 5, 4), (2, 3, 4), (2, 3, 4))),
    (
        "nn.MultiheadAttention(4, 2, kdim=3, vdim=2, add_bias_kv=True, add_zero_attn=True)",
        ((5, 2, 4), (3, 2, 3), (3, 2, 2)),
    ),
    ("nn.TransformerEncoderLayer(4, 2, 8, 0.0, activation='gelu', norm_first=True)", ((5, 2, 4),)),
    ("nn.TransformerDecoderLayer(4, 2, 8, 0.0, batch_first=True)", ((2, 5, 4), (2, 3, 4))),
    (
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), 2, nn.LayerNorm(4))",
        ((2, 5, 4),),
    ),
    ("nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, 0.0), 2)", ((5, 2, 4), (3, 2, 4))),
    ("nn.Transformer(4, 2, 1, 1, 8, 0.0)", ((5, 2, 4), (3, 2, 4))),
    ("nn.AdaptiveLogSoftmaxWithLoss(8, 12, [4, 8], div_value=2.0)", ((3, 8), I((3,), 12))),
    ("nn.PoissonNLLLoss(full=True)", ((3, 4), (3, 4))),
    ("nn.GaussianNLLLoss(full=True)", ((3, 4), (3, 4), (3, 4))),
    *((f"nn.{name}()", ((3, 4), (3, 4))) for name in ("HingeEmbeddingLoss", "SoftMarginLoss")),
    ("nn.MultiLabelSoftMarginLoss(weight=torch.arange(4.0))", ((3, 4), (3, 4))),
    ("nn.MultiLabelMarginLoss()", ((3, 4), I((3, 4), 4))),
    ("nn.MultiMarginLoss(p=2, weight=torch.arange(4.0))", ((3, 4), I((3,), 4))),
    ("nn.CosineEmbeddingLoss()", ((3, 4), (3, 4), I((3,), 2))),
    ("nn.TripletMarginWithDistanceLoss(swap=True)", ((3, 4), (3, 4), (3, 4))),
    ("nn.CTCLoss(zero_infinity=True)", ()),
    ("nn.LinearCrossEntropyLoss(4, 3, out_features=(2,), bias=True)", ((3, 4), I((3, 2), 3))),
    ("nn.NLLLoss2d()", ((2, 4, 3, 3), I((2, 3, 3), 4))),
    *((f"nn.LazyBatchNorm{dims}d()", ()) for dims in (1, 2, 3)),
    *((f"nn.LazyInstanceNorm{dims}d()", ()) for dims in (1, 2, 3)),
    *((f"nn.LazyConv{kind}{dims}d(2, 3)", ()) for kind in ("", "Transpose") for dims in (1, 2, 3)),
    ("nn.LazyLinear(3)", ()),
    ("nn.Container(first=nn.ReLU())", ()),
    ("nn.ModuleList([nn.Linear(2, 2), nn.ReLU()])", ()),
    ("nn.ModuleDict({'a': nn.Linear(2, 2)})", ()),
    ("nn.ParameterList([torch.ones(2), torch.zeros(1)])", ()),
    ("nn.ParameterDict({'a': torch.ones(2)})", ()),
)


def make(torch: Any, expression: str) -> Any:
    """The module of a row, with weights of seed 0."""
    import warnings
    from collections import OrderedDict

    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what PyTorch deprecates
        return eval(expression, {"nn": torch.nn, "torch": torch, "OrderedDict": OrderedDict})


def sample(shape: Any) -> T:
    return shape if isinstance(shape, T) else T(shape, 0.1, 0.9)


def attributes(module: Any) -> dict[str, str]:
    """What an instance keeps, by name: the text of plain values, and the names in its dictionaries.

    Of hooks, their number: their keys count all hooks of a process. Of objects, their classes: addresses differ.
    """
    texts = {}
    for name, value in module.__dict__.items():
        inside = isinstance(value, dict) and name in ("_parameters", "_buffers", "_modules")
        if "_hooks" in name and value:
            texts[name] = f"{len(value)} hooks"
        else:
            text = f"{type(value).__name__}: {', '.join(value)}" if inside else repr(value)
            texts[name] = re.sub(r" at 0x[0-9a-f]+", "", text)
    return texts


def classes(module: Any) -> list[str]:
    """Where pickles look up the classes of a module and of those below it."""
    return [f"{type(each).__module__}.{type(each).__qualname__}" for each in module.modules()]


def main() -> None:
    import sys

    import torch

    torch.save({expression: make(torch, expression) for expression, _ in ROWS}, sys.argv[1])


if __name__ == "__main__":
    main()
