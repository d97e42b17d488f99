"""What counts as using a variant key is decided by the shape of lines, as in conda-build."""

from __future__ import annotations

import pytest

from slipway.recipe.usage import UsageFinder

KEYS = (
    "python", "python_min", "numpy", "mkl", "blas_impl", "c_compiler", "c_compiler_version", "cxx_compiler",
    "cxx_compiler_version", "cuda_compiler", "cuda_compiler_version", "c_stdlib", "c_stdlib_version", "r_base", "ace",
)  # fmt: skip


@pytest.fixture
def finder() -> UsageFinder:
    return UsageFinder(frozenset(KEYS))


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        ("    - python", {"python"}),
        ("    - python   ", {"python"}),
        ("    - python  # why", {"python"}),
        ("    - python >=3.9", set()),
        ("    - python {{ python_min }}", {"python_min"}),
        ("    - python {{python_min}}", {"python_min"}),
        ("    - r-base", {"r_base"}),
        ("    - blas-impl", {"blas_impl"}),
        ("    - mkl-devel", set()),
        ("    - {{ compiler('c') }}", {"c_compiler", "c_compiler_version"}),
        ('    - {{ compiler("cxx") }}', {"cxx_compiler", "cxx_compiler_version"}),
        ("    - {{compiler('c')}}", {"c_compiler", "c_compiler_version"}),
        ("    - {{ stdlib('c') }}", {"c_stdlib", "c_stdlib_version"}),
        ("    - {{ pin_compatible('numpy') }}", {"numpy"}),
        ("    - {{ pin_compatible('numpy', max_pin='x.x') }}", {"numpy"}),
        ("    - {{ pin_subpackage('demo', exact=True) }}", set()),
        ("  string: cuda{{ cuda_compiler_version | replace('.', '') }}_0", {"cuda_compiler_version"}),
        ("  string: {{ 'x' ~ blas_impl }}", set()),
        ("{% set name = blas_impl %}", {"blas_impl"}),
        ("{% set name = 'python-' ~ blas_impl %}", {"blas_impl", "python"}),
        ('{% set p = zlib.replace(".", "") %}', set()),
        ("{% set python_min = '3.9' %}", set()),
        ("{% for x in blas_impl %}", {"blas_impl"}),
        ("{% for x in python_min %}", {"python_min"}),
        ("{% if blas_impl == 'mkl' %}", {"blas_impl", "mkl"}),
        ("{% elif python_min %}", {"python", "python_min"}),
        ("  - echo $blas_impl", set()),
        ("  summary: uses python", set()),
    ],
)
def test_in_text(finder: UsageFinder, line: str, keys: set[str]) -> None:
    assert finder.in_text(f"requirements:\n{line}\n") == keys


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        ("  - x  # [blas_impl == 'mkl']", {"blas_impl"}),
        ('  - x  # [cuda_compiler_version != "None"]', {"cuda_compiler_version"}),
        ("  - x  # [linux and (blas_impl!='mkl' or mkl)]", {"blas_impl"}),
        ("  - x  # [not mkl]", {"mkl"}),
        ("  - x  # [python.startswith('3')]", set()),
        ("  - x  # mkl", set()),
        ("# - x  # [mkl]", set()),
    ],
)
def test_in_selectors(finder: UsageFinder, line: str, keys: set[str]) -> None:
    assert finder.in_selectors(f"{line}\n") == keys


@pytest.mark.parametrize(
    ("script", "keys"),
    [
        ("echo $blas_impl\n", {"blas_impl"}),
        ("make BLAS=${blas_impl} -j\n", {"blas_impl"}),
        ('case "$blas_impl" in\n', set()),
        ("echo $PREFIX $blas_impl\n", set()),
        ("cd $PREFIX\nmake ${blas_impl}\n", {"blas_impl"}),
        ("echo ${blas_impl:-none}\n", set()),
        ("echo $blas_impl_x\n", set()),
        ("blas_impl=1\n", set()),
    ],
)
def test_in_shell(finder: UsageFinder, script: str, keys: set[str]) -> None:
    assert finder.in_shell(script) == keys


def test_in_batch(finder: UsageFinder) -> None:
    assert finder.in_batch("echo %blas_impl%\r\nif !mkl! == 1 exit\r\necho %numpy_x%\r\n") == {"blas_impl", "mkl"}


def test_compilers_bring_the_sysroot_key() -> None:
    finder = UsageFinder(frozenset({"c_compiler", "CONDA_BUILD_SYSROOT"}))
    assert finder.in_text("  - {{ compiler('c') }}\n") == {"c_compiler", "CONDA_BUILD_SYSROOT"}
