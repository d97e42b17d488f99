"""Builds a package once more from what it carries, and says where the bytes differ and why."""

from __future__ import annotations

import hmac
import os
import shutil
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from slipway.base import installed
from slipway.base.errors import IntegrityError, SolveError
from slipway.base.files import hash_file, link_or_copy
from slipway.base.keyed_hash import MARK, hash_with_key
from slipway.base.proc import capture
from slipway.base.scratch import scratch_folder
from slipway.base.secrets import remember_secret
from slipway.base.user_folders import cache_folder
from slipway.bootstrap.choices import embedded_choices
from slipway.bootstrap.embedded import channels_of
from slipway.channel.environments import offered
from slipway.channel.folder import Channel
from slipway.channel.package import read_info, read_package_digest, unpack_package
from slipway.channel.repodata import set_behind
from slipway.channel.taken import fetch_archive
from slipway.engines import load_engine
from slipway.engines.engine import FORMAT_VERSION, BuildContext, Isolation
from slipway.model import META_NAME, V1_NAME, OutputTest, RenderedOutput, Requirements, RunExports, Source
from slipway.pipeline.comparison import Difference, compare_trees
from slipway.pipeline.interface import LINKED, read_interface
from slipway.pipeline.manifest import MANIFEST_FILE, RENDERED_FILES, Manifest
from slipway.pipeline.packing import finish_package
from slipway.request import DEFAULT_RECIPE
from slipway.source import pinned
from slipway.source.tree import SourceTree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from slipway.base.log import Reporter
    from slipway.base.paths import Workspace


@dataclass(frozen=True)
class RebuildOptions:
    """How to build again; the fields are the options of `slipway rebuild`, and `own` is where the packages lie."""

    workspace: Workspace
    own: Channel
    recipe: Path | None
    channels: tuple[str, ...] | None
    offline: bool
    environ: Mapping[str, str]
    jobs: int
    isolation: Isolation
    keep: Path | None


@dataclass(frozen=True)
class Rebuilt:
    """What came of it; no differences means identical bytes."""

    package: Path
    differences: tuple[Difference, ...]
    seconds: float


def rebuild(package: Path, options: RebuildOptions, reporter: Reporter) -> Rebuilt:
    """Build `package` again and compare.

    Raises:
        IntegrityError: the package does not say what it was made from, or a source file is no longer to be had.
        SolveError: a package that it was built with is in no channel any more.
    """
    started = time.monotonic()
    text = read_info(package, MANIFEST_FILE)
    if text is None:
        raise IntegrityError(
            "the package does not say what it was made from",
            where=str(package),
            hint=f"packages of this slipway hold info/{MANIFEST_FILE}",
        )
    manifest = Manifest.from_json(text, where=str(package))
    recipe = (options.recipe or DEFAULT_RECIPE).resolve()
    with scratch_folder("rebuild") as folder, unpack_package(package) as unpacked:
        output = _restore_output(manifest, recipe, unpacked, folder, offline=options.offline, environ=options.environ)
        channels = _locked_channels(manifest, output, options, folder, reporter)
        engine = load_engine(manifest.engine.split()[0])
        for line in _name_other_tools(manifest):
            reporter.line(line)
        context = BuildContext(
            workspace=options.workspace,
            channels=channels,
            digest=manifest.digest,
            environ=options.environ,
            jobs=options.jobs,
            test=False,
            isolation=options.isolation,
            compile_all=True,
        )
        try:
            built = engine.build(output, context, reporter)
        finally:
            shutil.rmtree(options.workspace.staged, ignore_errors=True)
        finish_package(built, manifest)
        found = () if built.read_bytes() == package.read_bytes() else _differences(unpacked, built)
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(built, options.keep / built.name)
        built.unlink()
    return Rebuilt(package, found, time.monotonic() - started)


def _name_other_tools(manifest: Manifest) -> Iterator[str]:
    """What builds now and did not build then, which may well show in the bytes."""
    name, _, version = manifest.engine.partition(" ")
    present = installed.installed_version("py-rattler-build")
    if version != present:
        yield f"it was built by {name} {version}, and this is {name} {present}: bytes may differ for that alone"
    if manifest.format != FORMAT_VERSION:
        yield (
            f"it was built by a slipway of format {manifest.format}, and this one has format {FORMAT_VERSION}: "
            "check out the commit that it was built from for the same bytes"
        )


def _restore_output(
    manifest: Manifest, recipe: Path, unpacked: Path, folder: Path, *, offline: bool, environ: Mapping[str, str]
) -> RenderedOutput:
    """The rendered output as the package carries it, with a recipe folder and sources that are just the recorded."""
    made = folder / "recipe"
    made.mkdir()
    carried = unpacked / "info" / "recipe"
    for name, known in manifest.recipe.items():
        _restore(recipe, name, known, made / name, also=carried)
    for name in RENDERED_FILES:
        original = carried / (f"{name}.in" if name in (META_NAME, V1_NAME) else name)
        if original.is_file():
            shutil.copyfile(original, made / name)
    rendered = dict(manifest.rendered)
    rendered |= _restore_variables(rendered["script_env"], environ)
    if "staging" in rendered:
        rendered["staging"] = rendered["staging"] | _restore_variables(rendered["staging"]["script_env"], environ)
    sources = []
    for index, (entry, source) in enumerate(zip(manifest.sources, rendered.pop("sources"), strict=True)):
        patches = folder / f"patches-{index}"
        patches.mkdir()
        for name in entry["patches"]:
            written = next(text for text in source["patches"] if Path(text).name == name)
            _restore((recipe / written).resolve().parent, name, entry["patches"][name], patches / name)
        path = None
        if source["path"] is not None:
            tree = folder / f"source-{index}"
            base = (recipe / source["path"]).resolve()
            single = list(entry["files"]) == [base.name] and not base.is_dir()
            base = base.parent if single else base
            for name, known in entry["files"].items():
                _restore(base, name, known, tree / name)
            tree.mkdir(exist_ok=True)
            path = str(tree / next(iter(entry["files"]))) if single else str(tree)
        restored = source | {"path": path, "patches": tuple(str(patches / name) for name in entry["patches"])}
        found = {key: entry[key] for key in ("git_commit", "git_describe") if key in entry}
        lies = Source(**{key: _tuple(value) for key, value in (restored | found).items()})
        sources.append(pinned(lies, recipe, offline=offline, environ=environ))
    common: dict[str, Any] = {"recipe_dir": made, "variant": manifest.variant, "sources": tuple(sources)}
    staging = rendered.pop("staging", None)
    return _from_rendered(rendered, staging=_from_rendered(staging, **common) if staging else None, **common)


def _restore_variables(known: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, Any]:
    """What the script saw; packages hold hashes of what came from the caller's environment, which must be as it was."""
    restored = dict(known)
    for name, value in known.items():
        if value.startswith(MARK):
            restored[name] = environ.get(name, "")
            if not hmac.compare_digest(hash_with_key(name, restored[name], environ), value):
                raise IntegrityError(
                    f"the package was built with another value of ${name}, which it does not hold",
                    hint=f"set {name} as it was then, for the user and on the machine that built the package",
                )
            remember_secret(restored[name], name)
    return {"script_env": restored, "secret_env": [name for name in known if restored[name] != known[name]]}


def _from_rendered(rendered: Mapping[str, Any], **others: Any) -> RenderedOutput:
    """An output from the manifest's words for it; `others` are the fields that those leave out."""
    types: dict[str, Any] = {"requirements": Requirements, "run_exports": RunExports, "test": OutputTest}
    values = {
        field.name: types[field.name](**_tuples(rendered[field.name]))
        if field.name in types
        else rendered[field.name]
        if field.name in ("about", "build")
        else _tuple(rendered[field.name])
        for field in fields(RenderedOutput)
        if field.name in rendered and field.name not in others
    }
    return RenderedOutput(**values, **others)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _tuple(value) for key, value in values.items()}


def _restore(base: Path, name: str, known: str, target: Path, *, also: Path | None = None) -> None:
    """Write the file with the fingerprint `known` to `target`: as it lies in `base` or `also`, or from git's store."""
    target.parent.mkdir(parents=True, exist_ok=True)
    kind, sha256, git = known.split(":")
    for candidate in (base, *([also] if also is not None else [])):
        path = candidate / name
        if (path.is_symlink() or path.is_file()) and _content_of(SourceTree(candidate, (name,)), name) == (sha256, git):
            shutil.copyfile(path, target, follow_symlinks=kind != "link")
            break
    else:
        command = ["git", "-c", f"safe.directory={base}", "cat-file", "blob", git]
        there = next(folder for folder in (base, *base.parents) if folder.is_dir())
        answer = capture(command, env=os.environ, what="reading git's store", cwd=there)
        if answer.status != 0:
            raise IntegrityError(
                f"`{name}` is not as it was when the package was built, and git does not have it either",
                where=str(base),
                hint="name its recipe's folder with `--recipe DIR`, and check out the commit that it was built from",
            )
        if kind == "link":
            target.symlink_to(answer.output.decode())
        else:
            target.write_bytes(answer.output)
    if kind != "link":
        target.chmod(0o755 if kind == "program" else 0o644)


def _content_of(tree: SourceTree, name: str) -> tuple[str, str]:
    _, sha256, git = tree.fingerprints[name].split(":")
    return sha256, git


def _locked_channels(
    manifest: Manifest, output: RenderedOutput, options: RebuildOptions, folder: Path, reporter: Reporter
) -> tuple[str, ...]:
    """A channel of just the packages that the package was built with."""
    own = list(_find_needed_packages(manifest, options.own))
    # The recipe's other packages bring their own dependencies: those that they were built with will do.
    texts = [read_info(path, MANIFEST_FILE) or b"" for _, path in own]
    manifests = [manifest, *(Manifest.from_json(text, where=str(own)) for text in texts)]
    wanted = {
        known[2]: f"{name} {known[0]} {known[1]}"
        for each in manifests
        for environment in each.environments.values()
        for name, known in environment.items()
    }
    used = output.hash_input
    names = {text.split()[0] for text in wanted.values()}
    blas = next((name for name in embedded_choices().blas if name in names), None)
    known = {
        "python": manifest.variant.get("python"),
        "blas_impl": blas,
        "cuda_compiler_version": used.get("cuda_compiler_version"),
    }
    asked = {key: value for key, value in known.items() if value is not None}
    # What was built with packages of other recipes found them in the same channel.
    packages = list(_take_from_folder(options.own.folder, wanted))
    named = channels_of(
        options.channels, asked, reporter, needs=names, own=options.own, offline=options.offline, build_tools=True
    )
    locked = Channel(folder / "channel")
    for address in named:
        if address.startswith("file:"):
            packages += _take_from_folder(Path(unquote(urlsplit(address).path)), wanted)
        elif wanted:
            packages += _take_from_elsewhere(address, wanted, options, folder / "downloaded", reporter)
    if wanted and options.channels is None:
        # The embedded channel has moved on; earlier ones may still be in the cache.
        for earlier in sorted(cache_folder(options.environ).glob("channels/*")):
            packages += _take_from_folder(earlier, wanted)
    if wanted:
        raise SolveError(
            "packages that it was built with are in no channel any more: " + ", ".join(sorted(wanted.values())),
            where=", ".join(named),
            hint="a bundle of then has them (`slipway rebuild --bundle FILE`); today's are taken by `slipway ship`",
        )
    packages += own
    locked.publish(packages)
    set_behind(locked.folder, _find_set_behind(manifest))
    return (locked.url,)


def _find_set_behind(manifest: Manifest) -> set[str]:
    """Hashes of the host's packages of which build tools have another one: the solver would take the higher version."""
    build, host = (manifest.environments.get(name, {}) for name in ("build", "host"))
    return {host[name][2] for name in build.keys() & host.keys() if build[name] != host[name]}


def _take_from_folder(folder: Path, wanted: dict[str, str]) -> Iterator[tuple[str, Path]]:
    """The packages whose bytes have these hashes; they are taken out of `wanted`."""
    for path, record in Channel(folder).records():
        sha256 = str(record.get("sha256"))
        if sha256 in wanted and path.is_file() and hash_file(path) == sha256:
            del wanted[sha256]
            yield path.parent.name, path


def _take_from_elsewhere(
    address: str, wanted: dict[str, str], options: RebuildOptions, folder: Path, reporter: Reporter
) -> Iterator[tuple[str, Path]]:
    """The same from a channel elsewhere: what it still has of them is fetched, and kept in the cache by its hash."""
    names = sorted({text.split()[0] for text in wanted.values()})
    found = [record for record in offered(names, address) if wanted.pop(record.sha256, None) is not None]
    reporter.line(f"{len(found)} package(s) from {address}")
    for record in found:
        archive = fetch_archive(record.url, record.sha256, options.environ, offline=options.offline)
        target = folder / record.subdir / archive.name
        target.parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(archive, target)
        yield record.subdir, target


def _find_needed_packages(manifest: Manifest, channel: Channel) -> Iterator[tuple[str, Path]]:
    """The recipe's other packages that this one needs, as they were, and what those need to be installed."""
    indexed = channel.is_indexed  # a bundle's packages are not: they were checked when it was opened
    for key, digest in manifest.needed.items():
        found = [
            path
            for path in channel.packages()
            if path.stem == key and not (indexed and channel.find_damage(path)) and _is_needed(path, digest)
        ]
        if not found:
            raise SolveError(
                f"`{key}`, which it was built with, is not in the channel as it was then", where=str(channel.folder)
            )
        yield found[0].parent.name, found[0]


def _is_needed(path: Path, digest: str) -> bool:
    """Whether the package is the one of `Manifest.needed`; what was only linked may be any with that interface."""
    if digest.startswith(LINKED):
        return read_interface(path) == digest.removeprefix(LINKED)
    return read_package_digest(path) == digest


def _differences(first: Path, built: Path) -> tuple[Difference, ...]:
    with unpack_package(built) as second:
        found = tuple(compare_trees(first, second))
    return found or (Difference(built.name, "other: every file is the same, the archive around them is not"),)
