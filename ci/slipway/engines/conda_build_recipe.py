"""One output alone as a recipe that real conda-build builds: what a job of a platform without slipway's engine uses.

The recipe's own shape stays (a top level with one output), so its scripts find what they expect; Jinja and selectors
are gone, every requirement is written out, and the variant's values stand in a conda_build_config.yaml beside it.
Needs no more than the renderer does, and runs on every platform.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import yaml

from slipway.base.errors import RecipeError
from slipway.base.links import find_leaving_link, read_links
from slipway.model import git_address
from slipway.recipe.overlay import APPEND, CLOBBER

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.model import RenderedOutput, Requirements, RunExports

TOP_LEVEL_NAME = "one-output"
"""A name that no build script knows, so that nothing is done for the top level."""


_SAID_ELSEWHERE = frozenset({"skip", "script", "run_exports", "files", "files_excluded"})
"""Keys of a rendered build section that have a place of their own in a recipe's output."""


def write_recipe(output: RenderedOutput, folder: Path) -> Path:
    """Write the recipe of `output` into `folder`, replacing what an earlier call wrote; returns its meta.yaml.

    Raises:
        RecipeError: `folder` holds something else than such a recipe, or a link of the recipe leads out of it.
    """
    if output.v1 is not None:
        raise RecipeError(
            "real conda-build is not asked to build a recipe.yaml", where=str(output.recipe_path),
            hint="rattler-build is what reads it: leave `--engine` out",
        )  # fmt: skip
    mark = folder / "conda_build_config.yaml"
    if folder.exists() and any(folder.iterdir()) and not mark.exists():
        raise RecipeError("the folder is not empty", where=str(folder), hint="name a new one")
    shutil.rmtree(folder, ignore_errors=True)
    leaving = find_leaving_link(read_links(output.recipe_dir))
    if leaving is not None:
        raise RecipeError(f"`{leaving}` in the recipe is a link that leads out of it", where=str(output.recipe_dir),
                          hint="put there what it leads to, or take it out")  # fmt: skip
    shutil.copytree(output.recipe_dir, folder, symlinks=True)
    values = {key: [value] for key, value in sorted(output.variant.items()) if value}
    mark.write_text(yaml.safe_dump(values, default_flow_style=False), encoding="utf-8")
    for name in (APPEND, CLOBBER):  # they are in what is rendered
        (folder / name).unlink(missing_ok=True)
    path = folder / "meta.yaml"
    path.write_text(yaml.safe_dump(as_recipe(output, folder), sort_keys=False, width=1000), encoding="utf-8")
    return path


def as_recipe(output: RenderedOutput, folder: Path) -> dict[str, Any]:
    """The content of meta.yaml, for a recipe that is going to lie in `folder`."""
    build = {key: value for key, value in output.build.items() if key not in _SAID_ELSEWHERE}
    build |= {"number": output.build_number, "string": output.build_string}
    exports = _run_exports(output.run_exports)
    if exports:
        build["run_exports"] = exports
    if output.noarch:
        build["noarch"] = output.noarch
    if output.script_env:
        build["script_env"] = [
            key if key in output.secret_env else f"{key}={value}" for key, value in output.script_env.items()
        ]
    entry: dict[str, Any] = {"name": output.name, "version": output.version}
    if output.script:
        entry["script"] = output.script
    elif output.script_commands:
        build["script"] = list(output.script_commands)
    entry["build"] = build
    entry["requirements"] = _requirements(output.requirements)
    test = output.test
    sections: dict[str, Any] = {
        "imports": list(test.imports),
        "commands": list(test.commands),
        "requires": list(test.requires),
        "files": list(test.files),
        "source_files": list(test.source_files),
    }
    entry["test"] = {key: value for key, value in sections.items() if value}
    if test.script:
        entry["test"]["script"] = test.script
    entry["about"] = dict(output.about)
    entry["files"] = output.build.get("files")
    if output.build.get("files_excluded"):
        entry["files"] = {"include": output.build["files"], "exclude": output.build["files_excluded"]}
    content: dict[str, Any] = {"package": {"name": TOP_LEVEL_NAME, "version": output.version}}
    if output.staging is not None:
        if output.staging.name != output.name:
            content["package"]["name"] = output.staging.name
        if output.staging.script_commands:
            content["build"] = {"script": list(output.staging.script_commands)}
        content["requirements"] = _requirements(output.staging.requirements)
    sources = [_source(source.__dict__, output.recipe_dir, folder) for source in output.sources]
    if sources:
        content["source"] = sources
    return content | {"outputs": [{key: value for key, value in entry.items() if value}]}


def _requirements(requirements: Requirements) -> dict[str, list[str]]:
    return {name: list(specs) for name, specs in requirements.__dict__.items() if specs}


def _run_exports(exports: RunExports) -> dict[str, list[str]]:
    return {name: list(specs) for name, specs in exports.__dict__.items() if specs}


def _source(fields: dict[str, Any], recipe: Path, folder: Path) -> dict[str, Any]:
    """Paths are from the recipe's folder, which is another one now; patches were copied along or lie outside, too."""
    internal = ("mirrors", "git_commit", "git_describe", "unsupported", "expand")
    entry = {key: value for key, value in fields.items() if value and key not in internal}
    if not fields["expand"]:
        entry["expand"] = False
    if fields["mirrors"]:
        entry["url"] = [entry["url"], *fields["mirrors"]]
    if "git_url" in entry:
        entry["git_url"] = git_address(entry["git_url"], recipe)
    if "path" in entry:
        entry["path"] = os.path.relpath((recipe / entry["path"]).resolve(), folder.resolve()).replace(os.sep, "/")
    if "patches" in entry:
        entry["patches"] = [
            patch if (folder / patch).is_file()
            else os.path.relpath((recipe / patch).resolve(), folder.resolve()).replace(os.sep, "/")
            for patch in entry["patches"]
        ]  # fmt: skip
    return entry
