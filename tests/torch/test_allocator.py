"""Where the memory of large tensors lies, as the system tells."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

LARGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
PROGRAM = """
import torch
{lines}
for address in addresses:
    print(hex(address))
print(open("/proc/self/smaps").read())
"""


def run(lines: str, **variables: str) -> tuple[list[int], str]:
    """The `addresses` that a program sets, and the system's description of its memory."""
    environment = {name: value for name, value in os.environ.items() if name != "THP_MEM_ALLOC_ENABLE"} | variables
    command = [sys.executable, "-c", PROGRAM.format(lines=lines)]
    said = subprocess.run(command, check=True, timeout=60, env=environment, capture_output=True, text=True).stdout
    addresses = re.findall(r"^0x\w+$", said, flags=re.MULTILINE)
    return [int(address, 16) for address in addresses], said


def find_flags(maps: str, address: int) -> list[str]:
    """Those of the mapping around `address`."""
    for mapping in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", maps, flags=re.MULTILINE)[1:]:
        first, last = (int(number, 16) for number in mapping.split(maxsplit=1)[0].split("-"))
        if first <= address < last:
            return re.findall(r"^VmFlags: (.*)$", mapping, flags=re.MULTILINE)[0].split()
    raise LookupError(hex(address))


@pytest.mark.skipif(not LARGE_PAGES.exists(), reason="the system has no transparent large pages")
@pytest.mark.parametrize("asks", [True, False])
def test_large_tensors_ask_for_large_pages(asks: bool) -> None:
    variables = {} if asks else {"THP_MEM_ALLOC_ENABLE": "0"}
    # The middle of one from malloc's heap, again after the heap has grown, and of one with a mapping of its own.
    lines = """
sizes = 4 << 20, 30 << 20, 30 << 20, 64 << 20
tensors = [torch.empty(size, dtype=torch.uint8) for size in sizes]
addresses = [x.data_ptr() + len(x) // 2 for x in tensors]
"""
    addresses, maps = run(lines, **variables)
    assert len(addresses) == 4
    assert [("hg" in find_flags(maps, address)) for address in addresses] == [asks] * 4


def test_neighbours_do_not_begin_just_behind_a_multiple_of_64_kb() -> None:
    lines = """
tensors = [torch.empty(size) for size in (1 << 14, 1 << 16, 1 << 18, 1 << 20) for _ in range(4)]
addresses = [x.data_ptr() for x in tensors]
"""
    addresses, _ = run(lines)
    assert len(addresses) == 16
    for start in range(0, 16, 4):
        for one in addresses[start : start + 4]:
            for other in addresses[start : start + 4]:
                assert one == other or (one - other) % 65536 >= 1024
