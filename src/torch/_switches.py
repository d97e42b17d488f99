"""Switches of how operators compute, for the whole process."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from torch import _C

if TYPE_CHECKING:
    from collections.abc import Iterator

_MATMUL_PRECISIONS = ("highest", "high", "medium")
_matmul_precision = "highest"
_deterministic, _warn_only = False, False
_warn_always = False
_interop_threads: int | None = None


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` set; "highest" at first."""
    return _matmul_precision


def set_float32_matmul_precision(precision: str) -> None:
    """How exact products of float32 matrices must be: "highest", "high" or "medium".

    Below "highest" CUDA devices multiply by TF32, which has 10 bits behind the point. The CPU is always exact.
    """
    global _matmul_precision
    if precision not in _MATMUL_PRECISIONS:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current setting of precision stays",
            stacklevel=2,
        )
        return
    _matmul_precision = precision
    _set_word("matmul", "ieee" if precision == "highest" else "tf32")


# `fp32_precision` of torch.backends ("generic"), of cudnn ("cuda") and of operators; None: nobody has said a word.
_WORDS = ("none", "ieee", "tf32")
_WORDS_ABOVE = {"cuda": "generic", "conv": "cuda", "rnn": "cuda", "matmul": "cuda"}
_words: dict[str, str | None] = {"generic": "none", "cuda": "none", "conv": None, "rnn": None, "matmul": "none"}


def fp32_precision(name: str) -> str:
    """How CUDA devices multiply float32: the word that was set for `name`, or else the one above it.

    Convolutions may use TF32 ("tf32") unless somebody has said otherwise, as in PyTorch.
    """
    word = _words[name]
    if word not in (None, "none"):
        return str(word)
    above = fp32_precision(_WORDS_ABOVE[name]) if name in _WORDS_ABOVE else "none"
    return "tf32" if word is None and above == "none" else above


def set_fp32_precision(name: str, word: str) -> None:
    """Says it: "ieee", "tf32", or "none", which leaves it to the word above."""
    global _matmul_precision
    if word not in _WORDS:
        raise RuntimeError(f"Unknown precision: {word}")
    if name == "matmul":
        _matmul_precision = "high" if word == "tf32" else "highest"
    _set_word(name, word)


@contextmanager
def kept_fp32_precisions() -> Iterator[None]:
    """A block after which all words are what they were."""
    before = dict(_words)
    try:
        yield
    finally:
        _words.update(before)
        _use_words()


def _set_word(name: str, word: str) -> None:
    _words[name] = word
    _use_words()


def _use_words() -> None:
    set_product_switch("tf32", fp32_precision("matmul") == "tf32")
    set_product_switch("convolution_tf32", fp32_precision("conv") == "tf32")


# The numbers are of aten/Plugin.h, and so are the first settings.
_PRODUCT_SWITCHES = {
    "tf32": 1,
    "reduced_half": 2,
    "reduced_bfloat16": 4,
    "convolution_tf32": 8,
    "cudnn": 16,
    "cudnn_benchmark": 32,
    "cudnn_deterministic": 64,
    "cudnn_depthwise": 128,
    "native_depthwise": 256,
    "deterministic_algorithms": 512,
}
_product_switches = 30


def product_switch(name: str) -> bool:
    """Whether CUDA devices compute products and convolutions in this way."""
    return bool(_product_switches & _PRODUCT_SWITCHES[name])


def set_product_switch(name: str, value: bool) -> None:
    """Lets CUDA devices compute products and convolutions in this way, or not."""
    global _product_switches
    bit = _PRODUCT_SWITCHES[name]
    _product_switches = _product_switches | bit if value else _product_switches & ~bit
    _C._cuda_set_product_switches(_product_switches)


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Whether operators must give the same result each time. On the CPU all of them do, with or without."""
    global _deterministic, _warn_only
    if not isinstance(mode, bool):
        raise TypeError(f"use_deterministic_algorithms(): argument 'mode' must be bool, not {type(mode).__name__}")
    _deterministic, _warn_only = mode, warn_only
    set_product_switch("deterministic_algorithms", mode)


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` set."""
    return _deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether operators that are not deterministic would only warn."""
    return _deterministic and _warn_only


def get_deterministic_debug_mode() -> int:
    """0: off, 1: warn, 2: raise."""
    return (1 if _warn_only else 2) if _deterministic else 0


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by number or name: 0 or "default", 1 or "warn", 2 or "error"."""
    names = {"default": 0, "warn": 1, "error": 2}
    mode = names.get(debug_mode, -1) if isinstance(debug_mode, str) else debug_mode
    if mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected one of 0, 1, 2, {', '.join(names)}: {debug_mode!r}")
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def set_flush_denormal(mode: bool) -> bool:
    """Whether this thread takes numbers below the smallest normal one for 0. Returns whether the processor can."""
    return _C._set_flush_denormal(mode)


def set_warn_always(b: bool, /) -> None:
    """Whether a warning that PyTorch gives once per process comes each time. Operators here give theirs each time."""
    global _warn_always
    if not isinstance(b, bool):
        raise TypeError(f"set_warn_always expects a bool, but got {type(b).__name__}")
    _warn_always = b


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` set."""
    return _warn_always


def get_num_interop_threads() -> int:
    """How many operators TorchScript may run at a time; eager programs run one after the other."""
    return (os.cpu_count() or 1) if _interop_threads is None else _interop_threads


def set_num_interop_threads(threads: int, /) -> None:
    """Sets what `get_num_interop_threads` gives, once. RuntimeError for less than 1, or if it was set before."""
    global _interop_threads
    if not isinstance(threads, int) or isinstance(threads, bool):
        raise TypeError(f"set_num_interop_threads expects an int, but got {type(threads).__name__}")
    if threads < 1:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    if _interop_threads is not None:
        raise RuntimeError("cannot set number of interop threads: it has been set before")
    _interop_threads = threads


def init_num_threads() -> None:
    """Makes a thread use as many threads for an operator as others do: they always do here."""
