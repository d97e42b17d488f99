"""What is said where the embedded channel lacks what was asked for."""

from __future__ import annotations

import pytest

from slipway.base.errors import SolveError
from slipway.base.user_folders import cache_folder
from slipway.bootstrap.choices import names_for_cuda
from slipway.bootstrap.embedded import advise_on_cuda
from slipway.recipe.choose import CUDA_KEY

DETAIL = "Cannot solve the request because of: libtorch-cuda * would require\n  cuda-cudart >=13.0, no candidates\n"


def unsolved(detail: str, channel: str) -> SolveError:
    error = SolveError("no environment satisfies `pytorch-gpu`", hint="the solver's reasons are above", detail=detail)
    error.channels = ("file:///somewhere/channel", channel)
    return error


@pytest.mark.parametrize(
    ("asked", "said"), [({}, "it takes CUDA's libraries"), ({CUDA_KEY: "12.4"}, "for another CUDA than 12.4?")]
)
def test_missing_cuda_names_the_option(asked: dict[str, str], said: str) -> None:
    assert {"cuda-cudart", "libcublas", "cuda-version"} <= names_for_cuda()
    error = unsolved(DETAIL, f"{cache_folder().as_uri()}/channels/x")
    advise_on_cuda(error, asked)
    assert error.hint is not None
    assert said in error.hint
    assert "`--cuda X.Y`" in error.hint
    assert "13.0" in error.hint


@pytest.mark.parametrize(
    ("detail", "channel"),
    [("numpy >=9, no candidates", f"{cache_folder().as_uri()}/channels/x"), (DETAIL, "https://example.org/main")],
)
def test_other_reasons_keep_their_hint(detail: str, channel: str) -> None:
    error = unsolved(detail, channel)
    advise_on_cuda(error, {})
    assert error.hint == "the solver's reasons are above"
