"""The description of a wheel is what its metadata says."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import ChannelError
from slipway.bootstrap.adding import _read_metadata, describe_wheel

if TYPE_CHECKING:
    import email.message
    from pathlib import Path

METADATA = """\
Metadata-Version: 2.4
Name: Small.Thing
Version: 1.2
Summary: A small thing
Project-URL: Homepage, https://example.org/thing
License-Expression: mit
Requires-Python: >=3.10
Requires-Dist: other_thing<3,>=2
Requires-Dist: typing-extensions
Requires-Dist: pywin32; sys_platform == "win32"
Requires-Dist: tomli; python_version < "3.11"
Requires-Dist: pytest; extra == "test"
"""


def wheel(folder: Path, metadata: str, *, licence: bool = True) -> email.message.Message[str, str]:
    """The metadata as it is read from a wheel."""
    path = folder / "Small.Thing-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Small_Thing-1.2.dist-info/METADATA", metadata)
        if licence:
            archive.writestr("Small_Thing-1.2.dist-info/licenses/LICENSE", "Do as you like.")
    said, has_text = _read_metadata(path)
    assert has_text == licence
    return said


def test_what_a_wheel_says(tmp_path: Path) -> None:
    described, requires = describe_wheel(
        "Small.Thing", "small_thing-1.2-py3-none-any.whl", wheel(tmp_path, METADATA), {"typing_extensions"}
    )
    assert described == {
        "name": "small-thing",
        "version": "1.2",
        "noarch_python": True,
        "summary": "A small thing",
        "home": "https://example.org/thing",
        "license": "MIT",
        "depends": ["python >=3.10", "other-thing >=2,<3", "typing_extensions"],
        "sources": [{"wheel": "Small.Thing", "install": True}],
    }
    assert requires == ["other_thing", "typing-extensions"]


@pytest.mark.parametrize(("given", "expected"), [
    ("Classifier: License :: OSI Approved :: BSD License", "BSD-3-Clause"),
    ("License: as you like", None),
])  # fmt: skip
def test_licence(given: str, expected: str | None, tmp_path: Path) -> None:
    metadata = wheel(tmp_path, METADATA.replace("License-Expression: mit", given))
    if expected is None:
        with pytest.raises(ChannelError, match="does not say its licence"):
            describe_wheel("thing", "a-none-any.whl", metadata, set())
    else:
        assert describe_wheel("thing", "a-none-any.whl", metadata, set())[0]["license"] == expected


def test_compiled_code_is_taken_per_python(tmp_path: Path) -> None:
    file = "thing-1-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    linked = frozenset({"libstdc++.so.6", "libc.so.6"})
    described, _ = describe_wheel("thing", file, wheel(tmp_path, METADATA), set(), linked, ("thing",))
    assert described["per"] == "python"
    assert described["depends"][:4] == [
        "python ${python}.*", "python_abi ${python}.* *_cp${py}", "__glibc >=2.17,<3.0.a0", "libstdcxx >=12",
    ]  # fmt: skip
    assert described["run_paths"] == [{"files": ["bin/thing"], "value": "$ORIGIN/../lib"}]


def test_what_has_to_be_described_by_hand(tmp_path: Path) -> None:
    file = "thing-1-cp311-cp311-linux_x86_64.whl"
    with pytest.raises(ChannelError, match=r"links `libodd\.so\.3`"):
        describe_wheel("thing", file, wheel(tmp_path, METADATA), set(), frozenset({"libodd.so.3"}))
    metadata = wheel(tmp_path, METADATA, licence=False)
    with pytest.raises(ChannelError, match="no licence text"):
        describe_wheel("thing", "a-none-any.whl", metadata, set(), has_text=False)
    described, _ = describe_wheel("thing", "a-none-any.whl", metadata, set(), licence="Apache-2.0", has_text=False)
    assert described["sources"][1]["licenses"] == ["usr/share/common-licenses/Apache-2.0"]
