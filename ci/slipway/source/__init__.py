"""Sources that lie elsewhere: git repositories and addresses of files, fetched before the build and outside of it.

In two steps. `pinned` says what a source is at this moment: a branch becomes a commit, a file becomes its sha256. That
stands in the digest, so that `plan` notices when either moved. `put` writes the pinned files to a folder. Everything
is kept in the cache by what it is, so the second step, and the first with ``--offline``, need no network.
"""

from __future__ import annotations

import os
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from slipway.base.errors import RecipeError
from slipway.base.secrets import remember_url
from slipway.base.user_folders import cache_folder
from slipway.model import git_address
from slipway.source import git, url
from slipway.source.unpack import unpack

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from slipway.model import RenderedOutput, Source


def pin_sources(
    output: RenderedOutput,
    *,
    offline: bool,
    environ: Mapping[str, str] = os.environ,
    pinned_before: Mapping[Source, Source] = MappingProxyType({}),
) -> RenderedOutput:
    """`output` with every source that lies elsewhere pinned to what is there now.

    Args:
        pinned_before: sources that nobody is asked about again, and what they are pinned to.

    Raises:
        RecipeError: a repository, or the revision in it, does not exist.
        NetworkError: it cannot be reached, or is not in the cache and `offline` is asked for.
        IntegrityError: a file is not the one that the recipe promises.
        HostError: git is needed and missing.
    """
    known = dict(pinned_before)

    def pin(one: RenderedOutput) -> RenderedOutput:
        for source in one.sources:
            for address in filter(None, (source.url, source.git_url, *source.mirrors)):
                remember_url(address)
            if source not in known:
                known[source] = pinned(source, one.recipe_dir, offline=offline, environ=environ)
        staging = pin(one.staging) if one.staging is not None else None
        return replace(one, sources=tuple(known[source] for source in one.sources), staging=staging)

    return pin(output)


def pinned(source: Source, recipe: Path, *, offline: bool, environ: Mapping[str, str] = os.environ) -> Source:
    """One entry, pinned; see `pin_sources`. `recipe` is the folder that relative places start from."""
    cache = cache_folder(environ)
    if source.git_url is not None:
        if source.git_commit is not None and git.is_kept(source.git_commit, cache):
            return source
        place = git_address(source.git_url, recipe)
        found = git.resolve(place, source.git_commit or source.git_rev, source.git_depth, cache,
                            offline=offline, environ=environ)  # fmt: skip
        return replace(source, git_commit=found.commit, git_describe=source.git_describe or found.describe)
    if source.url is not None:
        return replace(source, sha256=url.fetch(source, recipe, cache, offline=offline).sha256)
    return source


def copy_pinned(source: Source, cache: Path, target: Path) -> None:
    """Make the cache folder `target` hold what `put` takes for a `pinned` source, from the cache folder `cache`.

    Raises:
        IntegrityError: it has gone from there, or was damaged.
    """
    if source.git_commit is not None:
        git.copy_tree(source.git_commit, cache, target)
    elif source.url is not None:
        url.copy_kept(source, cache, target)


def put(source: Source, folder: Path, *, where: str, environ: Mapping[str, str] = os.environ) -> None:
    """Write the files of a `pinned` source to `folder`, as conda-build lays them out.

    Raises:
        RecipeError: it is of a kind that is not supported.
        IntegrityError: an archive cannot be unpacked.
    """
    if source.unsupported is not None:
        raise RecipeError(
            f"`source/{source.unsupported}` is not supported",
            where=where,
            hint="name a `url`, a `git_url` or a `path`, or build with `--engine conda-build`",
        )
    cache = cache_folder(environ)
    if source.git_commit is not None:
        git.copy_kept(source.git_commit, cache, folder)
    elif source.url is not None and source.sha256 is not None:
        fetched = url.kept(source, cache)
        if source.expand:
            unpack(fetched, folder, hoist=not source.no_hoist)
        else:
            url.place(fetched, folder / fetched.name)
