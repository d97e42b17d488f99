"""The last of rendering: what only the solver and the sources know, once there is a channel."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from slipway.base.errors import RecipeError
from slipway.bootstrap.embedded import channels_of, needs_of
from slipway.channel.environments import Solution, solve
from slipway.channel.folder import Channel
from slipway.pipeline.solving import solve_environments
from slipway.recipe import Solved
from slipway.source import pin_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from slipway.base.log import Reporter
    from slipway.base.platform import Platform
    from slipway.model import RenderedOutput
    from slipway.pipeline.solving import Solve
    from slipway.request import Request


def find_channels(
    request: Request, outputs: Sequence[RenderedOutput], reporter: Reporter, *, instead: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    """The addresses of the channels that `outputs` are built from; the embedded one is assembled for them.

    Args:
        outputs: where they differ in a variant key, the channel is that of the first one.
        instead: channels that take the place of those that were asked for.

    Raises:
        ChannelError: there is no such channel.
        NetworkError: a download was needed and could not be made.
    """
    return channels_of(
        request.channels if instead is None else instead, request.channel_variant(outputs), reporter,
        needs=needs_of(outputs), own=Channel(request.workspace.channel), offline=request.offline, build_tools=True,
    )  # fmt: skip


def finalize(
    request: Request,
    outputs: Sequence[RenderedOutput],
    channels: Sequence[str],
    solve: Callable[..., Solution] = solve,
) -> list[RenderedOutput]:
    """`outputs` once more, with all that the solver decides: pins (`pin_compatible`, `pin_run_as_build`) and names.

    Names are conda-build's: a language's version in a build string is that of the host environment, and what
    run_exports ask of the machine (``__glibc >=2.17``) is hashed. Sources that lie elsewhere are pinned, too: see
    `slipway.source`.

    Each output's environments are solved without the recipe's own outputs, which need not exist yet.

    Raises:
        RecipeError: an output lists files that nothing makes.
        SolveError: an environment has no solution.
        NetworkError, IntegrityError: a source cannot be fetched, or is not what the recipe promises.
    """
    for output in outputs:
        if output.build.get("files") and output.staging is None and not (output.script or output.script_commands):
            raise RecipeError(
                f"`{output.name}` lists files, and nothing makes them", where=str(output.recipe_path),
                hint="give the output a `script`, or the top level a build.sh or a `build/script`",
                code="files-from-nowhere",
            )  # fmt: skip
    own_names = {output.name for output in outputs}
    channel = Channel(request.workspace.channel)
    if channel.is_indexed:  # other recipes' packages may lie there
        channels = (channel.url, *channels)

    @functools.cache
    def solve_once(specs: tuple[str, ...], platform: Platform) -> Solution:
        return solve(specs, channels, platform=platform) if specs else Solution((), ())

    solved = {output.key: solve_output(output, own_names, solve_once) for output in outputs}
    if any(one.versions or one.virtual for one in solved.values()):
        rendered = {output.solved_from: output for output in request.matrix(solved).outputs}
        outputs = [rendered[output.key] for output in outputs]
    return [pin_sources(output, offline=request.offline, pinned_before=request.pinned) for output in outputs]


def solve_output(output: RenderedOutput, own_names: Collection[str], solve: Solve) -> Solved:
    """What the solver says of the environments of one output."""
    environments = solve_environments(output, own_names, solve)
    return Solved(
        versions={package.name: package.version for package in environments.host.packages},
        virtual=tuple(spec for spec in environments.run_exports if spec.startswith("__")),
    )
