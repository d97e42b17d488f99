"""torch.utils.collect_env: what a report of a mistake should say."""

from __future__ import annotations

import platform
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np

import torch
from torch.utils import collect_env

if TYPE_CHECKING:
    import pytest


def test_facts() -> None:
    facts = collect_env.get_env_info()
    assert facts.torch_version == str(torch.__version__)
    assert facts.numpy_version == np.__version__
    assert facts.python_version.startswith(platform.python_version())
    assert facts.is_cuda_available == str(torch.cuda.is_available())
    assert bool(facts.cuda_unavailable_reason) is not torch.cuda.is_available()
    assert facts.threads == torch.get_num_threads()
    text = collect_env.get_pretty_env_info()
    assert f"torch version: {torch.__version__}" in text
    assert torch.__config__.show().strip() in text


def test_numpy_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.metadata

    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert collect_env.get_env_info().numpy_version == "not installed"


def test_command() -> None:
    run = subprocess.run([sys.executable, "-m", "torch.utils.collect_env"], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("Collecting environment information...\n")
    assert "python version:" in run.stdout
