"""What is said of sources that were prepared, before and after patches meet them."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from slipway.base.errors import RecipeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from slipway.model import RenderedOutput

_BRINGS_FILES: Final = re.compile(r"\b(tar|unzip|7z|git|curl|wget|cargo-bundle-licenses)\b")
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@.*")
_AROUND: Final = 3


def check_licence_files(output: RenderedOutput, recipe: Path, sources: Sequence[Mapping[str, Any]]) -> None:
    """See to it that `about/license_file` is there before anything is built.

    What the script may make is not missed: it names the file, or brings files from somewhere.

    Args:
        recipe: the recipe's folder in the build's.
        sources: the source entries of the v1 recipe.

    Raises:
        RecipeError: a file is nowhere.
    """
    files = output.about.get("license_file") or ()
    text = "\n".join(_texts_that_make_files(output, recipe))
    for name in [files] if isinstance(files, str) else map(str, files):
        if "$" in name or name.startswith("/") or (recipe / name).exists() or _BRINGS_FILES.search(text):
            continue
        if PurePosixPath(name).name in text or any(_holds(recipe, source, name) for source in sources):
            continue
        raise RecipeError(
            f"`license_file: {name}` of `{output.name}` is in no source and not beside meta.yaml",
            where=str(output.recipe_path), code="licence-file-missing",
            hint="name it as it is called in the source, or put the text beside meta.yaml",
        )  # fmt: skip


def _texts_that_make_files(output: RenderedOutput, recipe: Path) -> Iterator[str]:
    for one in filter(None, (output, output.staging)):
        yield from one.script_commands
        if one.script is not None and (recipe / one.script).is_file():
            yield (recipe / one.script).read_text(encoding="utf-8", errors="replace")
        for patch in (patch for source in one.sources for patch in source.patches):
            if (output.recipe_dir / patch).is_file():
                yield (output.recipe_dir / patch).read_text(encoding="utf-8", errors="replace")


def _holds(recipe: Path, source: Mapping[str, Any], name: str) -> bool:
    place = recipe / str(source["path"])
    folder = place.parent if place.is_file() else place
    below = str(source.get("target_directory") or "")
    inside = name.removeprefix(f"{below}/") if below else name
    return (not below or inside != name) and next(folder.glob(inside.rstrip("/")), None) is not None


def explain_patch(
    said: str, output: RenderedOutput, recipe: Path, sources: Sequence[Mapping[str, Any]]
) -> RecipeError | None:
    """Which hunk of which patch does not fit, and what the file has there; None where `said` is about something else.

    Args:
        said: the engine's error, which holds the hunk.
        recipe: the recipe's folder in the build's.
        sources: the source entries of the v1 recipe.
    """
    hunk = next((line for line in said.splitlines() if _HUNK.match(line)), None)
    if "Patch application error" not in said or hunk is None:
        return None
    for source in sources:
        for patch in source.get("patches", ()):
            lines = (recipe / patch).read_text(encoding="utf-8", errors="replace").splitlines()
            for number, line in enumerate(lines, start=1):
                if line.strip() == hunk.strip():
                    names = [earlier[4:].split("\t")[0] for earlier in lines[:number] if earlier.startswith("+++ ")]
                    name = names[-1].removeprefix("b/") if names else "?"
                    written = PurePosixPath(patch).name.partition("-")[2]
                    own = (one for source in output.sources for one in source.patches)
                    place = next((one for one in own if PurePosixPath(one).name == written), written)
                    return RecipeError(
                        f"the patch does not fit: `{name}` has other lines where its hunk `{hunk}` looks",
                        where=f"{output.recipe_dir / place}:{number}", code="patch-does-not-fit",
                        hint="make it anew from the source as it is, with `git diff` or `diff -u`",
                        detail=_compare(lines[number:], hunk, recipe / str(source["path"]) / name),
                    )  # fmt: skip
    return None


def _compare(following: Sequence[str], hunk: str, path: Path) -> str:
    """What the hunk wants, and the file's lines there."""
    match = _HUNK.match(hunk)
    start, count = (int(match[1]), int(match[2] or 1)) if match else (1, 1)
    end = next((index for index, line in enumerate(following) if line.startswith(("@@ ", "--- ", "diff "))), None)
    wanted = [f"  {line[1:]}" for line in following[:end] if line[:1] in (" ", "-")]
    if not path.is_file():
        return "\n".join([*wanted, f"there is no file {path.name}"])
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    first = max(start - 1 - _AROUND, 0)
    shown = [f"  {number:>5}  {line}" for number, line in enumerate(lines, start=1)]
    has = shown[first : start - 1 + count + _AROUND] or [f"  it has {len(lines)} lines"]
    return "\n".join(["the patch looks for", *wanted, f"and {path.name} has", *has])
