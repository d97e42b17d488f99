"""What conda-build does with a recipe, one rule at a time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slipway.base.errors import RecipeError, RecipeWarning
from slipway.base.platform import PLATFORMS
from slipway.base.secrets import redact
from slipway.pipeline.manifest import make_manifest
from slipway.recipe import Solved, VariantConfigText

if TYPE_CHECKING:
    from collections.abc import Callable

    from slipway.model import RenderedOutput

    Rendering = Callable[..., dict[str, RenderedOutput]]

HEAD = 'package:\n  name: demo\n  version: "1.2.3"\n'
PYTHONS = "python:\n  - 3.11.*\n  - 3.12.*\n"


def only(found: dict[str, RenderedOutput]) -> RenderedOutput:
    (output,) = found.values()
    return output


def test_nothing_used_makes_one_package_without_a_hash(rendered: Rendering) -> None:
    output = only(rendered(HEAD + "build:\n  number: 5\n", PYTHONS))
    assert output.key == "demo-1.2.3-5"
    assert output.hash_input == {}


def test_python_in_host_and_run_spans_the_matrix(rendered: Rendering) -> None:
    recipe = HEAD + "requirements:\n  host:\n    - python\n    - pip\n  run:\n    - python\n"
    found = rendered(recipe, PYTHONS)
    assert list(found) == ["demo-1.2.3-py311_0", "demo-1.2.3-py312_0"]
    first = found["demo-1.2.3-py311_0"]
    assert first.listing["requirements"] == {
        "build": [], "host": ["python 3.11.*", "pip"], "run": ["python"], "run_constrained": [],
    }  # fmt: skip
    assert first.requirements.run == ("python >=3.11,<3.12.0a0",)


def test_variants_of_one_name_are_said(rendered: Rendering) -> None:
    recipe = HEAD + "requirements:\n  host:\n    - python\n"
    with pytest.warns(RecipeWarning, match=r"2 variants make `demo-1.2.3-0` \(`python`: 3.11.\*, 3.12.\*\)"):
        assert list(rendered(recipe, PYTHONS)) == ["demo-1.2.3-0"]


def test_what_stands_for_python_on_windows_begins_with_a_percent(rendered: Rendering) -> None:
    recipe = HEAD + (
        "build:\n  script: {{ PYTHON }} -m pip install .\n  rpaths:\n    - {{ SP_DIR }}/demo\n"
        "requirements:\n  host:\n    - python\n  run:\n    - python\n"
    )
    output = only(rendered(recipe, platform=PLATFORMS["win-64"]))
    assert output.script_commands == ("%PYTHON% -m pip install .",)
    assert output.build["rpaths"] == ["%SP_DIR%/demo"]


def test_python_as_a_build_tool_does_not(rendered: Rendering) -> None:
    output = only(rendered(HEAD + "requirements:\n  build:\n    - python\n", PYTHONS))
    assert output.key == "demo-1.2.3-0"
    assert output.requirements.build[0].startswith("python 3.1")


def test_noarch_python_is_built_once_with_the_newest(rendered: Rendering) -> None:
    recipe = HEAD + (
        "build:\n  noarch: python\nrequirements:\n  host:\n    - python\n  run:\n    - python\n    - a  # [py == 312]\n"
    )
    output = only(rendered(recipe, PYTHONS))
    assert (output.key, output.subdir, output.noarch) == ("demo-1.2.3-py_0", "noarch", "python")
    assert output.requirements.host == ("python 3.12.*",)
    assert output.requirements.run == ("python", "a")


def test_noarch_generic(rendered: Rendering) -> None:
    output = only(rendered(HEAD + "build:\n  noarch: generic\n  number: 2\n"))
    assert (output.key, output.subdir, output.noarch) == ("demo-1.2.3-2", "noarch", "generic")


def test_virtual_packages_tell_noarch_packages_apart(rendered: Rendering) -> None:
    recipe = HEAD + "build:\n  noarch: generic\nrequirements:\n  run:\n    - __unix  # [unix]\n    - __win  # [win]\n"
    config = "channel_targets:\n  - conda-forge main\n"
    assert only(rendered(recipe, config)).build_string == "h707e725_0"
    assert only(rendered(recipe, config, platform=PLATFORMS["win-64"])).build_string == "h7428d3b_0"


def test_known_hashes_of_conda_forge(rendered: Rendering) -> None:
    config = (
        "channel_targets:\n  - conda-forge main\nc_compiler:\n  - gcc\nc_compiler_version:\n  - 12\n"
        "cxx_compiler:\n  - gxx\ncxx_compiler_version:\n  - 12\npython:\n  - 3.11.* *_cpython\n"
    )
    build = "requirements:\n  build:\n    - {{ compiler('c') }}\n"
    assert only(rendered(HEAD, config)).build_string == "ha770c72_0"
    assert only(rendered(HEAD + build, config)).build_string == "hd590300_0"
    assert only(rendered(HEAD + build + "    - {{ compiler('cxx') }}\n", config)).build_string == "h59595ed_0"
    python = "requirements:\n  host:\n    - python\n  run:\n    - python\n"
    assert only(rendered(HEAD + python, config)).build_string == "py311h38be061_0"
    assert only(rendered(HEAD + "build:\n  noarch: generic\n", config)).build_string == "hd8ed1ab_0"


def test_compilers_without_a_configuration(rendered: Rendering) -> None:
    recipe = HEAD + (
        "requirements:\n  build:\n    - {{ compiler('c') }}\n    - {{ compiler('cxx') }}\n"
        "    - {{ compiler('fortran') }}\n    - {{ compiler('rust') }}\n"
    )
    output = only(rendered(recipe))
    assert output.requirements.build == ("gcc_linux-64", "gxx_linux-64", "gfortran_linux-64", "rust_linux-64")
    assert set(output.hash_input) == {"c_compiler", "cxx_compiler", "fortran_compiler", "target_platform"}


def test_cross_compiler_and_cdt(rendered: Rendering) -> None:
    recipe = HEAD + "requirements:\n  build:\n    - {{ compiler('c') }}\n    - {{ cdt('libx11 1.6') }}\n"
    config = "target_platform:\n  - linux-aarch64\ncdt_name:\n  - conda\nc_compiler_version:\n  - 14\n"
    output = only(rendered(recipe, config))
    assert output.requirements.build == ("gcc_linux-aarch64 14.*", "libx11-conda-aarch64 1.6")
    assert output.subdir == "linux-aarch64"


def test_numpy_pinned_by_minor_version_is_in_the_build_string(rendered: Rendering) -> None:
    recipe = HEAD + (
        "requirements:\n  host:\n    - python\n    - numpy\n  run:\n    - python\n"
        "    - {{ pin_compatible('numpy', max_pin='x.x') }}\n"
    )
    config = "python:\n  - 3.11.*\nnumpy:\n  - 1.26\n  - 2.0\n"
    solved = {"demo-1.2.3-np126py311_0": Solved({"numpy": "1.26.4"})}
    found = rendered(recipe, config, solved=solved)
    assert list(found) == ["demo-1.2.3-np126py311_0", "demo-1.2.3-np20py311_0"]
    assert found["demo-1.2.3-np126py311_0"].requirements.run[1] == "numpy >=1.26.4,<1.27.0a0"
    assert found["demo-1.2.3-np126py311_0"].hash_input == {}


def test_pin_compatible_without_a_version_is_the_name(rendered: Rendering) -> None:
    recipe = HEAD + "requirements:\n  host:\n    - zlib\n  run:\n    - {{ pin_compatible('zlib', max_pin='x') }}\n"
    assert only(rendered(recipe)).requirements.run == ("zlib",)
    assert only(rendered(recipe, solved={"demo-1.2.3-0": Solved({"zlib": "1.3.1"})})).requirements.run == (
        "zlib >=1.3.1,<2.0a0",
    )


def test_pin_run_as_build_from_the_configuration(rendered: Rendering) -> None:
    recipe = HEAD + "requirements:\n  host:\n    - boost\n  run:\n    - boost\n    - zlib\n"
    config = "boost:\n  - 1.63\npin_run_as_build:\n  boost:\n    max_pin: x.x\n  zlib: x\n"
    unsolved = only(rendered(recipe, config)).key
    output = only(rendered(recipe, config, solved={unsolved: Solved({"boost": "1.63.2"})}))
    assert output.requirements.host == ("boost 1.63.*",)
    assert output.requirements.run == ("boost >=1.63.2,<1.64.0a0", "zlib")
    assert output.listing["requirements"]["run"] == ["boost", "zlib"]


def test_keys_match_names_with_dashes(rendered: Rendering) -> None:
    recipe = HEAD + "requirements:\n  host:\n    - r-base\n  run:\n    - r-base\n"
    output = only(rendered(recipe, "r_base:\n  - 4.3\n"))
    assert (output.build_string, output.requirements.host) == ("r43_0", ("r-base 4.3.*",))


def test_force_and_ignore_keys(rendered: Rendering) -> None:
    config = "mpi:\n  - mpich\n  - openmpi\nblas:\n  - mkl\n"
    found = rendered(HEAD + "build:\n  force_use_keys:\n    - blas\n", config)
    assert only(found).hash_input == {"blas": "mkl", "target_platform": "linux-64"}
    recipe = HEAD + "build:\n  force_ignore_keys:\n    - blas\nrequirements:\n  host:\n    - blas\n"
    assert only(rendered(recipe, config)).hash_input == {}


def test_build_script_makes_a_key_used(rendered: Rendering) -> None:
    config = "mpi:\n  - mpich\n  - openmpi\n"
    found = rendered(HEAD, config, files={"build.sh": "make\n./configure --mpi=${mpi} --prefix=$PREFIX\n"})
    assert [output.hash_input["mpi"] for output in found.values()] == ["mpich", "openmpi"]
    assert all(output.script == "build.sh" for output in found.values())


def test_output_script_makes_a_key_used_by_this_output_only(rendered: Rendering) -> None:
    recipe = HEAD + "outputs:\n  - name: liba\n    script: a.sh\n  - name: libb\n    script: b.sh\n"
    found = rendered(recipe, "mpi:\n  - mpich\n", files={"a.sh": "echo $mpi \n", "b.sh": "echo\n"})
    assert [sorted(output.hash_input) for output in found.values()] == [["mpi", "target_platform"], []]


def test_hash_placeholder(rendered: Rendering) -> None:
    config = "mpi:\n  - mpich\n"
    named = "build:\n  number: 4\n  string: {{ mpi }}_h{{ PKG_HASH }}_{{ PKG_BUILDNUM }}\n"
    output = only(rendered(HEAD + named, config))
    assert output.build_string.startswith("mpich_h")
    assert output.build_string.endswith("_4")
    assert "1234567" not in output.build_string
    unused = "build:\n  string: only_h{{ PKG_HASH }}_0\n"
    assert only(rendered(HEAD + unused, config)).build_string == "only__0"


def test_package_variables(rendered: Rendering) -> None:
    recipe = HEAD + "about:\n  summary: {{ PKG_NAME }} {{ PKG_VERSION }} {{ CONDA_PY }} {{ PY_VER }} {{ SUBDIR }}\n"
    assert only(rendered(recipe, "python:\n  - 3.12.*\n")).about["summary"] == "demo 1.2.3 312 3.12 linux-64"


def test_top_level_skip_drops_the_variant(rendered: Rendering) -> None:
    recipe = HEAD + (
        "build:\n  skip: true  # [py < 312]\n  skip: true  # [win]\n"
        "requirements:\n  host:\n    - python\n  run:\n    - python\n"
    )
    assert list(rendered(recipe, PYTHONS)) == ["demo-1.2.3-py312_0"]
    assert rendered(recipe, PYTHONS, platform=PLATFORMS["win-64"]) == {}


def test_outputs_take_the_top_levels_build_without_their_own(rendered: Rendering) -> None:
    recipe = HEAD + (
        "build:\n  number: 7\n  string: custom_7\n  ignore_run_exports:\n    - zlib\n  run_exports:\n    - demo\n"
        "outputs:\n  - name: plain\n  - name: own\n    build:\n      script: make\n  - name: legacy\n    number: 8\n"
    )
    found = {output.name: output for output in rendered(recipe).values()}
    assert (found["plain"].build_string, found["plain"].build_number) == ("custom_7", 7)
    assert found["plain"].build["ignore_run_exports"] == ["zlib"]
    assert found["plain"].listing["run_exports"] is None
    assert (found["own"].build_string, found["own"].script_commands) == ("7", ("make",))
    assert "ignore_run_exports" not in found["own"].build
    assert found["legacy"].build_number == 8


def test_requirements_as_a_list_count_for_host_and_run(rendered: Rendering) -> None:
    recipe = HEAD + "outputs:\n  - name: py\n    requirements:\n      - python\n      - zlib >=1.2\n"
    output = only(rendered(recipe, "python:\n  - 3.11.*\n"))
    assert output.key == "py-1.2.3-py311_0"
    assert output.listing["requirements"]["host"] == ["python 3.11.*", "zlib >=1.2"]
    assert output.listing["requirements"]["run"] == ["python", "zlib >=1.2"]
    assert output.listing["requirements"]["build"] == []


def test_output_of_the_top_levels_name_is_merged_with_it(rendered: Rendering) -> None:
    recipe = HEAD + (
        "build:\n  number: 3\n  run_exports:\n    - demo\nrequirements:\n  host:\n    - zlib\n  run:\n    - zlib\n"
        "about:\n  license: MIT\n  summary: top\n"
        "outputs:\n  - name: demo\n    requirements:\n      run:\n        - bzip2\n    about:\n      summary: own\n"
        "  - name: other\n"
    )
    found = rendered(recipe, files={"build.sh": "make\n"})
    merged = found["demo-1.2.3-3"]
    assert (merged.requirements.host, merged.requirements.run) == (("zlib",), ("bzip2",))
    assert merged.run_exports.weak == ("demo",)
    assert merged.about == {"license": "MIT", "summary": "own"}
    assert merged.script == "build.sh"
    assert found["other-1.2.3-3"].script is None
    assert found["other-1.2.3-3"].requirements.host == ()


SUBPACKAGES = HEAD + (
    "requirements:\n  run:\n"
    "    - {{ pin_subpackage('one') }}\n    - {{ pin_subpackage('two', max_pin='x.x') }}\n"
    "    - {{ pin_subpackage('three', min_pin='x.x', max_pin='x.x') }}\n"
    "    - {{ pin_subpackage('four', exact=True) }}\n"
    "outputs:\n  - name: one\n    version: 1.0.0\n  - name: two\n    version: 2.0.0\n"
    "  - name: three\n    version: 3.0.0\n  - name: four\n    version: 4.0.0\n    build:\n      number: 5\n"
)


def test_top_level_that_requires_its_outputs_is_a_package(rendered: Rendering) -> None:
    found = rendered(SUBPACKAGES)
    assert list(found) == ["one-1.0.0-0", "two-2.0.0-0", "three-3.0.0-0", "four-4.0.0-5", "demo-1.2.3-0"]
    assert found["demo-1.2.3-0"].requirements.run == (
        "one >=1.0.0,<2.0a0", "two >=2.0.0,<2.1.0a0", "three >=3.0,<3.1.0a0", "four 4.0.0 5",
    )  # fmt: skip
    assert found["demo-1.2.3-0"].listing["requirements"]["run"] == ["one", "two", "three", "four"]


def test_top_level_without_need_of_its_outputs_is_none(rendered: Rendering) -> None:
    recipe = HEAD + "requirements:\n  host:\n    - zlib\noutputs:\n  - name: one\n"
    assert list(rendered(recipe)) == ["one-1.2.3-0"]


def test_exact_pins_follow_the_variant(rendered: Rendering) -> None:
    recipe = HEAD + (
        "outputs:\n  - name: lib\n    build:\n      string: {{ mpi }}_h{{ PKG_HASH }}_0\n"
        "      run_exports:\n        - {{ pin_subpackage('lib', max_pin='x.x') }}\n"
        "  - name: tool\n    requirements:\n      host:\n        - {{ pin_subpackage('lib', exact=True) }}\n"
        "        - {{ mpi }}\n"
    )
    found = rendered(recipe, "mpi:\n  - mpich\n  - openmpi\n")
    libraries = [output for output in found.values() if output.name == "lib"]
    tools = [output for output in found.values() if output.name == "tool"]
    assert [output.variant["mpi"] for output in tools] == ["mpich", "openmpi"]
    for library, tool in zip(libraries, tools, strict=True):
        assert tool.requirements.host[0] == f"lib 1.2.3 {library.build_string}"
        assert library.run_exports.weak == ("lib >=1.2.3,<1.3.0a0",)
        assert library.listing["run_exports"] == ["lib"]


def test_build_order_is_by_need_then_as_listed(rendered: Rendering) -> None:
    recipe = HEAD + (
        "outputs:\n  - name: app\n    requirements:\n      run:\n        - lib\n        - data\n"
        "  - name: lib\n    requirements:\n      host:\n        - core\n  - name: data\n  - name: core\n"
        "    requirements:\n      run:\n        - lib\n"
    )
    assert [output.name for output in rendered(recipe).values()] == ["data", "core", "lib", "app"]


def test_an_output_does_not_need_itself(rendered: Rendering) -> None:
    recipe = HEAD + "outputs:\n  - name: lib\n    requirements:\n      run:\n        - lib\n        - zlib\n"
    assert only(rendered(recipe)).requirements.run == ("zlib",)


def test_same_output_twice_chosen_by_skip(rendered: Rendering) -> None:
    recipe = HEAD + (
        "outputs:\n  - name: lib\n    build:\n      skip: true  # [linux]\n      number: 1\n"
        "  - name: lib\n    build:\n      skip: true  # [win]\n      number: 2\n"
    )
    assert list(rendered(recipe)) == ["lib-1.2.3-2"]


def test_same_output_twice_in_the_same_words(rendered: Rendering) -> None:
    outputs = "outputs:\n  - name: libdemo\n  - name: libdemo\n  - name: other\n"
    with pytest.warns(RecipeWarning, match="meta.yaml:6: output `libdemo` is listed twice"):
        assert [one.name for one in rendered(HEAD + outputs).values()] == ["libdemo", "other"]


def test_jinja_loop_over_outputs(rendered: Rendering) -> None:
    recipe = (
        HEAD + "outputs:\n{% for n in ['a', 'b'] %}\n  - name: lib{{ n }}\n    build:\n      number: 1\n{% endfor %}\n"
    )
    assert list(rendered(recipe)) == ["liba-1.2.3-1", "libb-1.2.3-1"]


def test_run_exports_by_kind(rendered: Rendering) -> None:
    recipe = HEAD + "build:\n  run_exports:\n    strong:\n      - a\n    weak_constrains: b >1\n"
    output = only(rendered(recipe))
    assert (output.run_exports.strong, output.run_exports.weak_constrains) == (("a",), ("b >1",))
    assert output.listing["run_exports"] == {"strong": ["a"], "weak_constrains": ["b >1"]}


def test_numbers_stay_as_written(rendered: Rendering) -> None:
    recipe = "package:\n  name: demo\n  version: 1.10\nrequirements:\n  host:\n    - 7zip 2024.10\n"
    output = only(rendered(recipe))
    assert (output.version, output.requirements.host) == ("1.10", ("7zip 2024.10",))


def test_selected_duplicates_override(rendered: Rendering) -> None:
    recipe = HEAD + "build:\n  number: 0\n  number: 100  # [linux]\n"
    assert only(rendered(recipe)).build_number == 100


def test_environment_in_templates(rendered: Rendering) -> None:
    recipe = (
        HEAD + "about:\n  summary: {{ environ.get('A', 'none') }} {{ os.environ['B'] }} {{ environ['PKG_NAME'] }}\n"
    )
    assert only(rendered(recipe, environ={"B": "b"})).about["summary"] == "none b demo"


def test_files_of_the_recipe(rendered: Rendering) -> None:
    files = {
        "data.toml": 'version = "7.1"\n', "data.json": '{"a": ["x"]}', "notes": "release 8.2 today\n",
        "macros.jinja": "{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}  # [linux]\n",
    }  # fmt: skip
    recipe = (
        "{% import 'macros.jinja' as macros %}\n"
        "{% set toml = load_file_data('data.toml', from_recipe_dir=True, recipe_dir=RECIPE_DIR) %}\n"
        "{% set json = load_file_data('data.json', from_recipe_dir=True, recipe_dir=RECIPE_DIR) %}\n"
        "{% set found = load_file_regex('notes', 'release ([0-9.]+)', from_recipe_dir=True, recipe_dir=RECIPE_DIR) %}\n"
        "{% set text = load_str_data('b: 3', 'yaml') %}\n"
        "package:\n  name: demo\n  version: {{ toml.version }}\n"
        "about:\n  summary: {{ json.a[0] }} {{ found.group(1) }} {{ text.b }} {{ macros.twice('z') }}\n"
    )
    output = only(rendered(recipe, files=files))
    assert output.version == "7.1"
    assert output.about["summary"] == "x 8.2 3 zz"


def test_sources_tests_and_script_environment(rendered: Rendering) -> None:
    recipe = HEAD + (
        "source:\n  - url: https://example.org/a.tar.gz\n    sha256: abc\n    patches:\n      - a.patch\n"
        "  - path: ../src\n    folder: sub\n"
        "build:\n  script_env:\n    - TOKEN\n    - MODE=fast\n    - NOT_SET\n"
        "  script:\n    - {{ PYTHON }} -m pip install .\n"
        "test:\n  imports: demo\n  requires:\n    - pip\n  commands:\n    - pip check\n  source_files:\n    - tests/\n"
    )
    output = only(rendered(recipe, environ={"TOKEN": "t"}))
    assert [(s.url, s.sha256, s.path, s.folder, s.patches) for s in output.sources] == [
        ("https://example.org/a.tar.gz", "abc", None, None, ("a.patch",)), (None, None, "../src", "sub", ()),
    ]  # fmt: skip
    assert output.script_env == {"TOKEN": "t", "MODE": "fast"}
    assert output.script_commands == ("$PYTHON -m pip install .",)
    assert (output.test.imports, output.test.requires) == (("demo",), ("pip",))
    assert (output.test.commands, output.test.source_files) == (("pip check",), ("tests/",))


def test_precedence_of_configurations(rendered: Rendering) -> None:
    def value(**options: Any) -> str:
        recipe = HEAD + "requirements:\n  host:\n    - mpi\n"
        return only(rendered(recipe, options.pop("config", None), **options)).requirements.host[0]

    def text(mpi: str) -> VariantConfigText:
        return VariantConfigText(f"{mpi}.yaml", f"mpi:\n  - {mpi}\n")

    base, extra = [text("base")], [text("one"), text("two")]
    assert value(base_configs=base) == "mpi base.*"
    assert value(base_configs=base, config="mpi:\n  - recipe\n") == "mpi recipe.*"
    assert value(base_configs=base, config="mpi:\n  - recipe\n", configs=extra) == "mpi two.*"
    assert value(configs=extra, variants={"mpi": "given"}) == "mpi given.*"


def test_yaml_merge_keys(rendered: Rendering) -> None:
    recipe = HEAD + "extra:\n  base: &base\n    a: 1\nabout:\n  <<: *base\n  license: MIT\n"
    with pytest.raises(RecipeError, match="`a` is no key of `about`"):
        rendered(recipe)
    merged = HEAD + (
        "about: &about\n  license: MIT\n  summary: x\n"
        "outputs:\n  - name: a\n    about:\n      <<: *about\n      summary: y\n"
    )
    assert only(rendered(merged)).about == {"license": "MIT", "summary": "y"}


def test_rendering_is_repeatable(rendered: Rendering) -> None:
    assert list(rendered(SUBPACKAGES).values()) == list(rendered(SUBPACKAGES).values())


def test_a_long_list_of_pins_for_others_costs_nothing(rendered: Rendering) -> None:
    config = "".join(f"package_{number}:\n  - 1\n  - 2\n" for number in range(60))
    recipe = HEAD + "requirements:\n  host:\n    - package-7\n    - {{ package_9 }}\n"
    assert len(rendered(recipe, config)) == 4


def test_line_numbers_survive_jinja(rendered: Rendering) -> None:
    recipe = """\
        {%- set names = [
            'a',
            'b',
        ] -%}
        {% raw %}{% endraw %}
        {% set block %}
        captured
        {% endset %}
        {# a comment
           of two lines #}
        package:
          name: demo
          version: 1.0

        requirements:
          host:
            {%- for name in names %}
            - lib{{ name }}
            {%- endfor %}
            - {{ "x" if
                 linux else "y" }}
        bild:
          number: 1
        """
    with pytest.raises(RecipeError, match="`bild` is no section") as caught:
        rendered(recipe)
    assert caught.value.where == "meta.yaml:22"


def test_line_numbers_of_undefined_names_survive_stripping(rendered: Rendering) -> None:
    recipe = (
        HEAD
        + "\n\n{%- if linux -%}\n\n\n{%- endif %}\n\n"
        + "about:  # [linux]\n  home: x  # [win]\n  summary: {{ nope }}\n"
    )
    with pytest.raises(RecipeError, match="'nope' is undefined") as caught:
        rendered(recipe)
    assert caught.value.where == "meta.yaml:13"


def test_files_beside_the_recipe_that_are_tests_and_link_scripts(rendered: Rendering) -> None:
    files = {"run_test.py": "", "run_test.sh": "", "run_test.bat": "", "post-link.sh": "", "build.sh": ""}
    output = only(rendered(HEAD + "test:\n  commands:\n    - demo\n", files=files))
    assert output.test.commands == ("python run_test.py", "bash -ex run_test.sh", "demo")
    assert output.test.files == ("run_test.py", "run_test.sh")
    assert output.build == {"post-link": "post-link.sh"}
    windows = only(rendered(HEAD, files=files, platform=PLATFORMS["win-64"]))
    assert windows.test.commands == ("python run_test.py", "call run_test.bat")


def test_they_are_the_top_levels_alone(rendered: Rendering) -> None:
    files = {"run_test.py": "", "post-link.sh": "", "a.sh": ""}
    meta = HEAD + (
        "outputs:\n  - name: demo\n    script: a.sh\n  - name: other\n    script: a.sh\n"
        "    build:\n      post-link: other.sh\n    test:\n      script: run_test.py\n"
    )
    found = {output.name: output for output in rendered(meta, files=files).values()}
    assert found["demo"].test.commands == ("python run_test.py",)
    assert found["demo"].build == {"post-link": "post-link.sh"}
    assert found["other"].test.commands == ()
    assert found["other"].test.script == "run_test.py"
    assert found["other"].build == {"post-link": "other.sh"}


SECRETS = """\
api_token:
  - PLANTED-1
address:
  - https://me:PLANTED-2@host.example/x
mode:
  - fast
"""


def test_secrets_among_variants_are_nobodys_who_does_not_use_them(rendered: Rendering) -> None:
    (output,) = rendered(f"{HEAD}requirements:\n  host:\n    - mode\n", SECRETS).values()
    assert "api_token" not in output.variant
    manifest = make_manifest(replace(output, recipe_dir=Path(__file__).parent / "errors"), engine="", environments={},
                             needed={})  # fmt: skip
    assert b"PLANTED" not in manifest.to_json()
    assert redact("PLANTED-1") == "***"


@pytest.mark.parametrize("use", ["api_token", "address"])
@pytest.mark.parametrize("where", ["template", "script"])
def test_a_variant_that_is_a_secret_makes_no_package(rendered: Rendering, use: str, where: str) -> None:
    text = f"{HEAD}build:\n  string: x{{{{ {use} | length }}}}\n" if where == "template" else HEAD
    files = {"build.sh": f"echo ${use}\n"}
    with pytest.raises(RecipeError, match=f"uses the variant key `{use}`, which holds a secret") as caught:
        rendered(text, SECRETS, files=files if where == "script" else {})
    assert "PLANTED" not in str(caught.value)


@pytest.mark.parametrize("name", ["datetime.sys", "time.sleep(9)", "datetime.datetime.__class__.__mro__"])
def test_clock_shows_templates_nothing_else(rendered: Rendering, name: str) -> None:
    with pytest.raises(RecipeError, match="Jinja"):
        rendered(HEAD + "build:\n  string: {{ NAME }}\n".replace("NAME", name))


def test_a_column_of_a_zip_group_is_replaced_by_one_as_long(rendered: Rendering) -> None:
    recipe = HEAD + "requirements:\n  host:\n    - boost\n    - zlib\n"
    config = "boost:\n  - 1\n  - 2\nzlib:\n  - 3\n  - 4\nzip_keys:\n  - [boost, zlib]\n".replace(
        "[boost, zlib]", "\n    - boost\n    - zlib"
    )
    found = rendered(recipe, config, configs=[VariantConfigText("more.yaml", "zlib:\n  - 5\n  - 6\n")])
    assert [output.requirements.host for output in found.values()] == [
        ("boost 1.*", "zlib 5.*"), ("boost 2.*", "zlib 6.*"),
    ]  # fmt: skip
