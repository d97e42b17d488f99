"""Writes the script that the rattler engine runs: conda-build's environment, the recipe's own lines, a clean end.

rattler-build sets PREFIX, BUILD_PREFIX, SRC_DIR, PKG_* and friends; conda-build sets more, which recipes use. What a
package must not remember (times, folders of this build) goes before and after the recipe's own lines.
"""

from __future__ import annotations

import fnmatch
import shlex
import time
from typing import TYPE_CHECKING

from slipway.base.platform import LINUX_64
from slipway.engines.compiler_cache.server import REQUEST_SERVER, STOP_SERVER, wants_cache
from slipway.engines.engine import CLOCK_SECONDS
from slipway.observe.build import KEEP_NINJA_FILES
from slipway.recipe.defaults import target_of
from slipway.recipe.fields import LINK_SCRIPTS
from slipway.source.git import variables as git_variables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import PurePath

    from slipway.model import RenderedOutput

SCRIPT_NAME = "slipway_build.sh"
"""The generated wrapper: sets conda-build's variables, then runs the recipe's script."""

FINISH = """\
slipway_finish() {
  status=$?
  set +x
@STOP_SERVER@@KEEP@  slipway_end_output
  [ "$status" = 0 ] || exit "$status"
@FORGET@
  new() { find "$PREFIX" -cnewer "$SRC_DIR/build_env.sh" -type f "$@"; }
  # (By the time of its arrival: CMake installs files with the times of their sources.)
  # pip notes where it installed from: a folder of this build that nobody else has.
  new -path '*.dist-info/direct_url.json' | while read -r note; do
    rm "$note"
    sed -i '/direct_url\\.json,/d' "${note%/*}/RECORD"
  done
@COMPILE@
  # What reads packages would wait for somebody to write into a pipe.
  special=$(find "$PREFIX" ! -type f ! -type d ! -type l)
  [ -z "$special" ] || { echo "error: a package holds files, folders and links, but no $special"; exit 1; }
}
# What the script left running holds its output, and the build would wait for that to end. Any process may end while it
# is looked at.
slipway_end_output() {
  local process=$BASHPID output own=' ' left
  output=$(readlink "/proc/$process/fd/1") || return 0
  while [ "${process:-0}" -gt 0 ]; do
    own+="$process "
    process=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$process/status" 2> /dev/null) || break
  done
  output="pipe:?${output//[^0-9]/}?"
  left=$({ find /proc/[0-9]*/fd -maxdepth 1 ! -name 0 -lname "$output" 2> /dev/null || :; } | cut -d / -f 3 | sort -u)
  for process in $left; do
    case $own in *" $process "*) continue ;; esac
    [ -e "/proc/$process" ] || continue
    echo "ended $(cat "/proc/$process/comm" 2> /dev/null), which the script left running"
    kill -9 "$process" || :
  done
}
trap slipway_finish EXIT""".replace("@KEEP@", KEEP_NINJA_FILES)
"""What is put right after the recipe's script, however it ends well."""

SETTLE = """\
umask 022
# When sources were written, checked out or patched is no part of them; archives and __TIMESTAMP__ would pack it.
find "$SRC_DIR" -mindepth 1 ! -path "$SRC_DIR/build_env.sh" ! -path "$SRC_DIR/conda_build.sh" \\
  -exec touch -h -t @CLOCK@ {} +""".replace("@CLOCK@", time.strftime("%Y%m%d%H%M.%S", time.gmtime(CLOCK_SECONDS)))
"""What is put right before the recipe's script."""

ONE_PIPE = """\
# One pipe: by two, what a command prints can reach the log after the trace of the next one. Nothing is traced before.
{ set +x; } 2>/dev/null
# rattler-build stops reading at bytes that are not UTF-8, and then the script waits for it forever: in a line with such
# bytes all that are not ASCII become question marks. Unbuffered, since slipway answers to what it reads.
exec > >(LC_ALL=C exec sed -u -E -e '/[\\x80-\\xff]/!b' -e h -e 's/[\\xc2-\\xdf][\\x80-\\xbf]/ /g' \\
  -e 's/\\xe0[\\xa0-\\xbf][\\x80-\\xbf]|[\\xe1-\\xec\\xee\\xef][\\x80-\\xbf]{2}|\\xed[\\x80-\\x9f][\\x80-\\xbf]/ /g' \\
  -e 's/\\xf0[\\x90-\\xbf][\\x80-\\xbf]{2}|[\\xf1-\\xf3][\\x80-\\xbf]{3}|\\xf4[\\x80-\\x8f][\\x80-\\xbf]{2}/ /g' \\
  -e '/[\\x80-\\xff]/!{g;b}; g; s/[\\x80-\\xff]/?/g') 2>&1"""

COMPILE = """\
  # rattler-build compiles copies of the files, with times that installed files do not have, so that every import would
  # compile them again. A hash of the source fits wherever and whenever it is installed, and in every build.
  new -path '*/site-packages/*' -name '*.pyc' -exec rm {} +
  # In one order, and so many in each process whatever the number of processors: what is compiled earlier in the same
  # process can show in the bytes.
  new -path '*/site-packages/*' -name '*.py' -print0 | sort -z |
    xargs -0 -r -n 150 -P "$CPU_COUNT" \\
      "$PYTHON" -m compileall -q --invalidation-mode checked-hash -s "$PREFIX" -x @EXCEPT@ ||
    echo 'some Python files do not compile; they are packed as they are' """


def build_script(output: RenderedOutput, *, recipe: PurePath, jobs: int, unset: Sequence[str] = ()) -> str:
    """The wrapper around the recipe's script (in the folder `recipe`): conda-build's environment variables first.

    rattler-build sets PREFIX, BUILD_PREFIX, SRC_DIR, PKG_* and friends; conda-build sets more, which recipes use. What
    it sets for itself, `unset`, is none of the script's business.
    """
    variables: dict[str, str] = {
        # Every variant key that names a shell variable, as conda-build does.
        **{key: value for key, value in output.variant.items() if key.isidentifier()},
        "RECIPE_DIR": str(recipe),
        "CPU_COUNT": str(jobs),
        "PKG_NAME": output.name,
        "PKG_VERSION": output.version,
        "PKG_BUILDNUM": str(output.build_number),
        "PKG_BUILD_STRING": output.build_string,
        # A clock that stands still, one time zone, and sets in Python that keep their order: two builds of one source
        # give the same bytes.
        "SOURCE_DATE_EPOCH": str(CLOCK_SECONDS),
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        # What the script runs is not to leave bytecode in the folders of packages that it only uses.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    commit = next((source for source in output.sources if source.git_commit is not None), None)
    if commit is not None:
        variables |= git_variables(str(commit.git_commit), commit.git_describe)
    lines = ["# Written by slipway: conda-build's environment, then the recipe's own script.", ONE_PIPE]
    if unset:
        lines.append("unset " + " ".join(unset))
    lines += [f"export {key}={shlex.quote(value)}" for key, value in sorted(variables.items())]
    lines.append('export CMAKE_PREFIX_PATH="$PREFIX${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"')
    version = python_version(output)
    if version:
        lines += [
            f"export PY_VER={version} CONDA_PY={version.replace('.', '')} PY3K=1",
            f'export STDLIB_DIR="$PREFIX/lib/python{version}" SP_DIR="$PREFIX/lib/python{version}/site-packages"',
        ]
    elif any(spec.split()[0] == "python" for spec in output.requirements.host):
        lines += [
            'PY_VER=$("$PYTHON" -c \'import sys; print("%d.%d" % sys.version_info[:2])\')',
            'export PY_VER CONDA_PY="${PY_VER/./}" PY3K=1',
            'export STDLIB_DIR="$PREFIX/lib/python$PY_VER" SP_DIR="$PREFIX/lib/python$PY_VER/site-packages"',
        ]
    if target_of(output.variant, LINUX_64) != LINUX_64 and compiles_python(output):
        # That of the host environment does not run here; the build environment's compiles for it, if it is as new.
        lines.append('export PYTHON="$BUILD_PREFIX/bin/python$PY_VER"')
    lines += [f"export {key}={shlex.quote(value)}" for key, value in sorted(output.script_env.items())]
    lines.append(SETTLE)
    if wants_cache(output):
        lines.append(REQUEST_SERVER)
    lines += ["set -x", 'cd "$SRC_DIR"']
    if output.staging is not None and not output.takes_files:
        lines += _top_level_first(output, output.staging)
    lines.append(_finish(output))
    lines += _own_script(output)
    return "\n".join(lines) + "\n"


def _own_script(output: RenderedOutput) -> list[str]:
    lines = [f'. "$RECIPE_DIR"/{shlex.quote(output.script)}'] if output.script else list(output.script_commands)
    for event in LINK_SCRIPTS:
        if output.build.get(event):
            source, target = shlex.quote(str(output.build[event])), f'"$PREFIX/bin/.$PKG_NAME-{event}.sh"'
            lines.append(f'mkdir -p "$PREFIX/bin" && cp "$RECIPE_DIR"/{source} {target} && chmod 755 {target}')
    return lines


def _top_level_first(output: RenderedOutput, staging: RenderedOutput) -> list[str]:
    """The top level's script, in the folder in which the output's goes on.

    What it installs is there for the output's script to see; it is only packed if the output lists it as `files`.
    """
    lines = ["(", f"export PKG_NAME={shlex.quote(staging.name)}", *_own_script(staging), ") || exit"]
    if not output.build.get("files"):
        lines += [
            'find "$PREFIX" -cnewer "$SRC_DIR/build_env.sh" ! -type d -print0 > "$SRC_DIR/../top-level-files"',
            "slipway_forget() {",
            '  xargs -0 -r rm -f < "$SRC_DIR/../top-level-files"',
            '  find "$PREFIX" -cnewer "$SRC_DIR/build_env.sh" -mindepth 1 -type d -empty -delete',
            "}",
        ]
    return lines


def compiles_python(output: RenderedOutput) -> bool:
    """Whether the package gets compiled Python files: a noarch one is compiled when it is installed."""
    return output.noarch is None and any(spec.split()[0] == "python" for spec in output.requirements.host)


def _finish(output: RenderedOutput) -> str:
    forgets = output.staging is not None and not output.takes_files and not output.build.get("files")
    lines = FINISH.replace("@STOP_SERVER@", STOP_SERVER if wants_cache(output) else "")
    lines = lines.replace("@FORGET@\n", "  slipway_forget\n" if forgets else "")
    if not compiles_python(output):
        return lines.replace("@COMPILE@\n", "")
    skipped = output.build.get("skip_compile_pyc") or ()
    patterns = [skipped] if isinstance(skipped, str) else list(skipped)
    pattern = "|".join(fnmatch.translate(f"*/{pattern}") for pattern in patterns) or "(?!)"
    return lines.replace("@COMPILE@", COMPILE.replace("@EXCEPT@", shlex.quote(pattern)))


def python_version(output: RenderedOutput) -> str | None:
    """``3.11`` where the host section pins Python to one minor version, else None."""
    for spec in output.requirements.host:
        name, _, rest = spec.partition(" ")
        if name == "python":
            parts = rest.split(" ")[0].lstrip("=").rstrip("*").rstrip(".").split(".")
            if len(parts) >= 2 and all(part.isdigit() for part in parts[:2]):
                return ".".join(parts[:2])
    return None
