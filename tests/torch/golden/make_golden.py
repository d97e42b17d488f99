"""Writes the golden answers with real PyTorch. Run it in an environment with torch==2.13.0 (CPU) and NumPy:

    python tests/torch/golden/make_golden.py [TABLE...] [--check-ours FILE.pt]

`--check-ours` reads a file that this torch's `torch.save` wrote and compares it with the file of the real one.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import OrderedDict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import torch_golden  # noqa: E402
from torch_cases import TABLES  # noqa: E402
from torch_cases.complex_types import COMPLEX, UNSIGNED  # noqa: E402
from torch_cases.creation import NAMES  # noqa: E402

import torch  # noqa: E402

EXCHANGE = HERE / "exchange.pt"
SPARSE = HERE / "sparse.pt"
COMPLEX_HALF = HERE / "complex_half.pt"  # a dtype that this torch has not


def exchange_object() -> dict[str, Any]:
    """What both sides write and read: every dtype, views that share memory, parameters, a state dict, containers."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    base = torch.arange(12.0).reshape(3, 4)
    return {
        "dtypes": {name: torch.tensor([0, 1, 2]).to(getattr(torch, name)) for name in (*NAMES, *COMPLEX, *UNSIGNED)},
        "base": base,
        "row": base[1],
        "transposed": base.t(),
        "empty": torch.zeros(0, 3),
        "scalar": torch.tensor(2.5, dtype=torch.float64),
        "requires_grad": torch.ones(2, requires_grad=True),
        "parameter": torch.nn.Parameter(torch.ones(2, 2), requires_grad=False),
        "state_dict": model.state_dict(),
        "optimizer": torch.optim.Adam(model.parameters()).state_dict(),
        "containers": OrderedDict(a=[1, 2.5, None, True, "text"], b=(1, (2,)), c={"d": b"bytes"}, s={1, 2}),
        "size": torch.Size([2, 3]),
        "dtype": torch.float64,
        "device": torch.device("cpu"),
        "large": 2**80,
    }


def sparse_tensors() -> dict[str, Any]:
    """One of each sparse layout, and what it looks like when it is printed."""
    coo = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, -3.0], (2, 2))
    tensors = {"coo": coo, "coalesced": coo.coalesce(), "csr": coo.to_sparse_csr(), "csc": coo.to_sparse_csc()}
    return {"tensors": tensors, "texts": {kind: repr(tensor) for kind, tensor in tensors.items()}}


def same(one: Any, other: Any) -> bool:
    """Deep equality with tensors."""
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and one.stride() == other.stride() and torch.equal(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def check_ours(path: Path) -> None:
    """Fails unless real PyTorch reads `path`, safely and mapped, as what it would have written itself."""
    expected = exchange_object()
    for options in ({"weights_only": True}, {"weights_only": False}, {"mmap": True}):
        answer = torch.load(path, **options)
        wrong = [key for key in expected if not same(answer.get(key), expected[key])]
        if wrong or answer["row"].data_ptr() != answer["base"][1].data_ptr():
            raise SystemExit(f"{path}, read with {options}, differs in {wrong or 'shared memory'}")
    print(f"{path}: read by PyTorch {torch.__version__} as it should be")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)}; default: all")
    parser.add_argument("--check-ours", type=Path, metavar="FILE.pt")
    options = parser.parse_args()
    if not torch.__version__.startswith("2.13."):
        raise SystemExit(f"this is PyTorch {torch.__version__}; the golden answers are those of 2.13")
    if options.check_ours:
        check_ours(options.check_ours)
        return
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for name in options.tables or TABLES:
        print(f"{name}: {torch_golden.write_table(torch, name, TABLES[name])} bytes")
    if not options.tables:
        torch.save(exchange_object(), EXCHANGE)
        torch.save({"x": torch.ones(2, dtype=torch.complex32)}, COMPLEX_HALF)
        torch.save(sparse_tensors(), SPARSE)
        print(f"{EXCHANGE.name}, {COMPLEX_HALF.name}: {EXCHANGE.stat().st_size + COMPLEX_HALF.stat().st_size} bytes")


if __name__ == "__main__":
    main()
