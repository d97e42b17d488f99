"""Whole programs: what users run."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import torch

ROOT = Path(__file__).resolve().parents[2]
SEARCH_PATH = os.pathsep.join(sys.path)
DIGITS = Path(__file__).parent / "data" / "digits.npz"


def test_hello_world(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "hello_world.py"))
    assert capsys.readouterr().out.splitlines() == [
        "tensor([0.8506], grad_fn=<SigmoidBackward0>)",
        "tensor(0.0223, grad_fn=<MseLossBackward0>)",
    ]


def test_a_program_that_type_checkers_accept_runs(tmp_path: Path) -> None:
    program = Path(__file__).parent / "programs" / "train_classifier.py"
    command = [sys.executable, str(program)]
    answer = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env=os.environ | {"PYTHONPATH": SEARCH_PATH}
    )
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "checkpoint.pt").is_file()


def test_digits_are_learned() -> None:
    """A small network reaches 95 % on 360 digits that it has not seen."""
    with np.load(DIGITS) as file:
        images = torch.from_numpy(file["images"].astype(np.float32)) / 16
        labels = torch.from_numpy(file["labels"].astype(np.int64))
    data = torch.utils.data.TensorDataset(images, labels)
    train, test = torch.utils.data.random_split(data, [1437, 360])
    nn = torch.nn
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 8, 0.3)
    for _ in range(12):
        for x, y in torch.utils.data.DataLoader(train, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        schedule.step()
    model.eval()
    with torch.no_grad():
        x, y = next(iter(torch.utils.data.DataLoader(test, batch_size=len(test))))
        accuracy = (model(x).argmax(1) == y).double().mean().item()
    assert accuracy > 0.95


def _in_a_new_process(program: str) -> str:
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_import_loads_little() -> None:
    """`import torch` must not pull in what most programs never use."""
    program = "import sys, torch; print(*[name for name in sys.modules])"
    loaded = set(_in_a_new_process(program).split())
    assert "torch._C" in loaded
    heavy = {"numpy", "typing", "inspect", "dataclasses", "pickle", "zipfile", "multiprocessing", "setuptools", "ast"}
    ours = {"torch.nn", "torch.optim", "torch.serialization", "torch.utils", "torch.cuda", "torch.testing"}
    bare = set(_in_a_new_process("import sys; print(*[name for name in sys.modules])").split())
    assert loaded & (heavy | ours) - bare == set()


def test_submodules_are_found_without_imports() -> None:
    program = (
        "import torch; m = torch.nn.Linear(2, 2); torch.optim.SGD(m.parameters(), 0.1);"
        "torch.utils.data.DataLoader([1]);"
        "torch.testing.assert_close(1, 1); print(torch.cuda.is_available(), torch.backends.mkl.is_available(),"
        "torch.autograd.Function.__name__, torch.nn.functional.relu(torch.ones(1)).item(), torch.random.initial_seed)"
    )
    assert "Function 1.0" in _in_a_new_process(program)


def test_version_and_configuration() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(a\d+|rc\d+|\.post\d+)?(\+.*)?", torch.__version__)
    assert torch.version.__version__ == torch.__version__
    assert torch.__version__ > "2.4"
    assert torch.__version__ >= (2, 13, "0a0")
    assert torch.__version__ < "2.13"
    assert torch.__version__ != "parrot"
    assert torch.version.cuda is None or re.fullmatch(r"\d+\.\d+", torch.version.cuda)
    assert torch.version.hip is None
    assert "BLAS" in torch.__config__.show()
    assert "threads" in torch.__config__.parallel_info().lower()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = torch.version.nothing


def test_what_is_missing_says_what_to_do() -> None:
    with pytest.raises(AttributeError, match=r"torch\.quantize_per_tensor is not implemented in this torch"):
        _ = torch.quantize_per_tensor
    with pytest.raises(AttributeError, match="module 'torch' has no attribute 'nonsense'"):
        _ = torch.nonsense
    if not torch.cuda.is_available():
        with pytest.warns(UserWarning, match="pin_memory"):
            assert next(iter(torch.utils.data.DataLoader([1], pin_memory=True))).tolist() == [1]


def test_names_in_all_exist() -> None:
    assert [name for name in torch.__all__ if not hasattr(torch, name)] == []
    assert len(set(torch.__all__)) == len(torch.__all__)
    assert {"add", "zeros", "nn", "save", "Tensor", "float32", "cuda"} <= set(dir(torch))
