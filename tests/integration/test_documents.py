"""The README's examples work in the environments that the README makes."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from .conftest import CHECKOUT, ShipTorch

if TYPE_CHECKING:
    from pathlib import Path

MARK = "<!-- run by tests/integration/test_documents.py -->"


def read_blocks() -> list[list[str]]:
    """The commands of each marked block, without their comments; those of another tool are left out."""
    blocks = []
    for part in (CHECKOUT / "README.md").read_text(encoding="utf-8").split(MARK)[1:]:
        match = re.match(r"\n\n((?:    .*\n|\n)+)", part)
        assert match, f"{MARK} stands before no block"
        lines = [re.sub(r"\s+#.*", "", line).strip() for line in match[1].splitlines()]
        blocks.append([line for line in lines if line and not line.startswith("conda ")])
    return blocks


def test_blocks_are_found() -> None:
    assert [block[-1].split()[-1] for block in read_blocks()] == ["/srv/channel", "examples/extension.py"]


@pytest.mark.parametrize("block", read_blocks(), ids=lambda block: block[-1].rpartition("/")[2])
def test_block_runs(block: list[str], ship_torch: ShipTorch, tmp_path: Path) -> None:
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": os.environ["HOME"],
        "TORCH_EXTENSIONS_DIR": str(tmp_path / "built"),
    }
    with ship_torch() as dist:
        places = {"dist/env": f"{dist}/env", "/tmp/": f"{tmp_path}/", "/srv/": f"{tmp_path}/srv/"}
        # In one pass: these places may themselves lie below one of the written ones.
        written = "|".join(map(re.escape, places))
        for command in block:
            typed = re.sub(rf"(?<![\w/])({written})", lambda match: places[match[1]], command)
            if command.startswith("./slipway"):
                typed += f" --dist {dist}"
            answer = subprocess.run(
                typed, shell=True, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False
            )
            assert answer.returncode == 0, f"{command}\n{answer.stdout}{answer.stderr}"
