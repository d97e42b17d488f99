"""Print the JSON schema of one of slipway's YAML files, for editors; without NAME, list them.

    slipway schema slipway > .vscode/slipway.schema.json
    slipway schema --to DIR         all of them, as DIR/NAME.json

A file names its schema to editors in its first line, as `# yaml-language-server: $schema=slipway.schema.json`.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipway.base.answers import CommandAnswer
from slipway.base.error_pages import ErrorPage
from slipway.base.errors import UsageError
from slipway.base.files import write_file
from slipway.base.json_schema import json_schema
from slipway.bootstrap.adding_debs import DebianNames
from slipway.bootstrap.choices import CudaFile, SettingsFile
from slipway.bootstrap.description import DescriptionFile
from slipway.bootstrap.lock import LockFile
from slipway.channel.hotfixes import Hotfixes
from slipway.model import RecipeSettings
from slipway.proof.keys import Trust
from slipway.verify.policies import Policies
from slipway.workflows.settings import Settings

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter

KINDS: Mapping[str, tuple[Any, str]] = {
    "slipway": (RecipeSettings, "slipway.yaml beside a recipe"),
    "answer": (
        CommandAnswer,
        "what commands print with --json that have no answer of their own, and all when they fail",
    ),
    "hotfixes": (Hotfixes, "hotfixes of a published channel"),
    "trusted-keys": (Trust, "keys that a channel's readers trust"),
    "workflows": (Settings, "where and how CI builds: ci/slipway/workflows/settings.yaml"),
    "embedded": (SettingsFile, "the embedded channel: ci/slipway/bootstrap/data/settings.yaml"),
    "embedded-cuda": (CudaFile, "a CUDA version of the embedded channel: ci/slipway/bootstrap/data/cuda/X.Y.yaml"),
    "embedded-package": (DescriptionFile, "a package of it: ci/slipway/bootstrap/data/packages/"),
    "embedded-lock": (LockFile, "its lock: ci/slipway/bootstrap/data/lock.yaml"),
    "debian-names": (DebianNames, "names of Debian's packages: ci/slipway/bootstrap/data/debian.yaml"),
    "error-pages": (Mapping[str, ErrorPage], "what `slipway explain` says: ci/slipway/base/error_pages.yaml"),
    **{
        f"policy-{name}": (kind, f"what packages are held to: {name}.yaml of a folder of policies")
        for name, kind in typing.get_type_hints(Policies).items()
    },
}
"""Every file of ours that people write, with the type that reads it and what it is."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="which file's")
    parser.add_argument("--to", type=Path, metavar="DIR", help="write all of them there")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Print, or write; returns the exit code."""
    if arguments.to is not None:
        arguments.to.mkdir(parents=True, exist_ok=True)
        for name in KINDS:
            write_file(arguments.to / f"{name}.json", schema_text(name))
            reporter.line(f"{arguments.to / name}.json: written")
    elif arguments.name is None:
        width = max(map(len, KINDS))
        print("\n".join(f"{name:<{width}}  {title}" for name, (_, title) in KINDS.items()))
    elif arguments.name in KINDS:
        print(schema_text(arguments.name), end="")
    else:
        raise UsageError(f"there is no schema `{arguments.name}`", hint="`slipway schema` lists them")
    return 0


def schema_text(name: str) -> str:
    """The schema as it is kept in docs/schemas."""
    kind, title = KINDS[name]
    return json.dumps(json_schema(kind, title), indent=1) + "\n"
