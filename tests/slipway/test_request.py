"""What is asked of a recipe: which variants, by which configuration files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.base.errors import RecipeError, UsageError, VariantError
from slipway.request import DEFAULT_RECIPE, Request

Parse = Callable[..., Request]


def test_own_recipe_has_defaults_others_have_none(tmp_path: Path, parse: Parse) -> None:
    (tmp_path / "meta.yaml").touch()
    assert parse().recipe == DEFAULT_RECIPE
    assert parse().asked == {}
    assert parse().preferred == {"python": "3.11", "blas_impl": "mkl"}
    assert parse("--blas", "openblas", "--cuda", "13.0").preferred == {
        "python": "3.11",
        "blas_impl": "openblas",
        "cuda_compiler_version": "13.0",
    }
    assert parse("--cuda", "13.0", "--cuda", "13.5").asked == {"cuda_compiler_version": "13.0,13.5"}
    assert parse(str(tmp_path)).preferred == {}
    assert parse(str(tmp_path), "--variant", "blas_impl=openblas").asked == {"blas_impl": "openblas"}


def test_another_recipes_short_names(tmp_path: Path, parse: Parse, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "meta.yaml").touch()
    (tmp_path / "slipway.yaml").write_text(
        "options:\n  mpi:\n    key: mpi\n  blas:\n    key: blas_impl\n", encoding="utf-8"
    )
    asked = parse("--mpi", "openmpi", str(tmp_path), "--blas", "mkl").asked
    assert asked == {"mpi": "openmpi", "blas_impl": "mkl"}
    with pytest.raises(SystemExit):
        parse("--cuda", "13.0", str(tmp_path))
    assert "unrecognized arguments: --cuda" in capsys.readouterr().err
    (tmp_path / "slipway.yaml").write_text("options:\n  offline:\n    key: offline\n", encoding="utf-8")
    with pytest.raises(RecipeError, match="--offline is slipway's own option"):
        parse(str(tmp_path))


@pytest.mark.parametrize(("option", "value"), [("--python", "three"), ("--python", "3.11.2"), ("--cuda", "13")])
def test_a_version_that_is_none(option: str, value: str, parse: Parse) -> None:
    with pytest.raises(UsageError, match=f"{option} takes a version X.Y, not `{value}`"):
        parse(option, value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--variant", "python"], "--variant takes KEY=VALUE, not `python`"),
        (["--variant", "python=3.12", "--python", "3.13"], "`python` is asked for twice: 3.12 and 3.13"),
    ],
)
def test_words_that_make_no_sense(words: list[str], message: str, parse: Parse) -> None:
    with pytest.raises(UsageError, match=message):
        parse(*words)


@pytest.mark.parametrize("place", [".", "recipe", "recipe/src"])
def test_output_among_sources(place: str, tmp_path: Path, parse: Parse) -> None:
    recipe = tmp_path / "recipe"
    (recipe / "src").mkdir(parents=True)
    text = "package:\n  name: a\n  version: 1\nsource:\n  path: src\n"
    (recipe / "meta.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"the output folder holds (the recipe|a source of the recipe): /"):
        parse(str(recipe), "--channel", "x", "--dist", str(tmp_path / place)).matching()
    assert parse(str(recipe), "--channel", "x", "--dist", str(recipe / "dist")).matching()


def test_missing_recipe_and_config(tmp_path: Path, parse: Parse) -> None:
    with pytest.raises(RecipeError, match="no recipe here"):
        parse(str(tmp_path))
    for option in ("-m", "-e"):
        with pytest.raises(RecipeError, match="no such variant config"):
            parse(option, str(tmp_path / "none.yaml")).outputs()


def test_own_recipe_renders_one_variant_of_each_output(parse: Parse) -> None:
    names = [output.name for output in parse().outputs()]
    assert names == ["libtorch", "libtorch-distributed", "pytorch"]
    assert [output.name for output in parse("--cuda", "13.0").outputs()] == [
        "libtorch",
        "libtorch-cuda",
        "libtorch-distributed",
        "libtorch-distributed-nccl",
        "pytorch",
        "pytorch-gpu",
    ]


def test_only_libtorch_depends_on_the_blas(parse: Parse) -> None:
    mkl = {output.name: output.key for output in parse("--blas", "mkl").outputs()}
    openblas = {output.name: output.key for output in parse("--blas", "openblas").outputs()}
    assert mkl["libtorch"] != openblas["libtorch"]
    assert mkl["pytorch"] == openblas["pytorch"]


@pytest.mark.parametrize("words", [("--cuda", "9.9"), ("--blas", "atlas"), ("--python", "3.9")])
def test_unknown_variant_names_the_known_ones(words: tuple[str, str], parse: Parse) -> None:
    for making in (Request.outputs, Request.matching):
        with pytest.raises(VariantError) as caught:
            making(parse(*words))
        assert words[1] in caught.value.message
        assert any(known in str(caught.value.hint) for known in ("mkl", "13.0", "3.12"))


def test_the_embedded_channel_is_made_for_the_python_that_is_asked_for(parse: Parse) -> None:
    pythons = {output.variant["python"] for output in parse("--python", "3.12").outputs()}
    assert pythons == {"3.12.* *_cpython"}
    newer = {output.variant["python"] for output in parse("--python", "3.13").outputs()}
    assert newer == {"3.13.* *_cp313"}
    elsewhere = {output.variant["python"] for output in parse("--python", "3.13", "--channel", "c").outputs()}
    assert "3.13.* *_cp313" in elsewhere


def test_defaults_give_way_to_configurations(tmp_path: Path, parse: Parse) -> None:
    """A file that is named says which Pythons there are; the recipe's default is not among them."""
    config = tmp_path / "python.yaml"
    config.write_text("python:\n  - 3.12.* *_cpython\n", encoding="utf-8")
    outputs = parse("-m", str(config)).outputs()
    assert "3.12.* *_cpython" in {output.variant["python"] for output in outputs}
    assert parse("-m", str(config)).channel_variant(outputs)["python"] == "3.12.* *_cpython"


def test_request_of_words_has_every_option(tmp_path: Path, parse: Parse) -> None:
    request = parse(
        "-m", "a", "-m", "b", "-e", "c", "-e", "d", "--variants", "{mpi: [x]}", "--channel", "u", "--offline"
    )
    assert request.variant_configs == (Path("a"), Path("b"))
    assert request.exclusive_configs == (Path("c"), Path("d"))
    assert request.variants == {"mpi": ["x"]}
    assert request.channels == ("u",)
    assert request.offline
    assert request.surroundings == (Path.home(), Path.cwd())


def test_recipe_with_only_cuda_variants_gets_no_variant_without(tmp_path: Path, parse: Parse) -> None:
    (tmp_path / "meta.yaml").write_text(
        "package:\n  name: kernels\n  version: '1'\nrequirements:\n  build:\n    - {{ compiler('cuda') }}\n"
        "test:\n  commands:\n    - 'true'\n",
        encoding="utf-8",
    )
    own = "cuda_compiler:\n  - cuda-nvcc\ncuda_compiler_version:\n"
    key = "cuda_compiler_version"
    for versions, met in ((["12.9", "13.0"], ["13.0"]), (["12.4", "13.0"], ["12.4", "13.0"]), (["11.8"], None)):
        listed = "".join(f"  - {version}\n" for version in versions)
        (tmp_path / "conda_build_config.yaml").write_text(own + listed, encoding="utf-8")
        found = [output.variant[key] for output in parse(str(tmp_path)).outputs()]
        assert found == (met or ["12.4", "13.0", "13.5"])
    (one,) = parse(str(tmp_path), "--variant", f"{key}=13.0").outputs()
    assert one.variant[key] == "13.0"
    with pytest.raises(VariantError, match=r"no variant for .*11\.8") as caught:
        parse(str(tmp_path), "--variant", f"{key}=11.8").outputs()
    assert "12.4, 13.0, 13.5" in str(caught.value.hint)
