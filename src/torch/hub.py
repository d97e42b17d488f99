"""Models from local folders and files. Nothing is downloaded here."""

from __future__ import annotations

import os
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlparse as urlparse  # libraries import it from here

import torch

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

_directory: str | None = None
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # in a file's name, the beginning of its SHA-256
READ_DATA_CHUNK = 128 * 1024  # bytes


class tqdm:
    """What shows progress where the package tqdm is not installed: nothing."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        try:
            from tqdm import tqdm as shown
        except ImportError:
            return super().__new__(cls)
        return shown(*args, **kwargs)

    def __init__(self, total: Any = None, **options: Any) -> None:
        self.total = total

    def update(self, n: float = 1) -> None:
        """Nothing is shown."""

    def close(self) -> None:
        """Nothing was."""

    def __enter__(self) -> tqdm:
        return self

    def __exit__(self, *exception: object) -> None:
        """Nothing was shown."""


def _get_torch_home() -> str:
    """The folder of torch's own files: `$TORCH_HOME`, or `torch` in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", str(Path("~/.cache").expanduser()))
    return str(Path(os.environ.get("TORCH_HOME", f"{cache}/torch")).expanduser())


def get_dir() -> str:
    """The folder of files that were downloaded: `$TORCH_HOME/hub`, or `hub` in the user's cache."""
    return _directory if _directory is not None else str(Path(_get_torch_home()) / "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Sets that folder."""
    global _directory
    _directory = str(Path(d).expanduser())


def _entries(folder: str, source: str) -> Any:
    if source != "local":
        raise NotImplementedError(
            f"torch.hub downloads nothing here: clone {folder} and pass its folder with source='local'"
        )
    path = Path(folder) / "hubconf.py"
    spec = spec_from_file_location("hubconf", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"torch.hub: {path} is not there")
    module = module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


def _entry(module: Any, name: str) -> Any:
    function = getattr(module, name, None)
    if not callable(function):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return function


def load(repo_or_dir: str, model: str, *args: Any, source: str = "github", **kwargs: Any) -> Any:
    """What `hubconf.py` in a folder (`source="local"`) makes for the name `model`."""
    for option in ("trust_repo", "force_reload", "verbose", "skip_validation"):
        kwargs.pop(option, None)
    return _entry(_entries(repo_or_dir, source), model)(*args, **kwargs)


def list(github: str, *options: Any, source: str = "github", **others: Any) -> Any:
    """The names that a folder's `hubconf.py` offers."""
    module = _entries(github, source)
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]


def help(github: str, model: str, *options: Any, source: str = "github", **others: Any) -> Any:
    """The docstring of one of them."""
    return _entry(_entries(github, source), model).__doc__


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> NoReturn:
    """Raises NotImplementedError: download the file by other means."""
    raise NotImplementedError(f"torch.hub downloads nothing here: download {url} to {dst} by other means")


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Any:
    """What the file of this address in `model_dir` (default: `get_dir()/checkpoints`) holds, if it is there already.

    Addresses that begin with `file:` are read where they are.
    """
    from urllib.parse import unquote, urlparse

    parts = urlparse(url)
    folder = Path(model_dir) if model_dir is not None else Path(get_dir()) / "checkpoints"
    path = folder / (file_name or Path(parts.path).name)
    if parts.scheme == "file":
        path = Path(unquote(parts.path))
    if not path.is_file():
        raise NotImplementedError(f"torch.hub downloads nothing here: download {url} to {path} by other means")
    return torch.load(path, map_location=map_location, weights_only=weights_only)
