"""Globs and their destinations."""

from __future__ import annotations

import pytest

from slipway.base.schema import InvalidValueError
from slipway.bootstrap.mapping import Glob, Rule


def rule(take: str, to: str, *excluded: str) -> Rule:
    pattern = Glob.parse(take)
    return Rule(pattern, to, tuple(map(Glob.parse, excluded)))


@pytest.mark.parametrize(
    ("take", "to", "path", "expected"),
    [
        ("usr/bin/x-{ar,as}", "bin/y-*", "usr/bin/x-ar", "bin/y-ar"),
        ("usr/bin/x-{ar,as}", "bin/y-*", "usr/bin/x-ard", None),
        ("usr/lib/**", "lib/**", "usr/lib/a/b.so", "lib/a/b.so"),
        ("usr/lib/*", "lib/*", "usr/lib/a/b.so", None),
        ("{lib,usr}/**", "root/*/**", "lib/c.so.6", "root/lib/c.so.6"),
        ("lib/libm.so.?", "lib/libm.so.?", "lib/libm.so.6", "lib/libm.so.6"),
        ("lib/libm.so.6", "lib/libmath.so", "lib/libm.so.6", "lib/libmath.so"),
        ("bin/c++filt", "bin/c++filt", "bin/c++filt", "bin/c++filt"),
        ("bin/c++filt", "bin/c++filt", "bin/cccfilt", None),
        ("include/*.h", "include/one.h", "include/a.h", "include/one.h"),
        ("site/(cu13|cublas)/lib/*.so", "lib/*.so", "site/cublas/lib/a.so", "lib/a.so"),
        ("site/(cu13|cublas)/lib/*.so", "lib/*.so", "site/cufft/lib/a.so", None),
        ("info/(licenses/|)a", "a", "info/a", "a"),
    ],
)
def test_target(take: str, to: str, path: str, expected: str | None) -> None:
    assert rule(take, to).target(path) == expected


def test_excluded_paths_are_not_taken() -> None:
    taken = rule("lib/**", "lib/**", "**/{gconv,audit}/**", "**/*.a")
    assert taken.target("lib/x/libc.so") == "lib/x/libc.so"
    assert taken.target("lib/gconv/UTF-16.so") is None
    assert taken.target("lib/x/libc.a") is None


@pytest.mark.parametrize(
    ("take", "to", "message"),
    [
        ("/usr/lib/*", "lib/*", "`/usr/lib/*` is not a relative path"),
        ("usr/lib/a", "lib/*", "`lib/*` has more wildcards than `usr/lib/a`"),
        ("usr/lib/*", "/lib/*", "`/lib/*` is not a relative path"),
        ("", "lib", "`` is not a relative path"),
    ],
)
def test_what_does_not_fit_is_refused(take: str, to: str, message: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        rule(take, to)
    assert str(caught.value) == message
