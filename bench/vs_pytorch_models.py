"""Models whose training steps vs_pytorch.py measures; a function gives a model, inputs, targets and an optimizer."""

from __future__ import annotations

import itertools
from typing import Any


def mlp(torch: Any, batch: int = 32, width: int = 64) -> tuple[Any, ...]:
    """Two hidden layers of `width`."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))
    return model, torch.randn(batch, width), torch.randint(10, (batch,)), "SGD"


def large_mlp(torch: Any) -> tuple[Any, ...]:
    """The same, of a size where the products count."""
    return (*mlp(torch, 256, 1024)[:3], "Adam")


def small_cnn(torch: Any) -> tuple[Any, ...]:
    """LeNet's shape on 32 digits."""
    nn = torch.nn
    model = nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    )
    return model, torch.randn(32, 1, 28, 28), torch.randint(10, (32,)), "SGD"


def resnet18(torch: Any) -> tuple[Any, ...]:
    """ResNet-18 on four images of 96 x 96."""
    nn = torch.nn

    class Block(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.body = nn.Sequential(
                *(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()),
                *(nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)),
            )
            short = (nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
            self.short = nn.Identity() if stride == 1 and inputs == outputs else nn.Sequential(*short)

        def forward(self, x: Any) -> Any:
            return torch.relu(self.body(x) + self.short(x))

    widths = [64, 64, 64, 128, 128, 256, 256, 512, 512]
    blocks = [Block(inputs, outputs, 1 if inputs == outputs else 2) for inputs, outputs in itertools.pairwise(widths)]
    stem = (nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
    model = nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 100))
    return model, torch.randn(4, 3, 96, 96), torch.randint(100, (4,)), "SGD"


def lstm_language_model(torch: Any) -> tuple[Any, ...]:
    """An embedding, two layers of LSTM, scores of 2,000 words."""
    nn = torch.nn

    class Model(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(2000, 128)
            self.lstm = nn.LSTM(128, 256, 2, batch_first=True)
            self.scores = nn.Linear(256, 2000)

        def forward(self, words: Any) -> Any:
            return self.scores(self.lstm(self.embedding(words))[0])

    text = torch.randint(2000, (16, 33))
    return Model(), text[:, :-1], text[:, 1:], "Adam"


def _transformer(torch: Any, first: Any, positions: int, width: int, depth: int, heads: int, **options: Any) -> Any:
    """Blocks of attention, causal or not, over what `first` makes of the inputs; `outputs` scores."""
    nn, functional = torch.nn, torch.nn.functional

    class Block(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
            self.together, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.body = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x: Any) -> Any:
            parts = self.together(self.norms[0](x)).unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(*parts.unbind(0), is_causal=options["causal"])
            x = x + self.out(mixed.transpose(1, 2).flatten(-2))
            return x + self.body(self.norms[1](x))

    class Model(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = first
            self.positions = nn.Parameter(torch.randn(positions, width) * 0.02)
            self.blocks = nn.Sequential(*(Block() for _ in range(depth)))
            self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, options["outputs"])

        def forward(self, x: Any) -> Any:
            x = self.norm(self.blocks(self.first(x) + self.positions))
            return self.scores(x if options["causal"] else x.mean(1))

    return Model()


def gpt(torch: Any) -> tuple[Any, ...]:
    """Six blocks of width 384, contexts of 128 out of 1,000 words."""
    model = _transformer(torch, torch.nn.Embedding(1000, 384), 128, 384, 6, 6, causal=True, outputs=1000)
    text = torch.randint(1000, (4, 129))
    return model, text[:, :-1], text[:, 1:], "AdamW"


def vit(torch: Any) -> tuple[Any, ...]:
    """Six blocks of width 192 over 64 patches."""

    class Patches(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.patches = torch.nn.Conv2d(3, 192, 4, 4)

        def forward(self, x: Any) -> Any:
            return self.patches(x).flatten(2).transpose(1, 2)

    model = _transformer(torch, Patches(), 64, 192, 6, 3, causal=False, outputs=10)
    return model, torch.randn(16, 3, 32, 32), torch.randint(10, (16,)), "AdamW"


MODELS = {
    "MLP, 32 x 64": mlp,
    "MLP, 256 x 1024": large_mlp,
    "LeNet, 32 digits": small_cnn,
    "ResNet-18, 4 x 96 x 96": resnet18,
    "LSTM, 16 x 32 words": lstm_language_model,
    "GPT, 6 x 384": gpt,
    "ViT, 6 x 192": vit,
}
