"""Convolutions of usual sizes, forwards and backwards, and a step of training LeNet, next to another torch.

./slipway bench torch_conv [--reference PYTHON] [--threads N ...]
"""

from __future__ import annotations

from compare import main

PROGRAM = """
nn, F = torch.nn, torch.nn.functional
torch.manual_seed(0)

def forward(shape, weight, *args, function=F.conv2d):
    x, w = torch.randn(shape), torch.randn(weight)
    return lambda: function(x, w, None, *args)

def training(shape, weight, *args, function=F.conv2d):
    x, w = torch.randn(shape, requires_grad=True), torch.randn(weight, requires_grad=True)
    def step():
        x.grad = w.grad = None
        function(x, w, None, *args).sum().backward()
    return step

cases = {}
for name, (shape, *rest) in {
    '8 x 16 x 28 x 28, 3 x 3 to 16': ((8, 16, 28, 28), (16, 16, 3, 3), 1, 1),
    '32 x 16 x 28 x 28, 3 x 3 to 32': ((32, 16, 28, 28), (32, 16, 3, 3), 1, 1),
    '8 x 64 x 28 x 28, 3 x 3 to 64': ((8, 64, 28, 28), (64, 64, 3, 3), 1, 1),
    '8 x 32 x 64 x 64, 3 x 3 to 32': ((8, 32, 64, 64), (32, 32, 3, 3), 1, 1),
    '32 x 1 x 28 x 28, 5 x 5 to 6': ((32, 1, 28, 28), (6, 1, 5, 5), 1, 2),
    '8 x 64 x 28 x 28, 1 x 1 to 64': ((8, 64, 28, 28), (64, 64, 1, 1)),
    '8 x 32 x 56 x 56, 3 x 3 to 64, step 2': ((8, 32, 56, 56), (64, 32, 3, 3), 2, 1),
    '8 x 64 x 28 x 28, 3 x 3 each': ((8, 64, 28, 28), (64, 1, 3, 3), 1, 1, 1, 64),
    '32 x 256 x 7 x 7, 3 x 3 to 256': ((32, 256, 7, 7), (256, 256, 3, 3), 1, 1),
    '1 x 3 x 224 x 224, 7 x 7 to 64, step 2': ((1, 3, 224, 224), (64, 3, 7, 7), 2, 3),
}.items():
    cases[name] = forward(shape, *rest)
    cases[f'  {len(cases)}: and backward'] = training(shape, *rest)
cases['conv1d: 16 x 32 x 256, 5 to 32'] = forward((16, 32, 256), (32, 32, 5), 1, 2, function=F.conv1d)
cases['conv3d: 2 x 8 x 16^3, 3^3 to 16'] = forward((2, 8, 16, 16, 16), (16, 8, 3, 3, 3), 1, 1, function=F.conv3d)
cases['transposed: 8 x 32 x 28 x 28, 4 x 4 to 16'] = forward(
    (8, 32, 28, 28), (32, 16, 4, 4), 2, 1, function=F.conv_transpose2d)

model = nn.Sequential(
    nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
images, labels = torch.randn(32, 1, 28, 28), torch.randint(10, (32,))

def step():
    optimizer.zero_grad()
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()

cases['LeNet, a step on 32 digits'] = step
"""

if __name__ == "__main__":
    main(__doc__.splitlines()[0], PROGRAM)
