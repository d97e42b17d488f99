"""Files that a recipe names outside of its own folder and its sources are this machine's, and refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from slipway.base.errors import RecipeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from slipway.model import RenderedOutput

    Rendering = Callable[..., dict[str, RenderedOutput]]

HEAD = 'package:\n  name: demo\n  version: "1"\n'
OUTSIDE = ["../key", "/etc/hostname", "sub/../../key", "../*", "./../key"]
KEYS = {
    "about/license_file": "about:\n  license_file: {}\n",
    "about/license_file of many": "about:\n  license_file:\n    - LICENSE\n    - {}\n",
    "test/files": "test:\n  commands:\n    - a\n  files:\n    - {}\n",
    "test/source_files": "test:\n  commands:\n    - a\n  source_files:\n    - {}\n",
    "test/script": "outputs:\n  - name: one\n    test:\n      script: {}\n",
    "script": "outputs:\n  - name: one\n    script: {}\n",
    "build/post-link": "build:\n  post-link: {}\n",
}


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("key", KEYS)
def test_names_that_lead_out(rendered: Rendering, key: str, name: str) -> None:
    if key == "script" and name.endswith("*"):
        pytest.skip("no name of a script")
    with pytest.raises(RecipeError, match="leads out of the recipe's folder") as caught:
        rendered(HEAD + KEYS[key].format(f'"{name}"' if key != "script" else f"{name}.sh"))
    assert key.split(" ")[0] in caught.value.message
    assert name in caught.value.message


@pytest.mark.parametrize("name", ["LICENSE", "docs/LICENSE", "./LICENSE", "licenses/..name/*"])
def test_names_inside(rendered: Rendering, name: str) -> None:
    found: dict[str, Any] = rendered(HEAD + KEYS["about/license_file"].format(f'"{name}"'))
    assert [output.about["license_file"] for output in found.values()] == [name]
