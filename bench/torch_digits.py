"""Trains a small network on the 1,437 training digits for ten epochs; seconds and accuracy, next to another torch.

./slipway bench torch_digits [--reference PYTHON]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

DIGITS = Path(__file__).resolve().parents[1] / "tests" / "torch" / "data" / "digits.npz"
PROGRAM = """
import sys, time
import numpy as np, torch
torch.manual_seed(0)
torch.set_num_threads(1)
with np.load(sys.argv[1]) as file:
    images = torch.from_numpy(file['images'].astype(np.float32)) / 16
    labels = torch.from_numpy(file['labels'].astype(np.int64))
data = torch.utils.data.TensorDataset(images, labels)
train, test = torch.utils.data.random_split(data, [1437, 360])
nn = torch.nn
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
start = time.perf_counter()
for epoch in range(10):
    for x, y in torch.utils.data.DataLoader(train, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
seconds = time.perf_counter() - start
with torch.no_grad():
    x, y = next(iter(torch.utils.data.DataLoader(test, batch_size=360)))
    accuracy = (model(x).argmax(1) == y).double().mean().item()
print(f'torch {torch.__version__}: {seconds:.2f} s, last loss {loss.item():.4f}, accuracy {accuracy:.4f}')
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", metavar="PYTHON", help="interpreter of an environment with another torch")
    options = parser.parse_args()
    for python in filter(None, (sys.executable, options.reference)):
        subprocess.run([python, "-c", PROGRAM, str(DIGITS)], check=True)


if __name__ == "__main__":
    main()
