"""The embedded channel among the channels that commands are given, and the part of it that a variant asks for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import ChannelError, SolveError
from slipway.base.platform import LINUX_64
from slipway.base.user_folders import cache_folder
from slipway.bootstrap.choices import ChannelRequest, embedded_choices, names_for_cuda
from slipway.bootstrap.ensure import ensure_channel
from slipway.bootstrap.pins import EMBEDDED
from slipway.channel.environments import needed_names
from slipway.channel.specs import package_name
from slipway.recipe.choose import CUDA_KEY, WITHOUT, each_value, version_of
from slipway.recipe.defaults import target_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slipway.base.log import Reporter
    from slipway.bootstrap.stored import EmbeddedChannel
    from slipway.channel.folder import Channel
    from slipway.model import RenderedOutput, Variant

SCHEMES = ("file", "http", "https", "s3", "oci", "oci+http")
"""How addresses of channels begin."""


def channel_request(asked: Variant, *, needs: Iterable[str] = (), build_tools: bool = False) -> ChannelRequest:
    """What the embedded channel must offer for a variant; its own choice where `asked` says nothing.

    Args:
        needs: match specs (or names) of what is to be installed from it.
    """
    named = {key: version_of(asked[key]) for key in ("python", "blas_impl", CUDA_KEY) if key in asked}
    request = ChannelRequest()
    cudas = each_value(named.get(CUDA_KEY, WITHOUT))
    platform = target_of(asked, request.platform)
    return ChannelRequest(
        cuda=tuple(cuda for cuda in cudas if cuda != WITHOUT),
        blas=named.get("blas_impl", request.blas if platform == LINUX_64 else "openblas"),
        python=(named["python"],) if "python" in named else request.python,
        build_tools=build_tools,
        names=tuple(sorted({*map(package_name, needs), *(platform.emulation if platform != LINUX_64 else ())})),
        platform=platform,
    )


def needs_of(outputs: Iterable[RenderedOutput]) -> set[str]:
    """Names of all packages that outputs are built, tested and used with."""
    found: set[str] = set()
    for output in outputs:
        requirements = output.requirements
        specs = (*requirements.build, *requirements.host, *requirements.run, *output.test.requires)
        found.update(map(package_name, specs))
        found |= needs_of([output.staging]) if output.staging is not None else set()
    return found


def embedded_channel(
    asked: Variant, reporter: Reporter, *, needs: Iterable[str] = (), offline: bool, build_tools: bool = False
) -> EmbeddedChannel:
    """Assemble (or find) the embedded channel with what a variant asks for.

    Args:
        needs: match specs (or names) of what is to be installed from it.
        build_tools: also with the Python that build tools run with, whichever is asked for.

    Raises:
        VariantError: it has no such part.
        NetworkError: a download was needed and could not be made.
    """
    request = channel_request(asked, needs=needs, build_tools=build_tools)
    return ensure_channel(request, reporter, cache=cache_folder(), offline=offline)


def channels_of(
    named: Sequence[str] | None,
    asked: Variant,
    reporter: Reporter,
    *,
    needs: Iterable[str],
    own: Channel | None = None,
    offline: bool,
    build_tools: bool = False,
) -> tuple[str, ...]:
    """The addresses of the channels that are `named`, by default the embedded one; the word for it becomes its address.

    Args:
        needs: match specs (or names) of what is to be installed: the embedded channel has it, and what packages of the
            other channels need of it.
        own: a channel that is looked at before these.

    Raises:
        NetworkError: the embedded channel is asked for, and a download that it needs could not be made.
    """
    names = (EMBEDDED,) if named is None else tuple(named)
    given = {name: channel_address(name) for name in names if name != EMBEDDED}
    if EMBEDDED in names:
        others = (*([own.url] if own is not None and own.is_indexed else []), *given.values())
        needs = needed_names(needs, others) if others else needs
        embedded = embedded_channel(asked, reporter, needs=needs, offline=offline, build_tools=build_tools)
        given[EMBEDDED] = embedded.url
    return tuple(given[name] for name in names)


def advise_on_cuda(error: SolveError, asked: Variant) -> None:
    """Say in the hint of `error` how packages of CUDA come into the embedded channel, where the solver missed one."""
    missed = names_for_cuda().intersection(re.findall(r"[\w.-]+", error.detail or ""))
    if missed and any(channel.startswith(cache_folder().as_uri()) for channel in error.channels):
        there = f"is it for another CUDA than {asked[CUDA_KEY]}?" if CUDA_KEY in asked else "it takes CUDA's libraries:"
        error.hint = (
            f"{there} `--cuda X.Y` asks for them, and the embedded channel has {', '.join(embedded_choices().cudas)}"
        )


def channel_address(text: str) -> str:
    """What the solver takes: a folder becomes a ``file://`` address; names and addresses stay.

    Raises:
        ChannelError: there is no such folder, or it is an address of a kind that no channel has.
    """
    path = Path(text).expanduser()
    if path.is_dir():
        return path.resolve().as_uri()
    scheme, given, _ = text.partition("://")
    if given and scheme not in SCHEMES:
        raise ChannelError(
            f"no channel is read by `{scheme}:`", where=text, code="unknown-scheme",
            hint=f"addresses begin with {', '.join(f'{one}://' for one in SCHEMES)}; a folder or a name will do, too",
        )  # fmt: skip
    if not given and (text.startswith(("/", ".", "~")) or not text):
        raise ChannelError(
            "there is no such folder, so it is no channel", where=str(path), code="no-such-channel",
            hint="check the path; a channel's name, such as `conda-forge`, begins with a letter",
        )  # fmt: skip
    return text
