"""A build that stopped, or was only prepared, as a place to work in: its environment, its folder, its next steps.

What rattler-build and the wrapper script leave behind says everything: `build_env.sh` activates, the wrapper's head
exports conda-build's variables, the log's trace tells which commands ran, and where the script changed folders.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from slipway.base.json_file import read_json
from slipway.base.proc import capture
from slipway.engines.build_folder import build_root
from slipway.engines.build_script import SCRIPT_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_OWN_SCRIPT: Final = "trap slipway_finish EXIT"
"""The wrapper's last line: what follows is the recipe's own."""

_SOURCED: Final = re.compile(r'\. "\$RECIPE_DIR"/(.+)')
_STATE: Final = re.compile(r"(cd|pushd|export|[A-Za-z_]\w*=)")
STEPS: Final = "remaining-steps.sh"
RC_NAME: Final = "shell.rc"


@dataclass(frozen=True)
class PreparedBuild:
    """A build in the folder `place`: its environments are there, its script may have run in part.

    Attributes:
        work: where the script runs.
        build_string: of the package that was to come of it.
    """

    place: Path
    work: Path
    build_string: str


@dataclass(frozen=True)
class Steps:
    """What is left of a script.

    Attributes:
        path: the file that holds it, as the recipe names it; None for commands in the recipe itself.
        number: the line of the first one, from 1.
        lines: that line, and all after it.
        state: commands that bring a shell where the script was.
    """

    path: str | None
    number: int
    lines: tuple[str, ...]
    state: tuple[str, ...] = ()


def find_stopped(name: str, environ: Mapping[str, str]) -> PreparedBuild | None:
    """The build of the package `name` that stopped last; None where it went well, or never began."""
    return find_prepared(build_root(environ) / name)


def find_prepared(place: Path) -> PreparedBuild | None:
    """The build in a folder; None where its environments are not there yet."""
    work = next((path.parent for path in place.glob("output/bld/*/work/build_env.sh")), None)
    recipe = read_json(place / "recipe" / "recipe.yaml")
    if work is None or recipe is None or not (place / "recipe" / SCRIPT_NAME).is_file():
        return None
    return PreparedBuild(place, work, str(recipe["build"]["string"]))


def remaining_steps(prepared: PreparedBuild, log: Sequence[str]) -> Steps:
    """The script from the command on that a log ends with; all of it where the log does not tell."""
    wrapper = (prepared.place / "recipe" / SCRIPT_NAME).read_text(encoding="utf-8").splitlines()
    own = wrapper[wrapper.index(_OWN_SCRIPT) + 1 :]
    sourced = _SOURCED.fullmatch(own[0]) if own else None
    path = shlex.split(sourced[1])[0] if sourced is not None else None
    if path is not None:
        own = (prepared.place / "recipe" / path).read_text(encoding="utf-8").splitlines()
    trace = "++ " if path is not None else "+ "
    begins = f"+ {_OWN_SCRIPT}"
    start = max((index for index, line in enumerate(log) if line == begins), default=len(log))
    ran = [line.removeprefix(trace) for line in log[start + 1 :] if line.startswith(trace)]
    ran = ran[: ran.index("slipway_finish")] if "slipway_finish" in ran else ran
    reached = _find_reached(own, ran)
    while reached and not _parses(own[reached:]):
        reached -= 1
    state = tuple(command for command in ran[:-1] if _STATE.match(command))
    return Steps(path, reached + 1, tuple(own[reached:]), state)


def _find_reached(script: Sequence[str], ran: Sequence[str]) -> int:
    """The index of the line that the last command came from which any line looks like."""
    position = 0
    for command in ran:
        found = next((index for index in range(position, len(script)) if _looks_like(script[index], command)), None)
        position = position if found is None else found
    return position


def _looks_like(line: str, command: str) -> bool:
    """Whether bash may have traced `command` for a script's `line`: expanded, without redirections."""
    first = line.strip().split(";")[0].split("|")[0].split("&&")[0].split(">")[0].rstrip("\\ ")
    words = [word for word in re.split(r"\s+", first) if word]
    if not words or words[0].startswith("#"):
        return False
    pattern = ".*".join(re.escape(part) for part in re.split(r"[\"']|\$\{[^}]*\}|\$\w+|\$\(.*?\)", " ".join(words)))
    return re.match(pattern, command) is not None


def _parses(lines: Sequence[str]) -> bool:
    text = "\n".join(lines)
    return capture(["bash", "-n", "-c", text], env={"PATH": "/usr/bin:/bin"}, what="bash").status == 0


def find_text(path: Path, text: str) -> int | None:
    """The number of the first line of a recipe that holds a command; None where it was made by templates."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() and text.strip() else []
    return next((number for number, line in enumerate(lines, start=1) if text.strip() in line), None)


def write_shell_files(prepared: PreparedBuild, steps: Steps) -> Path:
    """What a shell reads first: the build's environment, and the command `rest`, which goes on with the script."""
    wrapper = (prepared.place / "recipe" / SCRIPT_NAME).read_text(encoding="utf-8").splitlines()
    variables = [line for line in wrapper[: wrapper.index("umask 022")] if line.startswith(("export ", "unset "))]
    rest = prepared.place / STEPS
    rest.write_text("\n".join(["set -ex", *steps.lines, ""]), encoding="utf-8")
    lines = [
        f". {shlex.quote(str(prepared.work / 'build_env.sh'))}",
        *variables,
        "export HOME=" + shlex.quote(str(prepared.place / "home")),
        "umask 022",
        f"cd {shlex.quote(str(prepared.work))}",
        *(f"{command} || :" for command in steps.state),
        f"rest() {{ ( . {shlex.quote(str(rest))} ); }}",
        f"steps() {{ cat {shlex.quote(str(rest))}; }}",
        "PS1='\\n[slipway debug] \\w\\n$ '",
    ]
    path = prepared.place / RC_NAME
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def shell_words(rc: Path, command: Sequence[str], *, interactive: bool) -> list[str]:
    """The program to run: a shell to type in, one that reads commands from its input, or just `command`."""
    if command:
        return ["bash", "-c", f'. {shlex.quote(str(rc))}; "$@"', "bash", *command]
    return (
        ["bash", "--rcfile", str(rc), "-i"]
        if interactive
        else ["bash", "-c", f". {shlex.quote(str(rc))}; . /dev/stdin"]
    )


def describe(prepared: PreparedBuild) -> dict[str, str]:
    """The folders of a build, by the variable that names each in its script."""
    text = (prepared.work / "build_env.sh").read_text(encoding="utf-8")
    found = dict(re.findall(r"^export (PREFIX|BUILD_PREFIX|SRC_DIR)=(.*)$", text, re.MULTILINE))
    return {name: shlex.split(value)[0] for name, value in found.items()}
