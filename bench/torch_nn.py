"""Normalisation, pooling and activations of usual sizes, forwards and backwards, and a step of training.

python bench/torch_nn.py [--reference PYTHON] [--threads N ...]
"""

from __future__ import annotations

from compare import main

PROGRAM = """
nn, F = torch.nn, torch.nn.functional
torch.manual_seed(0)

def training(function, *shape):
    x = torch.randn(shape, requires_grad=True)
    def step():
        x.grad = None
        function(x).sum().backward()
    return step

mean, var, weight, bias = torch.zeros(32), torch.ones(32), torch.ones(32), torch.zeros(32)
image, row = (16, 32, 28, 28), (1000, 1000)
cases = {
    'batch_norm, training': training(lambda x: F.batch_norm(x, mean, var, weight, bias, True), *image),
    'batch_norm, evaluation': training(lambda x: F.batch_norm(x, mean, var, weight, bias), *image),
    'group_norm': training(lambda x: F.group_norm(x, 8, weight, bias), *image),
    'max_pool2d 2': training(lambda x: F.max_pool2d(x, 2), *image),
    'max_pool2d 3, step 2': training(lambda x: F.max_pool2d(x, 3, 2, 1), *image),
    'avg_pool2d 2': training(lambda x: F.avg_pool2d(x, 2), *image),
    'adaptive_avg_pool2d 7': training(lambda x: F.adaptive_avg_pool2d(x, 7), *image),
    'silu': training(F.silu, *row),
    'softplus': training(F.softplus, *row),
    'gelu': training(F.gelu, *row),
    'hardswish': training(F.hardswish, *row),
}

model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
images, labels = torch.randn(32, 3, 32, 32), torch.randint(10, (32,))

def step():
    optimizer.zero_grad()
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()

cases['a step of a small network on 32 images'] = step
"""

if __name__ == "__main__":
    main(__doc__.splitlines()[0], PROGRAM)
