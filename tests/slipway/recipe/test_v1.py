"""recipe.yaml: what rattler-build renders, as outputs of ours."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

import pytest

from slipway.base.errors import RecipeError
from slipway.base.platform import LINUX_64
from slipway.engines.conda_build_recipe import write_recipe
from slipway.engines.rattler_recipe import to_v1_recipe
from slipway.recipe import VariantConfigText, load_recipe, render_matrix

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from slipway.model import RenderedOutput

HEAD = "package: {name: demo, version: '1.2.3'}\n"
PYTHONS = "python:\n  - 3.11\n  - 3.12\n"


@pytest.fixture(autouse=True)
def _nothing_stays_in_the_temporary_folder(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert not list(folder.iterdir())


def rendered(
    folder: Path, text: str, config: str = "", environ: dict[str, str] | None = None, **files: str
) -> list[RenderedOutput]:
    (folder / "recipe.yaml").write_text(text, encoding="utf-8")
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content, encoding="utf-8")
    configs = [VariantConfigText("conda_build_config.yaml", config)] if config else []
    return list(render_matrix(load_recipe(folder), configs, platform=LINUX_64, environ=environ or {}).outputs)


def test_variants_and_their_names(tmp_path: Path) -> None:
    found = rendered(tmp_path, HEAD + "requirements: {host: [python], run: [python]}\n", PYTHONS)
    assert [output.requirements.host for output in found] == [("python 3.11",), ("python 3.12",)]
    assert [output.build_string[:5] for output in found] == ["py311", "py312"]
    assert {tuple(output.hash_input) for output in found} == {("python", "target_platform")}
    assert [output.subdir for output in found] == ["linux-64"] * 2


def test_skipped_variants_are_left_out(tmp_path: Path) -> None:
    text = HEAD + "build: {skip: [win, 'match(python, \"<3.12\")']}\nrequirements: {host: [python]}\n"
    assert [output.build_string[:5] for output in rendered(tmp_path, text, PYTHONS)] == ["py312"]
    outputs = (
        "context: {name: demo}\nrecipe: {version: '1'}\noutputs:\n  - package: {name: '${{ name }}-a'}\n"
        "    build: {skip: true}\n  - package: {name: '${{ name }}-b'}\n"
    )
    assert [output.name for output in rendered(tmp_path, outputs)] == ["demo-b"]


def test_what_decides_about_skipping_need_not_be_used(tmp_path: Path) -> None:
    text = HEAD + (
        "build:\n  noarch: python\n  skip: not (target_platform == 'linux-64' and match(python, '3.12.*'))\n"
        "requirements: {host: [python], run: [python]}\n"
    )
    assert [output.subdir for output in rendered(tmp_path, text, PYTHONS)] == ["noarch"]
    assert not rendered(tmp_path, text, "python:\n  - 3.11\n")


def test_skip_that_holds_a_template(tmp_path: Path) -> None:
    text = "context: {kind: \"'cpu'\"}\n" + HEAD + "build:\n  skip: linux and ${{ kind }} == 'CPU'\n"
    assert not rendered(tmp_path, text.replace("CPU", "cpu"))
    assert len(rendered(tmp_path, text)) == 1
    assert len(rendered(tmp_path, text.replace("== 'CPU'", "=="))) == 1  # what cannot be read skips nothing


def test_many_variants_take_time_in_proportion(tmp_path: Path) -> None:
    keys = "".join(f"{key}:\n" + "".join(f"  - {number}\n" for number in range(6)) for key in "abc")
    outputs = "".join(
        f"  - package: {{name: out-{number}}}\n    requirements: {{run: ['x ==${{{{ a }}}}', 'y ==${{{{ b }}}}']}}\n"
        for number in range(12)
    )
    found = rendered(tmp_path, "recipe: {version: '1'}\noutputs:\n" + outputs + "# c\n", keys)
    assert len(found) == 12 * 36


def test_variants_yaml_and_zipped_keys(tmp_path: Path) -> None:
    variants = "gpu: [true, false]\nlevel: [1, 1]\nzip_keys:\n  - [gpu, level]\n"
    text = HEAD + "requirements:\n  run:\n    - if: gpu\n      then: with-gpu\n    - level ==${{ level }}\n"
    found = rendered(tmp_path, text, variants_yaml=variants)
    assert {output.requirements.run for output in found} == {("with-gpu", "level ==1"), ("level ==1",)}


def test_pins_between_outputs(tmp_path: Path) -> None:
    text = """
recipe: {name: all, version: 1.2.3}
outputs:
  - package: {name: lib}
    requirements: {run_exports: ["${{ pin_subpackage('lib', upper_bound='x.x') }}"]}
  - package: {name: tool}
    requirements:
      host: ["${{ pin_subpackage('lib', exact=True) }}"]
      run: ["${{ pin_subpackage('lib', upper_bound='x') }}", "${{ pin_compatible('numpy', upper_bound='x') }}"]
"""
    library, tool = rendered(tmp_path, text)
    assert library.run_exports.weak == ("lib >=1.2.3,<1.3.0a0",)
    assert tool.requirements.host == (f"lib ==1.2.3 {library.build_string}",)
    assert tool.requirements.run == ("lib >=1.2.3,<2.0a0", "numpy")
    written = to_v1_recipe(tool, [], "0" * 64)["requirements"]
    assert written["run"][1] == "${{ pin_compatible('numpy', lower_bound='x.x.x.x.x.x', upper_bound='x') }}"


SCRIPTS: list[tuple[str, str | None, str]] = [
    ("make ${{ word }}", None, "make all"),
    ("[make, 'make install PREFIX=${{ PREFIX }}']", None, "make\nmake install PREFIX=${PREFIX}"),
    ("own.sh", "own.sh", ""),
    ("{file: own}", "own.sh", ""),
    ("{file: tool.py}", None, 'python "$RECIPE_DIR"/tool.py'),
    ("{content: make, cwd: sub dir}", None, "cd \"$SRC_DIR\"/'sub dir'\nmake"),
    ("{interpreter: perl, content: 'print 1'}", None, "cat <<'SLIPWAY_SCRIPT' | perl -\nprint 1\nSLIPWAY_SCRIPT"),
]


@pytest.mark.parametrize(("script", "file", "commands"), SCRIPTS)
def test_scripts(tmp_path: Path, script: str, file: str | None, commands: str) -> None:
    text = f"context: {{word: all}}\n{HEAD}build:\n  script: {script}\n"
    (output,) = rendered(tmp_path, text, own_sh="", tool_py="")
    assert (output.script, "\n".join(output.script_commands)) == (file, commands)


def test_build_sh_is_the_script_where_none_is_named(tmp_path: Path) -> None:
    (output,) = rendered(tmp_path, HEAD, build_sh="make")
    assert output.script == "build.sh"


def test_secrets_come_from_the_caller_and_are_none_of_the_recipe_s_business(tmp_path: Path) -> None:
    text = HEAD + "build:\n  script: {content: make, env: {A: b}, secrets: [SIGNING_TOKEN]}\nabout:\n  summary: "
    text += "${{ env.get('SIGNING_TOKEN', default='hidden') }}\n"
    (output,) = rendered(tmp_path, text, environ={"SIGNING_TOKEN": "1234567890"})
    assert output.script_env == {"A": "b", "SIGNING_TOKEN": "1234567890"}
    assert output.secret_env == ("SIGNING_TOKEN",)
    assert output.about["summary"] == "hidden"


def test_sources(tmp_path: Path) -> None:
    text = HEAD + (
        "source:\n  - url: [https://a/x.tar.gz, https://b/x.tar.gz]\n"
        "    target_directory: sub\n    patches: [a.patch]\n"
        "  - git: https://a/b.git\n    tag: v1\n    depth: 1\n  - path: src\n    filter: ['*.c']\n"
    )
    (output,) = rendered(tmp_path, text)
    archive, repository, folder = output.sources
    assert (archive.url, archive.mirrors) == ("https://a/x.tar.gz", ("https://b/x.tar.gz",))
    assert (archive.folder, archive.patches) == ("sub", ("a.patch",))
    assert (repository.git_url, repository.git_rev, repository.git_depth) == ("https://a/b.git", "v1", 1)
    assert folder.unsupported == "filter"


def test_staging_outputs_are_built_once(tmp_path: Path) -> None:
    text = """
recipe: {name: all, version: '1'}
outputs:
  - staging: {name: compiled}
    requirements: {build: [make]}
    build: {script: make install}
  - package: {name: lib}
    inherit: compiled
    build: {files: ['lib/*']}
"""
    (output,) = rendered(tmp_path, text)
    assert output.staging is not None
    assert output.takes_files
    assert output.build["files"] == ["lib/*"]
    assert (output.staging.name, output.staging.script_commands) == ("compiled", ("make install",))
    assert output.requirements.build == ("make",), "whose run_exports count"


BAD: dict[str, tuple[str, str]] = {
    "build: {skp: [win]}\n": ("unknown field 'skp'", "recipe.yaml:2"),
    "requirements:\n  build:\n    - ${{ kompiler('c') }}\n": ("kompiler is unknown", "recipe.yaml:4"),
    "about: [\n": ("parse error", "recipe.yaml:3"),
    "about:\n  license: No Such\n": ("SPDX", "recipe.yaml"),
    "source: {path: a, target_directory: ../b}\n": ("leads out of", "recipe.yaml"),
    "build: {script: {file: ../x.sh}}\n": ("leads out of", "recipe.yaml"),
    "build: {script: 'echo ${{ nope }}'}\n": ("undefined", "recipe.yaml"),
    "build: {string: ../b}\n": ("build string", "recipe.yaml"),
    "tests: [{script: {file: ../x.sh}}]\n": ("leads out of", "recipe.yaml"),
    "tests: [{script: [a], files: {recipe: [../../x]}}]\n": ("leads out of", "recipe.yaml"),
    "requirements: {run: [\"${{ pin_subpackage('nobody') }}\"]}\n": ("nobody", "recipe.yaml"),
}


@pytest.mark.parametrize("text", BAD)
def test_mistakes_name_their_line(tmp_path: Path, text: str) -> None:
    said, where = BAD[text]
    with pytest.raises(RecipeError) as caught:
        rendered(tmp_path, HEAD + text)
    assert said in str(caught.value)
    assert where in str(caught.value.where)


def test_real_conda_build_is_not_asked(tmp_path: Path) -> None:
    (output,) = rendered(tmp_path, HEAD)
    with pytest.raises(RecipeError, match=r"not asked to build a recipe\.yaml"):
        write_recipe(output, tmp_path / "one")


def test_meta_yaml_comes_first(tmp_path: Path) -> None:
    (tmp_path / "meta.yaml").write_text("package:\n  name: old\n  version: 1\n", encoding="utf-8")
    assert [output.name for output in rendered(tmp_path, HEAD)] == ["old"]
    (named,) = render_matrix(load_recipe(tmp_path / "recipe.yaml"), platform=LINUX_64, environ={}).outputs
    assert named.name == "demo"


def test_what_the_engine_gets_is_what_was_rendered(tmp_path: Path) -> None:
    text = HEAD + (
        "build: {number: 2, dynamic_linking: {rpaths: [lib/]}, always_include_files: [a]}\n"
        "tests:\n  - python: {imports: [demo], pip_check: false}\n  - package_contents: {files: [b]}\n"
        "extra: {team: [we]}\n"
    )
    (output,) = rendered(tmp_path, text)
    written: dict[str, Any] = to_v1_recipe(output, [{"path": "../source-0"}], "0" * 64)
    assert written["source"] == [{"path": "../source-0"}]
    assert written["build"]["dynamic_linking"] == {"rpaths": ["lib/"]}
    assert (written["build"]["number"], written["build"]["string"]) == (2, output.build_string)
    assert written["build"]["script"] == {"file": "slipway_build.sh"}
    assert [next(iter(test)) for test in written["tests"]] == ["python", "package_contents"]
    assert written["extra"]["team"] == ["we"]
    assert output.test.requires == ("python",)
