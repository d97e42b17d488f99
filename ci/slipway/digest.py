"""What a package is made from, as one sha256: equal digests mean that a build would give the same package again.

It covers the source files, the patches, the recipe's own files, the rendered output, the packages that the solver
picks for the build and host environments (by their sha256), the digests of the recipe's other outputs that this one
needs, the engine and slipway's own way of driving it. It is stored in the package and looked up in the channel.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from slipway.engines import FORMAT_VERSION
from slipway.sources import read_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slipway.model import RenderedOutput

RENDERED_FILES = frozenset({"meta.yaml", "conda_build_config.yaml"})
"""Recipe files whose meaning is in the rendered output already: a change that renders alike is no change."""


def recipe_files_digest(output: RenderedOutput) -> str:
    """Over the files beside meta.yaml: scripts, tests, licences. Any of them may be read by a script."""
    tree = read_tree(output.recipe_dir)
    kept = tuple(name for name in tree.files if name not in RENDERED_FILES)
    return type(tree)(tree.root, kept).digest


def source_digests(output: RenderedOutput) -> list[dict[str, Any]]:
    """Each source entry with what its content is known by."""
    entries: list[dict[str, Any]] = []
    for source in output.sources:
        entry: dict[str, Any] = {
            "url": source.url,
            "sha256": source.sha256,
            "git": [source.git_url, source.git_rev],
            "folder": source.folder,
            "patches": [read_tree((output.recipe_dir / patch).resolve()).digest for patch in source.patches],
        }
        if source.path is not None:
            entry["tree"] = read_tree((output.recipe_dir / source.path).resolve()).digest
        entries.append(entry)
    return entries


def output_digest(
    output: RenderedOutput, *, engine: str, environments: Mapping[str, list[str]], needed: Mapping[str, str]
) -> str:
    """The digest of one output.

    Args:
        engine: name and version of what builds it.
        environments: for ``build`` and ``host``, the sha256 of every package the solver picks.
        needed: digests of the outputs of the same recipe that this one requires, by name.
    """
    rendered = asdict(output)
    # A checkout may move; the listing repeats the rest; and of the variant only what is used counts, which is in
    # hash_input: libtorch is the same package whichever Python the run was started for.
    for key in ("recipe_dir", "listing", "variant"):
        del rendered[key]
    facts = {
        "format": FORMAT_VERSION,
        "engine": engine,
        "rendered": rendered,
        "recipe_files": recipe_files_digest(output),
        "sources": source_digests(output),
        "environments": {name: sorted(hashes) for name, hashes in environments.items()},
        "needed": dict(needed),
    }
    text = json.dumps(facts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
