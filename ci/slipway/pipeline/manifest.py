"""What a package is made from: every part by its hash, and one sha256 over all of them.

Equal digests mean that a build would give the same package again. The parts are the source files that the output
reads, the patches, the recipe's own files, the rendered output, the packages that the solver picks for the build and
host environments, the digests of the recipe's other outputs that this one needs, the engine and slipway's own way of
driving it. They stand in the package (``info/slipway.json``), so that `plan` can say which of them changed and
`rebuild` can build it once more; of secrets there is no more than a keyed hash, of addresses what tells none.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from slipway.base.errors import IntegrityError
from slipway.base.keyed_hash import hash_with_key
from slipway.base.secrets import redact, redact_values
from slipway.engines.engine import FORMAT_VERSION
from slipway.model import META_NAME, RECIPE_SETTINGS, V1_NAME, Source
from slipway.pipeline.interface import LINKED
from slipway.recipe.overlay import APPEND, CLOBBER
from slipway.source.leaves_out import reads_of
from slipway.source.tree import SourceTree, read_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from slipway.channel.taken import SolvedPackage
    from slipway.model import RenderedOutput

MANIFEST_FILE = "slipway.json"
"""Where a package keeps its manifest, below ``info/``."""

RENDERED_FILES = frozenset(
    {META_NAME, V1_NAME, "conda_build_config.yaml", "variants.yaml", APPEND, CLOBBER, RECIPE_SETTINGS}
)
"""Recipe files whose meaning is in the other parts already: a change that renders alike is no change."""

LATER = frozenset(field.name for field in fields(Source)) - {
    "path", "url", "sha256", "git_url", "git_rev", "folder", "patches",
}  # fmt: skip
"""Fields of a source that digests do not mention where they have their usual values."""

STAGING_PREFIX = "top level "
"""In front of the names of the top level's environments, where an output takes its files from the top level's build."""


@dataclass(frozen=True)
class Manifest:
    """The parts, all of them plain JSON values.

    Attributes:
        rendered: the rendered output, without the place of its recipe.
        recipe: files beside meta.yaml and their fingerprints, see `slipway.source.tree.SourceTree.fingerprints`.
        sources: per source entry where it comes from, its ``files`` and its ``patches`` with their fingerprints.
        environments: for ``build`` and ``host``, per package ``[version, build, sha256]``; without the recipe's own.
            For an output with `staging` also for ``top level build`` and ``top level host``.
        needed: digests of the outputs of the same recipe that this one requires, by key; of those that it only links
            the interface, see `slipway.pipeline.interface`.
        variant: the whole variant, of which only what is used counts: it is not part of the digest.
    """

    engine: str
    rendered: Mapping[str, Any]
    recipe: Mapping[str, str]
    sources: tuple[Mapping[str, Any], ...]
    environments: Mapping[str, Mapping[str, list[str]]]
    needed: Mapping[str, str]
    variant: Mapping[str, str]
    format: int = FORMAT_VERSION

    @property
    def digest(self) -> str:
        """sha256 over everything but the unused part of the variant."""
        facts = asdict(self)
        del facts["variant"]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    @property
    def staging_digest(self) -> str | None:
        """sha256 over what the top level's own build is made from, which outputs that only list files share."""
        if "staging" not in self.rendered:
            return None
        environments = {name: one for name, one in self.environments.items() if name.startswith(STAGING_PREFIX)}
        facts = [self.engine, self.format, self.rendered["staging"], self.recipe, self.sources, environments]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def to_json(self) -> bytes:
        """As it stands in a package."""
        return (json.dumps(asdict(self), indent=1, sort_keys=True) + "\n").encode()

    @classmethod
    def from_json(cls, text: bytes, *, where: str) -> Manifest:
        """Read `to_json` back.

        Raises:
            IntegrityError: that is no manifest of this format.
        """
        try:
            content = json.loads(text)
            return cls(**(content | {"sources": tuple(content["sources"])}))
        except (ValueError, TypeError, KeyError) as error:
            raise IntegrityError(f"what the package was made from cannot be read: {error}", where=where) from error


def recipe_files(output: RenderedOutput, read: Callable[[Path], SourceTree] = read_tree) -> SourceTree:
    """The files beside meta.yaml: scripts, tests, licences. Any of them may be read by a script."""
    tree = read(output.recipe_dir)
    return SourceTree(tree.root, tuple(name for name in tree.files if name not in RENDERED_FILES))


def make_manifest(
    output: RenderedOutput,
    *,
    engine: str,
    environments: Mapping[str, list[SolvedPackage]],
    needed: Mapping[str, str],
    read: Callable[[Path], SourceTree] = read_tree,
) -> Manifest:
    """Everything that `output` would be made from now.

    Args:
        engine: name and version of what builds it.
        environments: by name (see `Manifest`), what the solver picks, without the recipe's own outputs.
        needed: see `Manifest`.
        read: see `reads_of`.
    """
    rendered = _plain(output)
    del rendered["staging"]  # most outputs have none
    if output.staging is not None:
        rendered["staging"] = _plain(output.staging)
        del rendered["staging"]["staging"]
    return Manifest(
        engine=engine,
        rendered=json.loads(json.dumps(rendered, default=str)),
        recipe=recipe_files(output, read).fingerprints,
        sources=tuple(
            map(redact_values, _source_entries(output if output.v1 is not None else output.staging or output, read))
        ),  # the top level is built from all that its outputs are
        environments={
            name: {package.name: [package.version, package.build, package.sha256] for package in packages}
            for name, packages in environments.items()
        },
        needed=dict(needed),
        variant={key: redact(value, parameters=False) for key, value in output.variant.items()},
    )


def _plain(output: RenderedOutput) -> dict[str, Any]:
    rendered = asdict(output)
    # A checkout may move; the listing repeats the rest; and of the variant only what is used counts, which is in
    # hash_input: libtorch is the same package whichever Python the run was started for.
    for key in ("recipe_dir", "listing", "variant", "secret_env", "solved_from"):
        del rendered[key]
    if output.v1 is None:
        del rendered["v1"]
    rendered["script_env"] = {
        key: hash_with_key(key, value) if key in output.secret_env else value
        for key, value in output.script_env.items()
    }
    for key in {"script_commands", "test", "about", "build", "v1"} & rendered.keys():  # free text, no names
        rendered[key] = redact_values(rendered[key], parameters=False)
    rendered["sources"] = redact_values(rendered["sources"])
    for source in rendered["sources"]:
        # What fetching found stands in the manifest's own list; and what is seldom given is left out where it is not.
        for field in fields(Source):
            if field.name in source.keys() & LATER and source[field.name] == field.default:
                del source[field.name]
        for key in ("git_commit", "git_describe"):
            source.pop(key, None)
    return rendered


def _source_entries(output: RenderedOutput, read: Callable[[Path], SourceTree]) -> Iterator[dict[str, Any]]:
    for source in output.sources:
        reads = reads_of(output, source, read)
        yield {
            "path": source.path,
            "url": source.url,
            "sha256": source.sha256,
            "git": [source.git_url, source.git_rev],
            "folder": source.folder,
            "patches": {patch.name: read_tree(patch).fingerprints[patch.name] for patch in reads.patches},
            "files": dict(reads.tree.fingerprints) if reads.tree is not None else {},
            **source.found,
        }


def differences(old: Manifest, new: Manifest) -> list[str]:
    """What changed from `old` to `new`, in words, the cause that people look for first in front."""
    return list(_differences(old, new))


def _differences(old: Manifest, new: Manifest) -> Iterator[str]:
    for index in range(max(len(old.sources), len(new.sources))):
        before = old.sources[index] if index < len(old.sources) else {}
        after = new.sources[index] if index < len(new.sources) else {}
        base = str(after.get("path") or before.get("path") or "")
        yield from _file_changes("source", before.get("files", {}), after.get("files", {}), f"{base}/" if base else "")
        yield from _file_changes("patch", before.get("patches", {}), after.get("patches", {}), "")
        for key in ("path", "url", "sha256", "git", "folder"):
            if before.get(key) != after.get(key):
                yield f"source {key}: {_show(before.get(key))} -> {_show(after.get(key))}"
        for key, name in (("git_commit", "git"), ("git_describe", "git describe")):
            if before.get(key) != after.get(key):
                yield f"source {name}: {str(before.get(key))[:40]} -> {str(after.get(key))[:40]}"
    yield from _file_changes("recipe file", old.recipe, new.recipe, "")
    yield from _rendered_changes(old.rendered, new.rendered)
    for name in sorted({*old.environments, *new.environments}):
        yield from _package_changes(name, old.environments.get(name, {}), new.environments.get(name, {}))
    for key in sorted({*old.needed, *new.needed}):
        if old.needed.get(key) != new.needed.get(key):
            state = "added" if key not in old.needed else "removed" if key not in new.needed else "changed"
            linked = state == "changed" and old.needed[key].startswith(LINKED) and new.needed[key].startswith(LINKED)
            yield f"needs {key}: {'its interface ' if linked else ''}{state}"
    if old.engine != new.engine:
        yield f"engine: {old.engine} -> {new.engine}"
    if old.format != new.format:
        yield f"slipway's format: {old.format} -> {new.format}"


def _file_changes(kind: str, old: Mapping[str, str], new: Mapping[str, str], base: str) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            state = "added" if name not in old else "removed" if name not in new else "edited"
            yield f"{kind} {base}{name}: {state}"


def _rendered_changes(old: Mapping[str, Any], new: Mapping[str, Any], path: str = "recipe") -> Iterator[str]:
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            yield from _rendered_changes(before, after, f"{path} {key}")
        elif before != after:
            yield f"{path} {key}: {_show(before)} -> {_show(after)}"


def _package_changes(environment: str, old: Mapping[str, list[str]], new: Mapping[str, list[str]]) -> Iterator[str]:
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        if before is None or after is None:
            yield f"{environment} {name}: {'added' if before is None else 'removed'}"
        elif before[:2] == after[:2]:
            yield f"{environment} {name} {before[0]} {before[1]}: same name, other content"
        else:
            yield f"{environment} {name}: {before[0]} {before[1]} -> {after[0]} {after[1]}"


def _show(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."
