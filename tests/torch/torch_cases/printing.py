"""What tensors and modules look like when printed."""

from __future__ import annotations

from typing import Any

from torch_golden import Case

EXPRESSIONS = (
    "torch.tensor(1)",
    "torch.tensor(1.5)",
    "torch.tensor(True)",
    "torch.tensor([])",
    "torch.tensor([1, -20, 300])",
    "torch.tensor([1.0, 2.0, 3.0])",
    "torch.tensor([1.5, -2.25, 1000.0])",
    "torch.tensor([1e-5, 1.0])",
    "torch.tensor([1e-3, 1.0])",
    "torch.tensor([1e9, 1.0])",
    "torch.tensor([1e9])",
    "torch.tensor([100000.5, 1.0])",
    "torch.tensor([12345678.0])",
    "torch.tensor([123456789.0])",
    "torch.tensor([0.0, 0.0])",
    "torch.tensor([0.0, 1e-10])",
    "torch.tensor([float('inf'), float('-inf'), float('nan'), 1.0])",
    "torch.tensor([float('inf'), 1.5])",
    "torch.tensor([float('nan')])",
    "torch.tensor([float('nan'), 100000.0])",
    "torch.tensor([True, False])",
    "torch.tensor([1, 2], dtype=torch.uint8)",
    "torch.tensor([1, 2], dtype=torch.int32)",
    "torch.tensor([1.5], dtype=torch.float64)",
    "torch.zeros(2, 3)",
    "torch.zeros(0, 3)",
    "torch.zeros(2, 0, dtype=torch.int64)",
    "torch.zeros(0, dtype=torch.float64)",
    "torch.arange(24).reshape(2, 3, 4)",
    "torch.arange(24.0).reshape(2, 3, 2, 2) / 7",
    "torch.arange(1001)",
    "torch.arange(1000)",
    "torch.arange(4000).reshape(40, 100)",
    "torch.arange(20000.0).reshape(20, 10, 100) / 3",
    "torch.arange(1200).reshape(2, 600)",
    "torch.arange(1200).reshape(600, 2)",
    "torch.arange(1200).reshape(400, 3, 1)",
    "torch.randn(3, 4)",
    "torch.randn(30)",
    "torch.rand(4, 25)",
    "torch.tensor([[1.0, -2.0]]).t()",
    "torch.zeros(2, requires_grad=True)",
    "torch.ones(2, requires_grad=True) * 2",
    "torch.ones(2, 2, dtype=torch.float64, requires_grad=True).exp()",
    "torch.ones(2, requires_grad=True).sum()",
    "torch.ones(2, requires_grad=True).sigmoid()",
    "torch.ones(2, requires_grad=True).relu().mean()",
    "torch.ones(2, requires_grad=True)[0]",
    "torch.ones(2, 2, requires_grad=True) @ torch.ones(2, 2)",
    "torch.ones(2, 2, requires_grad=True).view(4)",
    "torch.nn.functional.mse_loss(torch.ones(2, requires_grad=True), torch.zeros(2))",
    "torch.nn.functional.linear(torch.ones(1, 2), torch.ones(2, 2, requires_grad=True), torch.zeros(2))",
    "torch.nn.functional.cross_entropy(torch.ones(1, 2, requires_grad=True), torch.tensor([1]))",
    "torch.nn.functional.softmax(torch.ones(1, 2, requires_grad=True), 1)",
    "torch.zeros(8, 8, requires_grad=True).exp()",
    "torch.zeros(2, 3, device='meta')",
    "torch.zeros(2, dtype=torch.int64, device='meta')",
    "torch.nn.Parameter(torch.zeros(2))",
    "torch.nn.Parameter(torch.zeros(2), requires_grad=False)",
    "[torch.zeros(1), {'a': torch.ones(2, 2)}]",
    "torch.max(torch.tensor([[1.0, 2.0]]), 1)",
    "torch.randn(2, 3).sort()",
    "torch.iinfo(torch.int32)",
)
OPTIONS = (
    {"precision": 2},
    {"precision": 8},
    {"threshold": 5, "edgeitems": 1},
    {"linewidth": 40},
    {"sci_mode": True},
    {"sci_mode": False},
    {"profile": "short"},
    {"profile": "full"},
    {"edgeitems": 2, "threshold": 10},
)
MODULES = (
    "nn.Linear(3, 4)",
    "nn.Linear(3, 4, bias=False)",
    "nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 2), nn.Softmax(dim=1)))",
    "nn.Sequential()",
    "nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU()])",
    "nn.ModuleList()",
    "nn.ModuleDict({'a': nn.Tanh(), 'b': nn.Identity()})",
    "nn.ParameterList([torch.zeros(2, 3), torch.ones(1)])",
    "nn.ParameterDict({'a': torch.zeros(2, 3)})",
    "nn.Dropout(0.2)",
    "nn.Embedding(10, 3, padding_idx=0)",
    "nn.LayerNorm((3, 4))",
    "nn.LayerNorm(4, elementwise_affine=False)",
    "nn.GELU(), nn.GELU('tanh'), nn.SiLU(), nn.LeakyReLU(0.2), nn.ReLU(inplace=True), nn.Softmax(1), nn.LogSoftmax(-1)",
    "nn.Flatten(), nn.Unflatten(1, (2, 2)), nn.ELU(), nn.Softplus(), nn.Hardtanh(), nn.ReLU6(), nn.LogSigmoid()",
    "nn.MSELoss(), nn.L1Loss(), nn.CrossEntropyLoss(), nn.NLLLoss(), nn.BCELoss()",
    "nn.BCEWithLogitsLoss(), nn.SmoothL1Loss()",
    "nn.Conv2d(1, 32, 3), nn.Conv2d(2, 4, (3, 2), 2, 1, 2, 2, bias=False), nn.Conv1d(1, 2, 3, padding='same')",
    "nn.MaxPool2d(2), nn.MaxPool1d(3, 2, 1), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d((1, 1)), nn.Dropout2d(0.25)",
    "nn.BatchNorm2d(8), nn.BatchNorm1d(4, affine=False), nn.ConvTranspose2d(4, 2, 3, 2, 1, 1), nn.Conv3d(1, 1, 2)",
    "nn.GroupNorm(2, 4), nn.PReLU(3), nn.GLU(), nn.Mish(), nn.Hardswish(), nn.SELU(inplace=True), nn.PixelShuffle(2)",
    "nn.KLDivLoss(), nn.HuberLoss(), nn.RMSNorm(4), nn.Unfold(3), nn.CosineSimilarity(), nn.Softsign()",
    "nn.TripletMarginLoss(), nn.MarginRankingLoss(), nn.Tanhshrink(), nn.Hardsigmoid()",
    "torch.optim.SGD([torch.zeros(1)], lr=0.1, momentum=0.9)",
)


def _printed(text: str) -> Case:
    return Case(lambda torch: repr(eval(text, {"torch": torch, "nn": torch.nn})))


def _with_options(options: dict[str, Any]) -> Case:
    def function(torch: Any) -> Any:
        try:
            torch.set_printoptions(**options)
            values = (
                torch.arange(12).reshape(3, 4) / 7,
                torch.arange(30),
                torch.tensor([1e-6, 1.0]),
                torch.tensor([3.0]),
                torch.tensor([-1.0, 20000.0, 0.5]),
                torch.zeros(2),
                torch.tensor([-1.0, 3000.0]),
            )
            return [repr(value) for value in values]
        finally:
            torch.set_printoptions(profile="default")

    return Case(function)


CASES: dict[str, Case] = {text: _printed(text) for text in (*EXPRESSIONS, *MODULES)}
CASES.update({f"options {options}": _with_options(options) for options in OPTIONS})
