"""Writes modules.pt and modules.json with real PyTorch: whole pickled modules, what instances keep, signatures.

    python tests/torch/golden/make_modules.py [--check-ours FILE.pt]

It runs where torch==2.13.0 (CPU) and NumPy are. `--check-ours` reads a file that this torch wrote from the same rows
(`python tests/torch/nn_modules.py FILE.pt`) and compares what its modules answer.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import nn_modules  # noqa: E402
import op_sample  # noqa: E402

import torch  # noqa: E402


def answers() -> dict[str, Any]:
    """Expression -> the module before it ran, its inputs, and what it answers."""
    result = {}
    for expression, shapes in nn_modules.ROWS:
        module = nn_modules.make(torch, expression)
        inputs, _, _ = op_sample.build(torch, op_sample.call(*map(nn_modules.sample, shapes)), "float32")
        copy = nn_modules.make(torch, expression)
        output = copy(*(tensor.clone() for tensor in inputs)) if shapes else None
        result[expression] = {"module": module, "inputs": inputs, "output": output}
    return result


def facts() -> dict[str, Any]:
    """What must not drift: the attributes of instances, where classes are, the signatures of functions."""
    modules = {}
    for expression, _ in nn_modules.ROWS:
        module = nn_modules.make(torch, expression)
        modules[expression] = {"attributes": nn_modules.attributes(module), "classes": nn_modules.classes(module),
                               "text": repr(module)}  # fmt: skip
    signatures = {}
    for name in sorted(vars(torch.nn.functional)):
        function = getattr(torch.nn.functional, name)
        if inspect.isfunction(function) and not name.startswith("_"):
            parameters = inspect.signature(inspect.unwrap(function)).parameters.values()
            signatures[name] = [[p.name, None if p.default is p.empty else repr(p.default)] for p in parameters]
    return {"modules": modules, "signatures": signatures}


def tensors(value: Any) -> list[Any]:
    """All tensors of nested tuples."""
    return [one for part in value for one in tensors(part)] if isinstance(value, tuple) else [value]


def check_ours(path: Path) -> None:
    """Fails unless every module that this torch pickled answers here as PyTorch's own does."""
    expected, wrong = answers(), []
    for expression, found in torch.load(path, weights_only=False).items():
        row = expected.pop(expression)
        if nn_modules.attributes(found) != nn_modules.attributes(row["module"]):
            wrong.append(f"{expression}: attributes")
        if row["inputs"]:
            output = found(*(tensor.clone() for tensor in row["inputs"]))
            pairs = zip(tensors(output), tensors(row["output"]), strict=True)
            wrong += [expression for one, other in pairs if not torch.allclose(one, other, rtol=1e-5, atol=1e-6)]
    if wrong or expected:
        raise SystemExit(f"{path} differs in {wrong}, and lacks {list(expected)}")
    print(f"{path}: every module answers in PyTorch {torch.__version__} as its own")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check-ours", type=Path, metavar="FILE.pt")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.check_ours:
        check_ours(options.check_ours)
        return
    torch.save(answers(), HERE / "modules.pt")
    parts = []
    for name, table in facts().items():  # one line per module and per function
        rows = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in table.items())
        parts.append(f"{json.dumps(name)}: {{\n{rows}\n}}")
    (HERE / "modules.json").write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
