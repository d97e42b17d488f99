"""The only part of the renderer that reads files: a recipe's folder and variant configurations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slipway.base.errors import RecipeError
from slipway.base.schema import read_yaml
from slipway.model import META_NAME, RECIPE_SETTINGS, V1_NAME, RecipeSettings
from slipway.recipe.config import VariantConfigText
from slipway.recipe.stages import Recipe

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CONFIG_NAME = "conda_build_config.yaml"
_LARGEST_FILE = 1_000_000


def find_recipe(place: Path) -> Path:
    """The recipe of a folder, or the one that is named itself: meta.yaml, or else recipe.yaml.

    Raises:
        RecipeError: there is none.
    """
    paths = [place / META_NAME, place / V1_NAME] if place.is_dir() else [place]
    found = next((path for path in paths if path.is_file()), None)
    if found is None:
        hint = f"name a folder that holds a {META_NAME} or a {V1_NAME}"
        raise RecipeError("there is no recipe here", where=str(paths[0]), hint=hint)
    return found


def load_recipe(directory: Path) -> Recipe:
    """Read a recipe's meta.yaml or recipe.yaml, and the conda_build_config.yaml beside it.

    Raises:
        RecipeError: there is neither, or it is not text.
    """
    path = find_recipe(directory)
    config = path.parent / CONFIG_NAME
    return Recipe(
        directory=path.parent,
        path=str(path),
        text=_read(path),
        config=load_config(config) if config.is_file() else None,
        read_file=_FolderReader(path.parent.resolve()),
    )


def load_config(path: Path) -> VariantConfigText:
    """Read one variant configuration.

    Raises:
        RecipeError: there is no such file, or it is not text.
    """
    if not path.is_file():
        raise RecipeError("there is no such variant configuration", where=str(path), hint="check the path")
    return VariantConfigText(str(path), _read(path))


def surrounding_configs(folders: Iterable[Path]) -> tuple[VariantConfigText, ...]:
    """The configurations that conda-build picks up by itself: the user's, then the working directory's."""
    found = dict.fromkeys(folder.resolve() / CONFIG_NAME for folder in folders)
    return tuple(load_config(path) for path in found if path.is_file())


def load_recipe_settings(directory: Path) -> RecipeSettings:
    """What a recipe says to slipway alone; nothing where it has no ``slipway.yaml``.

    Raises:
        RecipeError: the file is not as it should be.
    """
    path = directory / RECIPE_SETTINGS
    return read_yaml(path, RecipeSettings, error=RecipeError) if path.is_file() else RecipeSettings()


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise RecipeError(f"the file is larger than {_LARGEST_FILE} bytes", where=str(path))
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RecipeError("the file is not UTF-8 text", where=str(path), hint=f"byte {error.start} is wrong") from None
    except OSError as error:
        if error.filename is not None:
            raise
        raise RecipeError(f"the file cannot be read: {error.strerror}", where=str(path)) from error


@dataclass(frozen=True)
class _FolderReader:
    """Reads the files of one folder, each once; what is not there, or leads out of it, is None."""

    root: Path
    known: dict[str, str | None] = field(default_factory=dict)

    def __call__(self, name: str) -> str | None:
        if name not in self.known:
            path = (self.root / name).resolve()
            inside = path.is_relative_to(self.root) and path.is_file()
            self.known[name] = _read(path) if inside else None
        return self.known[name]
