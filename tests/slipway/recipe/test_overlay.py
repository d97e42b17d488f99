"""recipe_append.yaml adds to a recipe, recipe_clobber.yaml replaces what it says, and neither is a template."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import RecipeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from slipway.model import RenderedOutput

    Rendering = Callable[..., dict[str, RenderedOutput]]

META = """\
package:
  name: demo
  version: "1.2.3"
source:
  url: https://example.org/a.tar.gz
  sha256: aaaa
build:
  number: 3
  script: make
requirements:
  host:
    - a
    - python
test:
  commands:
    - demo
about:
  summary: A demo
"""


def only(found: dict[str, RenderedOutput]) -> RenderedOutput:
    (output,) = found.values()
    return output


def test_append(rendered: Rendering) -> None:
    append = (
        "build:\n  number: 4\n  script:\n    - make check\nrequirements:\n  host:\n    - b >=2\n  run:\n    - c\n"
        "test:\n  requires:\n    - t\nabout:\n  summary: Ours\n  license: MIT\n"
    )
    output = only(rendered(META, files={"recipe_append.yaml": append}))
    assert output.build_number == 4
    assert output.script_commands == ("make", "make check")
    assert [spec.split()[0] for spec in output.requirements.host] == ["a", "python", "b"]
    assert output.requirements.run == ("c",)
    assert output.test.requires == ("t",)
    assert output.test.commands == ("demo",)
    assert output.about == {"summary": "Ours", "license": "MIT"}
    assert output.sources[0].sha256 == "aaaa"


def test_clobber(rendered: Rendering) -> None:
    clobber = "source:\n  url: https://example.org/b.tar.gz\nrequirements:\n  host:\n    - b\n"
    output = only(rendered(META, files={"recipe_clobber.yaml": clobber}))
    assert output.requirements.host == ("b",)
    assert output.sources[0].url == "https://example.org/b.tar.gz"
    assert output.sources[0].sha256 == "aaaa", "what it does not name stays"


def test_clobber_has_the_last_word(rendered: Rendering) -> None:
    files = {"recipe_append.yaml": "build:\n  number: 4\n", "recipe_clobber.yaml": "build:\n  number: 5\n"}
    assert only(rendered(META, files=files)).build_number == 5


def test_an_output_is_added(rendered: Rendering) -> None:
    found = rendered(META, files={"recipe_append.yaml": "outputs:\n  - name: demo\n  - name: more\n    script: m.sh\n"})
    assert {output.name for output in found.values()} == {"demo", "more"}


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ("build:\n  number: {{ n }}\n", "templates are not rendered", "recipe_append.yaml:2"),
        ("build:\n  nummer: 1\n", "`nummer` is no key of `build`", "recipe_append.yaml:2"),
        ("- a\n", "a recipe maps section names to sections", "recipe_append.yaml"),
        ("build: [\n", "not valid YAML", "recipe_append.yaml"),
    ],
)
def test_mistakes_name_the_file(rendered: Rendering, text: str, message: str, where: str) -> None:
    with pytest.raises(RecipeError, match=message) as caught:
        rendered(META, files={"recipe_append.yaml": text})
    assert str(caught.value.where).startswith(where)
