import tempfile
from pathlib import Path

from safetensors.torch import load_file, load_model, save_file, save_model

import torch

torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    path = str(Path(folder) / "x.safetensors")
    tensors = {"a": torch.randn(2, 3), "b": torch.arange(4), "c": torch.randn(3).bfloat16(), "d": torch.tensor([True])}
    save_file(tensors, path)
    print({name: (value.dtype, value.float().sum()) for name, value in sorted(load_file(path).items())})
    model = torch.nn.Linear(3, 2)
    save_model(model, path)
    other = torch.nn.Linear(3, 2)
    load_model(other, path)
    print(torch.equal(model.weight, other.weight))
