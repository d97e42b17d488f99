"""Writes the names of PyTorch's modules that do no work here: python tests/torch/golden/make_unavailable_names.py

src/torch/_unavailable_names.py, with real PyTorch: what torch._unavailable makes modules of.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
import sys
import textwrap
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

SOURCE = Path(__file__).resolve().parents[3] / "src" / "torch" / "_unavailable_names.py"
ROOTS = (
    "torch.ao.quantization",
    "torch.cuda.gds",
    "torch.cuda.green_contexts",
    "torch.cuda.tunable",
    "torch.distributed",
    "torch.mps",
    "torch.mtia",
    "torch.nested",
    "torch.numa",
    "torch.onnx",
    "torch.package",
    "torch.xpu",
)
# Inner modules that programs import from, and public ones that are programs or generated code.
INNER = re.compile(
    r"_(attention|composable|checkpoint|consolidate_hf_safetensors|functional_collectives|tensor|utils)\b"
)
LEFT_OUT = re.compile(r"\b(benchmarks?|examples?|_internal|ops|package\.\w+|templates)\b")
ONNX = re.compile(r"torch\.onnx(\.(symbolic_helper|symbolic_opset(9|1[1-4])|utils|verification))?")
QUANTIZATION = re.compile(
    r"torch\.ao\.quantization(\.(fake_quantize|observer|qconfig|qconfig_mapping|quantize|quantize_fx|fuse_modules))?"
)
INNER_NAMES = {
    "torch.distributed.checkpoint.format_utils": "_EmptyStateDictLoadPlanner",
    "torch.distributed.checkpoint.state_dict_loader": "_load_state_dict",
    "torch.distributed.distributed_c10d": "_get_default_group _pg_map",
    "torch.distributed.fsdp.wrap": "_or_policy _wrap_module_cls_individually",
    "torch.distributed.fsdp._runtime_utils": "_lazy_init",
    "torch.distributed.rpc": "_is_current_rpc_agent_set",
    "torch.distributed.rpc.api": "_require_initialized",
    "torch.distributed.tensor.placement_types": "_StridedShard",
    "torch.distributed.utils": "_sync_module_states _verify_param_shape_across_processes",
}


def modules(name: str) -> Iterator[tuple[str, ModuleType]]:
    """The module and those below it that programs import from."""
    module = import_module(name)
    yield name, module
    for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
        full = f"{name}.{info.name}"
        if (info.name.startswith("_") and not INNER.fullmatch(info.name)) or LEFT_OUT.search(full):
            continue
        if full.startswith(("torch.mps.", "torch.mtia.", "torch.xpu.")):
            continue
        if full.startswith("torch.onnx.") and not ONNX.fullmatch(full):
            continue
        if full.startswith("torch.ao.quantization.") and not QUANTIZATION.fullmatch(full):
            continue
        try:
            yield from modules(full)
        except ImportError:
            continue


def entries(home: str, module: ModuleType) -> list[str]:
    """Functions by their names, classes as Name(MEMBER,...)."""
    found = []
    root = next(root for root in ROOTS if home.startswith(root))
    inner = [*INNER_NAMES.get(home, "").split(), *getattr(module, "__all__", ())]
    for name, value in sorted(vars(module).items()):
        if (name.startswith("_") and name not in inner) or inspect.ismodule(value):
            continue
        origin = str(getattr(value, "__module__", None) or home)
        if not origin.startswith((root, "torch._C._distributed")) and name not in inner:
            continue
        if not inspect.isclass(value):
            found.append(name)
            continue
        members = list(getattr(value, "__members__", ()))
        members += [
            name
            for name in {**vars(value), **vars(type(value))}
            if re.fullmatch("[A-Z][A-Z0-9_]+", name) and name not in members
        ]
        found.append(f"{name}({','.join(members)})")
    return found


def main() -> None:
    homes = {name: module for root in ROOTS for name, module in modules(root)}
    old = {name: module for name, module in sys.modules.items() if name.startswith("torch.distributed._tensor.")}
    table = {name: entries(name, module) for name, module in sorted({**old, **homes}.items())}
    lines = [
        '"""Names of PyTorch 2.13 that do nothing here. Written by tests/torch/golden/make_unavailable_names.py."""',
        "",
        "NAMES = {",
    ]
    for name, listed in table.items():
        if listed or name.startswith("torch.distributed."):  # whoever imports a module may want no public name of it
            lines += [f'    "{name}": """']
            lines += textwrap.wrap(" ".join(listed).replace(",", ", "), 116)
            lines += ['""",']
    SOURCE.write_text("\n".join([*lines, "}"]) + "\n")
    print(len(table), "modules,", sum(map(len, table.values())), "names")


if __name__ == "__main__":
    main()
