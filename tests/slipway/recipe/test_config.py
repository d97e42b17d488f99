from __future__ import annotations

from textwrap import dedent

import pytest

from slipway.base.errors import RecipeError, RecipeWarning
from slipway.base.platform import LINUX_64, Platform
from slipway.recipe import config


def space(*texts: str, platform: Platform = LINUX_64, **environ: str) -> config.VariantSpace:
    parsed = [
        config.parse(config.VariantConfigText(f"{index}.yaml", dedent(text)), platform=platform, environ=environ)
        for index, text in enumerate(texts)
    ]
    return config.combine(parsed, platform=platform)


def column(found: config.VariantSpace, *keys: str) -> list[tuple[str, ...]]:
    return [tuple(variant[key] for key in keys) for variant in found.variants]


def test_defaults_alone_make_one_variant() -> None:
    (variant,) = space().variants
    assert variant["target_platform"] == "linux-64"
    assert {"python", "numpy", "perl", "lua", "r_base", "cpu_optimization_target"} <= set(variant)
    assert space().shared["pin_run_as_build"]["python"] == {"min_pin": "x.x", "max_pin": "x.x"}


def test_values_are_text() -> None:
    found = space("a:\n  - 12.40\n  - None\n  - true\nb: 007\n")
    assert column(found, "a", "b") == [("12.40", "007"), ("None", "007"), ("true", "007")]


def test_product_and_selectors() -> None:
    found = space("a:\n  - 1\n  - 2  # [linux]\n  - 3  # [win]\nb:   # [not osx]\n  - x\n  - y\nc:\n  - z  # [osx]\n")
    assert sorted(column(found, "a", "b")) == [("1", "x"), ("1", "y"), ("2", "x"), ("2", "y")]
    assert "c" not in found.variants[0]


def test_lists_on_a_line_are_said() -> None:
    with pytest.warns(RecipeWarning, match=r"`\[a, b\]` is taken for a selector"):
        found = space("a:\n  - 1\nb:\n  - x\nzip_keys:\n  - [a, b]\n")
    assert column(found, "a", "b") == [("1", "x")]
    with pytest.warns(RecipeWarning, match=r"`\[3\.11\]` is taken for a selector"):
        assert "mpi" not in space("mpi: [3.11]\n").variants[0]


def test_later_files_replace() -> None:
    found = space("python:\n  - 3.10\n  - 3.11\nmpi:\n  - mpich\n", "python:\n  - 3.11\n  - 3.12\n")
    assert column(found, "python", "mpi") == [("3.11", "mpich"), ("3.12", "mpich")]


def test_one_zip_group() -> None:
    found = space("python:\n  - 2.7\n  - 3.5\nvc:\n  - 9\n  - 14\nzip_keys:\n  - python\n  - vc\n")
    assert column(found, "python", "vc") == [("2.7", "9"), ("3.5", "14")]


def test_zip_groups_multiply() -> None:
    text = """
        a:
          - 1
          - 2
        b:
          - x
          - y
        c:
          - 3
          - 4
        d:
          - v
          - w
        zip_keys:
          -
            - a
            - b
          -
            - c
            - d
        """
    assert sorted(column(space(text), "a", "b", "c", "d")) == [
        ("1", "x", "3", "v"), ("1", "x", "4", "w"), ("2", "y", "3", "v"), ("2", "y", "4", "w"),
    ]  # fmt: skip


ZIPPED = "a:\n  - tea\n  - coffee\n  - coffee\nb:\n  - x\n  - 123\n  - abc\nzip_keys:\n  -\n    - a\n    - b\n"


def test_part_of_a_zip_group_selects_rows() -> None:
    assert column(space(ZIPPED, "a:\n  - coffee\n"), "a", "b") == [("coffee", "123"), ("coffee", "abc")]
    assert column(space(ZIPPED, "a:\n  - coffee\nb:\n  - 123\n"), "a", "b") == [("coffee", "123")]


def test_all_of_a_zip_group_replaces_it() -> None:
    assert column(space(ZIPPED, "a:\n  - milk\nb:\n  - 7\n"), "a", "b") == [("milk", "7")]


def test_part_of_a_zip_group_without_a_row() -> None:
    with pytest.raises(RecipeError, match="no row has the value 'milk'") as caught:
        space(ZIPPED, "# only a\na:\n  - milk\n")
    assert caught.value.where == "1.yaml:2"


def test_extended_keys_add_up() -> None:
    found = space(
        "some_trait:\n  - dog\nextend_keys:\n  - some_trait\nignore_version:\n  - numpy\n"
        "pin_run_as_build:\n  boost: x.x\n",
        "some_trait:\n  - pony\nextend_keys:\n  - some_trait\nignore_version:\n  - zlib\n"
        "pin_run_as_build:\n  python:\n    max_pin: x\n",
    )
    assert found.shared["some_trait"] == ["dog", "pony"]
    assert found.shared["ignore_version"] == ["numpy", "zlib"]
    assert found.shared["pin_run_as_build"]["boost"] == "x.x"
    assert found.shared["pin_run_as_build"]["python"] == {"max_pin": "x"}
    assert "some_trait" not in found.variants[0]


def test_selectors_see_the_environment() -> None:
    text = "a:\n  - 1\n  - 2  # [environ.get('MORE') == 'yes']\n"
    assert column(space(text), "a") == [("1",)]
    assert column(space(text, MORE="yes"), "a") == [("1",), ("2",)]


def test_given_values_win() -> None:
    parsed = config.parse(config.VariantConfigText("a.yaml", "python:\n  - 3.10\n"), platform=LINUX_64, environ={})
    found = config.combine([parsed, config.given({"python": ["3.12", 3.13], "mpi": "mpich"})], platform=LINUX_64)
    assert column(found, "python", "mpi") == [("3.12", "mpich"), ("3.13", "mpich")]


def test_reduce_keeps_zip_partners_apart() -> None:
    found = space(ZIPPED + "c:\n  - 1\n  - 2\n")
    reduced = found.reduce(found.variants, frozenset({"a"}))
    assert [(variant["a"], variant["b"], variant["c"]) for variant in reduced] == [
        ("tea", "x", "1"), ("coffee", "123", "1"), ("coffee", "abc", "1"),
    ]  # fmt: skip
    assert len(found.reduce(found.variants, frozenset())) == 1


def test_keys_that_the_recipe_cannot_use_do_not_multiply() -> None:
    text = "used:\n  - 1\n  - 2\nother:\n  - 1\n  - 2\n"
    parsed = config.parse(config.VariantConfigText("a.yaml", text), platform=LINUX_64, environ={})
    found = config.combine([parsed], platform=LINUX_64, may_use=lambda key: key == "used")
    assert column(found, "used", "other") == [("1", "1"), ("2", "1")]


def test_a_matrix_without_end_is_refused() -> None:
    text = "".join(f"key{number}:\n  - 1\n  - 2\n" for number in range(60))
    with pytest.raises(RecipeError, match="makes 1152921504606846976 variants"):
        space(text)


@pytest.mark.parametrize(
    ("own", "met"),
    [
        (["None", "12.9"], ["None", "12.4", "13.0"]),
        (["13.0", "12.9"], ["13.0"]),
        (["12.9"], ["12.4", "13.0"]),
        ([], ["None", "12.4", "13.0"]),
    ],
    ids=["does without", "lists one of them", "lists others", "says nothing"],
)
def test_offered_values_meet_the_recipes_own(own: list[str], met: list[str]) -> None:
    texts = [
        config.VariantConfigText("own", "cuda:\n" + "".join(f"  - {value}\n" for value in own) if own else ""),
        config.VariantConfigText(
            "channel", "cuda:\n  - None\n  - 12.4\n  - 13.0\nmkl:\n  - 2025\n", offered=frozenset({"cuda", "other"})
        ),
    ]
    parsed = [config.parse(text, platform=LINUX_64, environ={}) for text in texts]
    found = config.meet_offers(parsed, [text.offered for text in texts])
    assert found[1].values == {"cuda": met, "mkl": ["2025"]}
    assert found[0] == parsed[0]
