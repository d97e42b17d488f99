"""The last of rendering: what only the solver and the sources know, once there is a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.channel.environments import solve
from slipway.channel.folder import Channel
from slipway.source import pin_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slipway.channel.environments import Solution
    from slipway.model import RenderedOutput
    from slipway.request import Request

    Solve = Callable[[Sequence[str], Sequence[str]], Solution]


def finalize(
    request: Request, outputs: Sequence[RenderedOutput], channels: Sequence[str], solve: Solve = solve
) -> list[RenderedOutput]:
    """`outputs` once more, their pins (`pin_compatible`, `pin_run_as_build`) made from what the solver picks.

    Sources that lie elsewhere are pinned, too: see `slipway.source`.

    Each output's host environment is solved without the recipe's own outputs, which need not exist yet.

    Raises:
        SolveError: a host environment has no solution.
        NetworkError, IntegrityError: a source cannot be fetched, or is not what the recipe promises.
    """
    own_names = {output.name for output in outputs}
    channel = Channel(request.workspace.channel)
    if channel.is_indexed:  # other recipes' packages may lie there
        channels = (channel.url, *channels)
    rendered_for: dict[tuple[str, ...], dict[str, RenderedOutput]] = {}
    final = []
    for output in outputs:
        specs = tuple(spec for spec in output.requirements.host if spec.split()[0] not in own_names)
        if not specs:
            final.append(output)
            continue
        if specs not in rendered_for:
            versions = {package.name: package.version for package in solve(specs, channels).packages}
            rendered_for[specs] = {again.key: again for again in request.matrix(versions).outputs}
        final.append(rendered_for[specs][output.key])
    return [pin_sources(output, offline=request.offline, pinned_before=request.pinned) for output in final]
