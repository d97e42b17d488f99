"""Small models of many families, for the tests of torch.onnx: (model, arguments, dynamic shapes, other arguments)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional as F


class Residual(nn.Module):
    def __init__(self, size: int, out: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(size, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True)
        )
        self.second = nn.Sequential(nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out))
        self.short = (
            nn.Sequential(nn.Conv2d(size, out, 1, stride), nn.BatchNorm2d(out)) if stride > 1 else nn.Identity()
        )

    def forward(self, x: Tensor) -> Tensor:
        y = self.second(self.first(x))
        y += self.short(x)
        return F.relu(y, inplace=True)


def resnet() -> nn.Module:
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5)]
    return nn.Sequential(
        nn.Conv2d(3, 8, 7, 2, 3), nn.MaxPool2d(3, 2, 1), Residual(8, 8, 1), Residual(8, 16, 2), *head
    )  # fmt: skip


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, padding=1)
        self.deep = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.SiLU())
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.out = nn.Conv2d(16, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        wide = F.gelu(self.down(x))
        deep = self.deep(F.max_pool2d(wide, 2))
        up = self.up(deep)
        up = F.interpolate(up, size=wide.shape[-2:], mode="bilinear", align_corners=False)
        return self.out(torch.cat([wide, up], 1))


class GPT(nn.Module):
    """With a causal mask that is a buffer, sliced to the sequence."""

    def __init__(self, longest: int = 64) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(31, 16), nn.Embedding(longest, 16)
        self.project, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.norm, self.last = nn.LayerNorm(16), nn.LayerNorm(16)
        self.feed = nn.Sequential(nn.Linear(16, 64), nn.GELU("tanh"), nn.Linear(64, 16), nn.Dropout(0.1))
        self.register_buffer("mask", torch.tril(torch.ones(longest, longest, dtype=torch.bool)))

    def forward(self, words: Tensor) -> Tensor:
        batch, time = words.shape
        x = self.words(words) + self.places(torch.arange(time, device=words.device))
        query, key, value = self.project(self.norm(x)).split(16, dim=2)
        query, key, value = (each.view(batch, time, 2, 8).transpose(1, 2) for each in (query, key, value))
        scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
        scores = scores.masked_fill(~self.mask[:time, :time], float("-inf"))
        mixed = (scores.softmax(-1) @ value).transpose(1, 2).contiguous().view(batch, time, 16)
        x = x + self.out(mixed)
        return F.linear(self.last(x + self.feed(x)), self.words.weight)


class Llama(nn.Module):
    """Rotary places, grouped heads, RMSNorm, SwiGLU."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(31, 16)
        self.query, self.keys = nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.norm = nn.RMSNorm(16)
        self.gate, self.up, self.down = nn.Linear(16, 32), nn.Linear(16, 32), nn.Linear(32, 16)
        self.register_buffer("frequencies", 1.0 / 10000 ** (torch.arange(0, 4, 2) / 4), persistent=False)

    def rotate(self, x: Tensor) -> Tensor:
        angles = torch.outer(torch.arange(x.shape[2]).float(), self.frequencies)
        angles = torch.cat([angles, angles], -1)
        half = torch.cat([-x[..., 2:], x[..., :2]], -1)
        return x * angles.cos() + half * angles.sin()

    def forward(self, words: Tensor) -> Tensor:
        x = self.words(words)
        batch, time, _ = x.size()
        normed = self.norm(x)
        query = self.query(normed).reshape(batch, time, 4, 4).transpose(1, 2)
        key, value = self.keys(normed).reshape(batch, time, 2, 2, 4).unbind(2)
        query, key = self.rotate(query), self.rotate(key.transpose(1, 2))
        mixed = F.scaled_dot_product_attention(query, key, value.transpose(1, 2), is_causal=True, enable_gqa=True)
        x = x + mixed.transpose(1, 2).flatten(2)
        return x + self.down(F.silu(self.gate(x)) * self.up(x))


class ViT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 8, 8)
        self.token, self.places = nn.Parameter(torch.randn(1, 1, 16)), nn.Parameter(torch.randn(1, 17, 16))
        layer = nn.TransformerEncoderLayer(16, 2, 32, activation="gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 4)

    def forward(self, images: Tensor) -> Tensor:
        x = self.patch(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        return self.head(self.layers(x)[:, 0])


class Bert(nn.Module):
    """Padding by a mask; the first word's state and all states."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.kinds, self.places = (
            nn.Embedding(31, 16, padding_idx=0),
            nn.Embedding(2, 16),
            nn.Embedding(64, 16),
        )
        self.attention, self.norm = nn.MultiheadAttention(16, 4, batch_first=True), nn.LayerNorm(16)
        self.pool = nn.Linear(16, 16)
        self.register_buffer("position_ids", torch.arange(64).expand(1, -1))

    def forward(self, words: Tensor, mask: Tensor, kinds: Tensor | None = None) -> dict[str, Tensor]:
        kinds = torch.zeros_like(words) if kinds is None else kinds
        x = self.words(words) + self.kinds(kinds) + self.places(self.position_ids[:, : words.size(1)])
        mixed, _ = self.attention(x, x, x, key_padding_mask=mask == 0, need_weights=False)
        x = self.norm(x + mixed)
        return {"last_hidden_state": x, "pooler_output": torch.tanh(self.pool(x[:, 0]))}


class Detector(nn.Module):
    """Boxes at every place of two feature maps, decoded and clipped, and the best 10 of them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, 4, 1), nn.LeakyReLU(0.1))
        self.second = nn.Sequential(nn.Conv2d(8, 8, 3, 2, 1), nn.Hardswish())
        self.head = nn.Conv2d(8, 4 + 3, 1)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        height, width = images.shape[-2:]
        boxes, scores = [], []
        near = self.first(images)
        for stride, features in ((4, near), (8, self.second(near))):
            found = self.head(features)
            rows, columns = torch.arange(found.shape[2]), torch.arange(found.shape[3])
            y, x = torch.meshgrid(rows, columns, indexing="ij")
            found = found.permute(0, 2, 3, 1)
            center = (found[..., :2].sigmoid() + torch.stack([x, y], -1)) * stride
            size = found[..., 2:4].clamp(max=4).exp() * stride
            corners = torch.cat([center - size / 2, center + size / 2], -1)
            corners[..., 0::2] = corners[..., 0::2].clamp(min=0, max=width)
            corners[..., 1::2] = corners[..., 1::2].clamp(min=0, max=height)
            boxes.append(corners.flatten(1, 2))
            scores.append(found[..., 4:].softmax(-1).flatten(1, 2))
        all_scores, labels = torch.cat(scores, 1).max(-1)
        best, order = all_scores.topk(10)
        picked = torch.cat(boxes, 1).gather(1, order.unsqueeze(-1).expand(-1, -1, 4))
        return picked, best, labels.gather(1, order)


class Recurrent(nn.Module):
    def __init__(self, kind: type[nn.RNNBase], **options: Any) -> None:
        super().__init__()
        self.words = nn.Embedding(31, 8)
        self.network = kind(8, 6, batch_first=True, **options)
        self.out = nn.Linear(6 * (2 if options.get("bidirectional") else 1), 3)

    def forward(self, words: Tensor) -> tuple[Tensor, Tensor]:
        states, last = self.network(self.words(words))
        return self.out(states), last[0] if isinstance(last, tuple) else last


class Recommender(nn.Module):
    """Bags of sparse features: embeddings with `sparse=True`, a mean over what is not padding, an outer product."""

    def __init__(self) -> None:
        super().__init__()
        self.users = nn.Embedding(50, 8, sparse=True)
        self.items = nn.EmbeddingBag(40, 8, mode="sum", sparse=True)
        self.top = nn.Sequential(nn.Linear(8 + 8 + 64, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())

    def forward(self, users: Tensor, items: Tensor) -> Tensor:
        user, item = self.users(users), self.items(items)
        crossed = torch.einsum("bi,bj->bij", user, item).flatten(1)
        return self.top(torch.cat([user, item, crossed], 1)).squeeze(-1)


class InPlace(nn.Module):
    """Writes into views and by masks, in the way that programs fill their results."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        out = torch.zeros(x.shape[0], x.shape[1], 4)
        out[:, :, 0] = x
        out[:, 1:, 1] = x[:, :-1]
        out[..., 2].copy_(x * 2)
        row = out[0]
        row += 1
        out[out > 2] = 2
        head = out[:, 0]
        head.mul_(3).clamp_(max=5)
        return out, row.sum(-1)


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layers = [
            nn.Linear(6, 8),
            nn.BatchNorm1d(8),
            nn.ELU(),
            nn.Linear(8, 8),
            nn.Softplus(),
            nn.LayerNorm(8),
            nn.Linear(8, 2),
        ]
        self.layers = nn.Sequential(*layers)
        self.weighted = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))

    def forward(self, x: Tensor, *, scale: float = 1.0) -> Tensor:
        return self.weighted(self.layers(x)) * scale


class Rotary(nn.Module):
    """Places as rotations by complex numbers."""

    def __init__(self) -> None:
        super().__init__()
        angles = torch.outer(torch.arange(32.0), 1 / (100 ** (torch.arange(0, 8, 2) / 8)))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.turns[: x.shape[1]].unsqueeze(1)).flatten(3)


class Spectrogram(nn.Module):
    """A mask on a signal's short spectra, and the signal again."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))
        self.mask = nn.Linear(9, 9)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        spectra = torch.stft(x, 16, 4, window=self.window, return_complex=True)
        size = spectra.abs().transpose(1, 2)
        return size.log1p(), (spectra * self.mask(size).sigmoid().transpose(1, 2)).real


class FourierOperator(nn.Module):
    """Weights on a signal's lowest frequencies."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 4, 5, dtype=torch.complex64))

    def forward(self, x: Tensor) -> Tensor:
        low = torch.fft.rfft(x)
        high = torch.zeros(x.shape[0], 4, low.shape[-1], dtype=torch.complex64)
        high[:, :, :5] = torch.einsum("bix,iox->box", low[:, :, :5], self.weight)
        return torch.fft.irfft(high, n=x.shape[-1])


def _words(*shape: int) -> Tensor:
    return torch.randint(1, 31, shape)


def _mask(*shape: int) -> Tensor:
    mask = torch.ones(shape, dtype=torch.int64)
    mask[:, -1] = 0
    return mask


BATCH, TIME = "batch", Dim("time", max=64)
TEXT = {"words": {0: BATCH, 1: TIME}}


def cases() -> dict[str, tuple[nn.Module, tuple[Any, ...], Any, tuple[Any, ...]]]:
    """Every family: the model in eval mode, arguments, what is dynamic, arguments of another size."""
    images = ({0: "batch", 2: "height", 3: "width"},)
    mixed = {"words": {0: BATCH, 1: TIME}, "mask": {0: BATCH, 1: TIME}}
    cnn = nn.Sequential(
        nn.Conv2d(3, 4, 3),
        nn.PReLU(4),
        nn.AvgPool2d(2),
        nn.Conv2d(4, 4, 3, groups=2, dilation=2),
        nn.Flatten(),
        nn.Linear(36, 2),
    )
    found: dict[str, tuple[nn.Module, tuple[Any, ...], Any, tuple[Any, ...]]] = {
        "cnn": (cnn, (torch.randn(2, 3, 16, 16),), ({0: "batch"},), (torch.randn(5, 3, 16, 16),)),
        "mlp": (Mlp(), (torch.randn(3, 6),), ({0: "batch"},), (torch.randn(7, 6),)),
        "resnet": (resnet(), (torch.randn(2, 3, 32, 32),), images, (torch.randn(1, 3, 48, 40),)),
        "unet": (UNet(), (torch.randn(2, 3, 16, 16),), images, (torch.randn(1, 3, 20, 24),)),
        "gpt": (GPT(), (_words(2, 7),), TEXT, (_words(3, 11),)),
        "llama": (Llama(), (_words(2, 7),), {"words": {0: BATCH, 1: "time"}}, (_words(3, 11),)),
        "vit": (ViT(), (torch.randn(2, 3, 32, 32),), ({0: "batch"},), (torch.randn(3, 3, 32, 32),)),
        "bert": (Bert(), (_words(2, 7), _mask(2, 7)), mixed, (_words(3, 9), _mask(3, 9))),
        "detector": (Detector(), (torch.randn(2, 3, 32, 32),), images, (torch.randn(1, 3, 48, 64),)),
        "lstm": (Recurrent(nn.LSTM, num_layers=2), (_words(2, 7),), ({0: BATCH, 1: "time"},), (_words(3, 11),)),
        "lstm both ways": (Recurrent(nn.LSTM, bidirectional=True), (_words(2, 7),), ({0: BATCH},), (_words(3, 7),)),
        "gru": (Recurrent(nn.GRU, num_layers=2, bidirectional=True), (_words(2, 7),), ({0: BATCH, 1: "time"},),
                (_words(3, 11),)),
        "rnn": (Recurrent(nn.RNN), (_words(2, 7),), ({0: BATCH, 1: "time"},), (_words(3, 11),)),
        "recommender": (Recommender(), (torch.tensor([3, 4]), torch.tensor([[1, 2, 3], [4, 4, 0]])),
                        ({0: BATCH}, {0: BATCH}),
                        (torch.tensor([7, 8, 9]), torch.tensor([[1, 1, 1], [2, 2, 3], [3, 9, 39]]))),
        "rotary": (Rotary(), (torch.randn(2, 5, 3, 8),), ({0: BATCH, 1: Dim("time", max=32)},),
                   (torch.randn(3, 7, 3, 8),)),
        "spectrogram": (Spectrogram(), (torch.randn(2, 64),), ({0: BATCH, 1: "time"},), (torch.randn(3, 80),)),
        "fourier operator": (FourierOperator(), (torch.randn(2, 3, 16),), ({0: BATCH},), (torch.randn(4, 3, 16),)),
        "in place": (InPlace(), (torch.randn(2, 5),), ({0: BATCH, 1: "time"},), (torch.randn(3, 8),)),
    }  # fmt: skip
    for model, *_ in found.values():
        model.eval()
    return found
