"""What programs write: a data set, a model, a training loop, a checkpoint. It runs, and type checkers accept it."""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn, optim
from torch.optim.lr_scheduler import CosineAnnealingLR, StepLR
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split


class Spirals(Dataset[tuple[Tensor, Tensor]]):
    def __init__(self, count: int) -> None:
        angle = torch.linspace(0, 6.28, count)
        label = torch.arange(count) % 2
        radius = torch.where(label.bool(), angle, -angle)
        self.points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)
        self.labels = label

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.points[index], self.labels[index]


class Classifier(nn.Module):
    def __init__(self, inputs: int, hidden: int, outputs: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, hidden), nn.LayerNorm(hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, outputs)
        )
        self.scale = nn.Parameter(torch.ones(outputs))
        self.offset: Tensor
        self.register_buffer("offset", torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x) * self.scale + self.offset


class Images(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 8, kernel_size=3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.blocks = nn.ModuleList([nn.Conv2d(8, 8, 3, padding=1) for _ in range(2)])
        self.head = nn.Linear(8 * 7 * 7, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        for block in self.blocks:
            x = x + torch.relu(block(x))
        x = nn.functional.adaptive_avg_pool2d(x, 7)
        return F.log_softmax(self.head(x.flatten(1)), dim=-1)


def accuracy(model: nn.Module, loader: DataLoader[tuple[Tensor, Tensor]], device: torch.device) -> float:
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for points, labels in loader:
            predicted = model(points.to(device)).argmax(dim=1)
            correct += int((predicted == labels.to(device)).sum().item())
            total += labels.size(0)
    return correct / max(total, 1)


@torch.inference_mode()
def predict(model: nn.Module, x: Tensor) -> list[int]:
    values, indices = model(x).softmax(-1).max(dim=-1)
    print(values.mean().item(), f"{values[0]:.3f}")
    best = torch.topk(values, k=1)
    print(best.values, best.indices.tolist())
    return indices.tolist()


def main(folder: Path, epochs: int = 3, learning_rate: float = 1e-2) -> None:
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    generator = torch.Generator().manual_seed(1)
    training, held_out = random_split(Spirals(200), [160, 40], generator=generator)
    loader = DataLoader(training, batch_size=16, shuffle=True, num_workers=0, drop_last=True)
    model = Classifier(2, 32, 2).to(device=device, dtype=torch.float32)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=1e-4)
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        model.train()
        running = 0.0
        for points, labels in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(points.to(device)), labels.to(device))
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()
            running += loss.item() * points.shape[0]
            print(float(norm))
        scheduler.step()
        print(f"{epoch}: {running / len(training):.4f}", scheduler.get_last_lr()[0])
    print(accuracy(model, DataLoader(held_out, batch_size=40), device))
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, folder / "checkpoint.pt")
    checkpoint = torch.load(folder / "checkpoint.pt", map_location="cpu", weights_only=True)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    print(predict(model, torch.randn(4, 2, device=device)), sum(p.numel() for p in model.parameters()))


def tensors() -> None:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    b = 2 * a + 1 - a / 3 + a @ a.T
    b[0, :] = 0
    b[b > 1] += 1
    (gradient,) = torch.autograd.grad(b.pow(2).sum(), a)
    total: float = gradient.abs().max().item()
    c = torch.cat([a, b], dim=0).reshape(-1, 2).permute(1, 0).unsqueeze(0).expand(3, -1, -1)
    d = torch.einsum("bij,bkj->bik", c, c).float().to("cpu").contiguous().view(3, -1)
    rows, columns = d.shape
    print(total, rows * columns, d.dtype is torch.float, d.detach().numpy().sum(), -d, d.long() & 1, ~d.bool())
    data = TensorDataset(d, torch.zeros(len(d), dtype=torch.long))
    print(len(data), data[0], torch.allclose(d, d), torch.equal(d, d), torch.finfo(torch.float32).eps)
    q, k, v = torch.randn(3, 2, 4, 8, 16).unbind(0)
    attention = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    print(attention.std(dim=-1, keepdim=True).squeeze(-1), torch.arange(0, 1, 0.1), torch.full((2, 3), 1.5), torch.pi)
    sgd = torch.optim.SGD([{"params": [a], "lr": 0.1}], lr=0.2, momentum=0.9, nesterov=True)
    StepLR(sgd, step_size=1, gamma=0.5).step()
    for group in sgd.param_groups:
        group["lr"] *= 0.5
    with torch.autograd.set_grad_enabled(False), torch.enable_grad():
        torch.nn.init.xavier_uniform_(a)
    low, high = a.min(), a.max()
    print(
        low,
        high,
        torch.stack((low, high)).tolist(),
        torch.clamp(a, min=0),
        a.detach().clamp_(0, 1),
        torch.where(a > 0, a, 0.0),
    )
    print(
        torch.cuda.device_count(),
        torch.backends.mkl.is_available(),
        torch.__version__,
        torch.version.cuda,
        a.detach().cpu(),
    )


if __name__ == "__main__":
    main(Path.cwd())
    tensors()
    print(Images()(torch.randn(2, 1, 28, 28)).shape)
