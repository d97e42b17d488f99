"""Say what changed from one package to another: requirements, files, sizes, what libraries export and link.

    slipway diff old.conda new.conda

`slipway rebuild` compares every byte of a package with the same one built again; this is for two that ought to differ.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipway.base.errors import UsageError
from slipway.base.text import human_size, printable
from slipway.channel.package import read_info
from slipway.verify import verifier

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping

    from slipway.base.log import Reporter
    from slipway.verify.facts import FileFacts, PackageFacts

SHOWN = 20
"""Names that a line of changes is made of, at most."""

Changes = dict[str, list[str]]
"""What changed, by its kind: lines that start with ``+``, ``-`` or a name."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("old", type=Path, metavar="OLD", help="a package")
    parser.add_argument("new", type=Path, metavar="NEW", help="another one")
    parser.add_argument("--json", action="store_true", help="the changes by their kind")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Print; returns the exit code, which is 0 whether they differ or not."""
    facts = []
    reader = verifier.Verifier()
    for path in (arguments.old, arguments.new):
        if not path.is_file():
            raise UsageError("there is no such package", where=str(path))
        facts.append(reader.facts(path))
    changes = compare(*facts) | _compare_hashed(arguments.old, arguments.new)
    changes = {kind: lines for kind, lines in changes.items() if lines}
    if arguments.json:
        print(json.dumps(changes, indent=1))
        return 0
    for kind, lines in changes.items():
        print("\n".join(map(printable, [kind, *(f"  {line}" for line in lines)])))
    if not changes:
        print("nothing that can be told: `slipway rebuild` compares bytes")
    return 0


def compare(old: PackageFacts, new: PackageFacts) -> Changes:
    """What is different, but for bytes of files that are as long as before."""
    before, after = ({file.path: file for file in facts.files if file.present} for facts in (old, new))
    both = sorted(before.keys() & after.keys())
    changes: Changes = {"package": _changed(old.index, new.index, ("name", "version", "build", "subdir", "license"))}
    for key in ("depends", "constrains"):
        changes[key] = _sets(old.index.get(key) or (), new.index.get(key) or ())
    changes["run_exports"] = _sets(_flat(old.run_exports), _flat(new.run_exports))
    changes["files"] = _sets(before, after)
    sizes = [(path, before[path].size, after[path].size) for path in both]
    total = sum(file.size for file in before.values()), sum(file.size for file in after.values())
    changes["sizes"] = [f"{path}: {human_size(one)} -> {human_size(two)}" for path, one, two in sizes if one != two]
    if total[0] != total[1]:
        changes["sizes"].insert(0, f"all: {human_size(total[0])} -> {human_size(total[1])}")
    changes["links"] = [line for path in both for line in _libraries(path, before[path], after[path])]
    changes["exports"] = [line for path in both for line in _symbols(path, before[path], after[path])]
    return changes


def _compare_hashed(old: Path, new: Path) -> Changes:
    one, two = (json.loads(read_info(path, "hash_input.json") or b"{}") for path in (old, new))
    return {"hash": _changed(one, two, sorted({*one, *two}))}


def _changed(one: Mapping[str, Any], two: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    return [f"{key}: {one.get(key)} -> {two.get(key)}" for key in keys if one.get(key) != two.get(key)]


def _flat(exports: Mapping[str, Any]) -> list[str]:
    return [f"{kind}: {spec}" for kind, specs in exports.items() for spec in specs]


def _sets(one: Iterable[str], two: Iterable[str]) -> list[str]:
    old, new = set(one), set(two)
    return [*(f"- {item}" for item in sorted(old - new)), *(f"+ {item}" for item in sorted(new - old))]


def _libraries(path: str, one: FileFacts, two: FileFacts) -> list[str]:
    if one.elf is None or two.elf is None:
        return []
    return [f"{path}: {line}" for line in _sets(one.elf.needed, two.elf.needed)]


def _symbols(path: str, one: FileFacts, two: FileFacts) -> list[str]:
    if one.elf is None or two.elf is None:
        return []
    lines = _sets(one.elf.exports, two.elf.exports)
    more = [f"{path}: and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [*(f"{path}: {line}" for line in lines[:SHOWN]), *more]
