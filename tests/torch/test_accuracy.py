"""Functions that are computed in vectors, against the same in more digits: units in the last place, and exact cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from units import spread, units_off

import torch


@pytest.mark.parametrize("name", ["log2", "log10"])
def test_logarithms(name: str) -> None:
    for dtype, wide, low, high in ((np.float32, np.float64, -125, 127), (np.float64, np.longdouble, -1000, 1000)):
        if wide is np.longdouble and np.finfo(np.longdouble).nmant <= 52:
            continue  # no more digits to compare with on this machine
        x = spread(dtype, low, high)
        assert units_off(getattr(torch, name)(torch.from_numpy(x)), getattr(np, name)(x.astype(wide))) < 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_logarithms_of_whole_powers_are_whole(dtype: torch.dtype) -> None:
    smallest = -126 if dtype == torch.float32 else -1022
    exponents = torch.arange(smallest, -smallest + 1, dtype=dtype)
    powers = torch.from_numpy(np.ldexp(np.ones(exponents.numel(), exponents.numpy().dtype), exponents.int().numpy()))
    assert torch.equal(torch.log2(powers), exponents)
    count = 11 if dtype == torch.float32 else 23
    tens = torch.tensor([float(10**n) for n in range(count)], dtype=dtype)
    assert torch.equal(torch.log10(tens), torch.arange(count, dtype=dtype))


@pytest.mark.parametrize("name", ["log2", "log10"])
def test_edges_of_logarithms(name: str) -> None:
    x = torch.tensor([0.0, -0.0, -1.0, math.inf, -math.inf, math.nan, 1.0, 2.0**-149])
    result = getattr(torch, name)(x).tolist()
    assert result[:2] == [-math.inf, -math.inf]
    assert all(map(math.isnan, (result[2], result[4], result[5])))
    assert result[3] == math.inf
    assert result[6] == 0
    assert result[7] == pytest.approx(getattr(math, name)(2.0**-149), rel=1e-6)


@pytest.mark.parametrize("exponent", [2.7, -1.3, 7.0, -6.0, 1 / 3, 100.0, 1e-3])
def test_powers(exponent: float) -> None:
    x = spread(np.float32, -20, 20)
    x[::3] *= -1
    power = np.float32(exponent)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), float(power))
        exact = np.where(np.abs(exact) < np.finfo(np.float32).tiny, np.float64(0), exact)
    ours = torch.from_numpy(x) ** float(power)
    ours = torch.where(ours.abs() < torch.finfo(torch.float32).tiny, 0.0, ours)
    assert units_off(ours, exact) <= 1
    by_tensor = torch.from_numpy(x) ** torch.full((x.size,), float(power))
    assert np.array_equal(by_tensor.numpy(), (torch.from_numpy(x) ** float(power)).numpy(), equal_nan=True)


def test_edges_of_powers() -> None:
    """All pairs of the numbers for which IEEE 754 has rules, as Python's C library answers them in float64."""
    edges = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e30, -1e30, math.inf, -math.inf, math.nan]
    bases, exponents = np.meshgrid(np.array(edges, np.float32), np.array(edges, np.float32))
    with np.errstate(all="ignore"):
        expected = np.power(bases.astype(np.float64), exponents.astype(np.float64)).astype(np.float32)
    actual = (torch.from_numpy(bases) ** torch.from_numpy(exponents)).numpy()
    assert np.array_equal(actual, expected, equal_nan=True)
    assert np.array_equal(np.signbit(actual[~np.isnan(actual)]), np.signbit(expected[~np.isnan(expected)]))


NOT = [math.nan, math.inf, math.nan, math.nan]  # of -1, infinity, its opposite, NaN
WITHIN_A_UNIT = {
    "exp": (np.exp, -103, 88.7),
    "expm1": (np.expm1, -20, 0.3),
    "exp2": (np.exp2, -149, 127.9),
    "log": (np.log, 0.5, 2),
    "log1p": (np.log1p, -0.9, 2),
    "log2": (np.log2, 0.5, 2),
    "log10": (np.log10, 0.5, 2),
    "sin": (np.sin, -1e4, 1e4),
    "cos": (np.cos, -1e4, 1e4),
    "tan": (np.tan, -1e4, 1e4),
    "atan": (np.arctan, -10, 10),
    "erfc": (np.vectorize(math.erfc), -4, 10),
    "lgamma": (np.vectorize(math.lgamma), 0.001, 40),
    "atanh": (np.arctanh, -0.999, 0.999),
}


@pytest.mark.parametrize("name", WITHIN_A_UNIT)
def test_float32_functions_are_within_about_a_unit(name: str) -> None:
    exact, low, high = WITHIN_A_UNIT[name]
    x = np.random.default_rng(0).uniform(low, high, 100_000).astype(np.float32)
    assert units_off(getattr(torch, name)(torch.from_numpy(x)), exact(x.astype(np.float64))) <= 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("log", [0.0, -0.0, -1.0, math.inf, -math.inf, math.nan, 1.0], [-math.inf, -math.inf, *NOT, 0.0]),
        ("log2", [0.0, -0.0, -1.0, math.inf, -math.inf, math.nan, 8.0], [-math.inf, -math.inf, *NOT, 3.0]),
        ("log10", [0.0, -0.0, -1.0, math.inf, -math.inf, math.nan, 1e3], [-math.inf, -math.inf, *NOT, 3.0]),
        ("atanh", [1.0, -1.0, 1.5, -math.inf, math.nan, -0.0], [math.inf, -math.inf, *[math.nan] * 3, -0.0]),
        ("erfinv", [1.0, -1.0, 1.5, -math.inf, math.nan, -0.0], [math.inf, -math.inf, *[math.nan] * 3, -0.0]),
        ("acosh", [1.0, 0.5, -math.inf, math.inf, math.nan], [0.0, math.nan, math.nan, math.inf, math.nan]),
        ("asinh", [0.0, -0.0, math.inf, -math.inf, math.nan], [0.0, -0.0, math.inf, -math.inf, math.nan]),
        ("sinh", [0.0, -0.0, math.inf, -math.inf, math.nan], [0.0, -0.0, math.inf, -math.inf, math.nan]),
        ("cosh", [0.0, -0.0, math.inf, -math.inf, math.nan], [1.0, 1.0, math.inf, math.inf, math.nan]),
    ],
)
def test_ends_of_domains(name: str, dtype: torch.dtype, x: list[float], expected: list[float]) -> None:
    for others in (0, 61):  # alone, and in the same vector with others
        result = getattr(torch, name)(torch.tensor([*x, *[0.75] * others], dtype=dtype))[: len(x)].tolist()
        assert result == pytest.approx(expected, nan_ok=True)
        assert [math.copysign(1, a) for a in result if a == 0] == [math.copysign(1, e) for e in expected if e == 0]


@pytest.mark.parametrize("name", ["log", "log2", "log10"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_logarithms_of_all_halves(name: str, dtype: torch.dtype) -> None:
    x = torch.arange(-(2**15), 2**15, dtype=torch.int16).view(dtype)
    exact = getattr(torch, name)(x.double())
    rounded = exact.to(dtype)
    actual = getattr(torch, name)(x)
    finite = rounded.isfinite()
    assert torch.equal(actual[~finite].nan_to_num(9), rounded[~finite].nan_to_num(9))
    unit = torch.nextafter(rounded[finite].abs(), torch.tensor(math.inf, dtype=dtype)) - rounded[finite].abs()
    assert ((actual[finite].double() - exact[finite]).abs() / unit.double()).max() < 0.51


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_all_halves_there_and_back(dtype: torch.dtype) -> None:
    """What float32 rounds to: each half is its own, and what lies between two goes to the nearer or the even one."""
    halves = torch.arange(-(2**15), 2**15, dtype=torch.int16).view(dtype)
    numbers = halves[halves.isfinite()]
    assert torch.equal(numbers.float().to(dtype).view(torch.int16), numbers.view(torch.int16))
    assert halves.float().to(dtype).isnan().equal(halves.isnan())
    up = numbers[~numbers.signbit() & (numbers < torch.finfo(dtype).max)]
    above = (up.view(torch.int16) + 1).view(dtype)
    between = ((up.double() + above.double()) / 2).float()
    even = torch.where(up.view(torch.int16) % 2 == 0, up, above)
    for count in (between.numel(), 33, 5):  # with what is left over of vectors
        assert torch.equal(between[:count].to(dtype), even[:count])
        assert torch.equal(torch.nextafter(between, torch.tensor(0.0))[:count].to(dtype), up[:count])
        assert torch.equal(torch.nextafter(between, torch.tensor(math.inf))[:count].to(dtype), above[:count])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_copysign_of_halves(dtype: torch.dtype) -> None:
    numbers = [0.0, -0.0, 1.5, -2.5, math.inf, -math.inf, math.nan, 6e-8]
    x = torch.tensor(numbers, dtype=dtype)
    size, sign = x.repeat_interleave(len(numbers)), x.repeat(len(numbers))
    for a, b in ((size, sign), (x[:, None], x[None, :]), (size.repeat(2)[::2], sign.repeat(2)[::2])):
        result = torch.copysign(a, b)
        assert result.dtype == dtype
        assert torch.equal(result.signbit(), b.signbit().expand(result.shape))
        assert torch.equal(result.abs().nan_to_num(9), a.abs().nan_to_num(9).expand(result.shape))
    assert torch.copysign(x[:6], -1.0).signbit().all()


IN_MORE_DIGITS = {
    "exp": (np.exp, -708, 709),
    "expm1": (np.expm1, -40, 709),
    "log": (np.log, 0.5, 2),
    "log1p": (np.log1p, -1, 2),
    "log2": (np.log2, 0.5, 2),
    "log10": (np.log10, 0.5, 2),
    "sin": (np.sin, -1e5, 1e5),
    "cos": (np.cos, -1e5, 1e5),
    "tanh": (np.tanh, -20, 20),
    "tan": (np.tan, -1e5, 1e5),
    "atan": (np.arctan, -10, 10),
    "asin": (np.arcsin, -1, 1),
    "acos": (np.arccos, -1, 1),
    "sinh": (np.sinh, -710, 710),
    "cosh": (np.cosh, -710, 710),
    "atanh": (np.arctanh, -1, 1),
}
LONG_DOUBLE = pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="no more digits to compare with")


@LONG_DOUBLE
@pytest.mark.parametrize("name", IN_MORE_DIGITS)
def test_float64_functions_are_within_three_quarters_of_a_unit(name: str) -> None:
    exact, low, high = IN_MORE_DIGITS[name]
    generator = np.random.default_rng(0)
    small = np.exp2(generator.uniform(-1060, 0, 20_000)) * generator.choice((-1, 1), 20_000)
    x = np.concatenate((generator.uniform(low, high, 50_000), generator.uniform(-1, 1, 50_000), small))
    with np.errstate(invalid="ignore"):  # logarithms of negative numbers
        expected = exact(x.astype(np.longdouble))
    most = 1.25 if torch.backends.cpu.get_cpu_capability() == "DEFAULT" else 0.75  # the first has no fused products
    assert units_off(getattr(torch, name)(torch.from_numpy(x)), expected) <= most


# mpmath's values where the functions' formulas begin and end, and at the ends of float64's range.
AT_BORDERS = {
    "erfc": [
        (-30.0, "2.0"),
        (-3.0, "1.9999779095030014146"),
        (-0.5, "1.5204998778130465377"),
        (-0.4999, "1.5204119951613865903"),
        (1e-300, "1.0"),
        (0.4999, "0.47958800483861340972"),
        (0.5, "0.47950012218695346232"),
        (0.55, "0.43667663367489100698"),
        (0.9, "0.20309178757716786034"),
        (1.25, "0.077099871743541769863"),
        (2.25, "0.0014627165866811516979"),
        (3.5, "7.4309837234141274552e-7"),
        (5.0, "1.5374597944280348502e-12"),
        (12.5, "6.2319427819799110061e-70"),
        (26.0, "5.6631924088561428465e-296"),
    ],
    "lgamma": [
        (5e-324, "744.44007192138126231"),
        (0.25, "1.2880225246980774574"),
        (0.999, "0.00057803853289138023817"),
        (1.05, "-0.026853072502260190189"),
        (1.5, "-0.12078223763524522235"),
        (2.001, "0.00042310673480011699119"),
        (2.995, "0.68853819877409390635"),
        (3.5, "1.2009736023470742248"),
        (7.999, "8.5231457861589154881"),
        (8.001, "8.5271770691089264076"),
        (1e8, "1742068066.1038347093"),
        (2.5e305, "1.755511860237645252e+308"),
        (-0.25, "1.5895753125511859903"),
        (-0.999, "6.9081793857174363282"),
        (-1.5, "0.86004701537648101451"),
        (-2.25, "0.55550154502064747059"),
        (-7.75, "-8.5818477635518666694"),
        (-8.25, "-9.652096643822339641"),
        (-9.000001, "1.0136808268802099153"),
        (-1000000000.25, "-19723265851.916495591"),
    ],
    "erfinv": [
        (1e-310, "8.8622692545275530617e-311"),
        (1e-9, "8.8622692545275806908e-10"),
        (0.25, "0.22531205501217810473"),
        (0.5, "0.47693627620446987338"),
        (0.78, "0.86728635099387479064"),
        (0.785, "0.87676537043676094452"),
        (0.9, "1.1630871536766741628"),
        (0.9985, "2.2448402503847203367"),
        (0.9986, "2.2589594236407759235"),
        (0.99999, "3.123413274341570864"),
        (0.9999999999999999, "5.8635847487551679272"),
        (-0.7, "-0.73286907795921678488"),
        (-0.95, "-1.3859038243496776766"),
    ],
    "digamma": [
        (1e-300, "-9.9999999999999997494e+299"),
        (0.001, "-1000.5755719318102797"),
        (0.75, "-1.0858608797864721696"),
        (0.999, "-0.57886180210864542792"),
        (1.001, "-0.57557193181030065237"),
        (1.25, "-0.22745353337626540809"),
        (1.75, "0.24747245354686116371"),
        (1.999, "0.42213919889235564562"),
        (2.001, "0.42342906719069845854"),
        (2.75, "0.81890102497543259228"),
        (9.5, "2.1977378764029495332"),
        (1e9, "20.723265836446411156"),
        (1e300, "690.77552789821370526"),
        (-1e-9, "999999999.42278427117"),
        (-0.25, "2.9141391202135278304"),
        (-0.75, "-2.8941202000429320748"),
        (-1.25, "3.7141391202135278304"),
        (-7.25, "5.1899772149562878875"),
        (-7.999, "-997.85618617032398165"),
        (-1000000.25, "16.957103961553827759"),
    ],
}


@LONG_DOUBLE
@pytest.mark.parametrize("name", AT_BORDERS)
def test_float64_functions_are_rounded_almost_once(name: str) -> None:
    x = np.array([point for point, _ in AT_BORDERS[name]])
    exact = np.array([np.longdouble(value) for _, value in AT_BORDERS[name]])
    most = 4.0 if torch.backends.cpu.get_cpu_capability() == "DEFAULT" else 0.65  # the first has no fused products
    for repeats in (1, 9):  # each in a vector with others, and alone in vectors
        actual = getattr(torch, name)(torch.from_numpy(x.repeat(repeats)))
        assert units_off(actual, exact.repeat(repeats)) < most


@LONG_DOUBLE
@pytest.mark.parametrize("name", ["atan2", "hypot", "logaddexp", "logaddexp2", "pow"])
def test_float64_functions_of_two_numbers_are_within_a_unit(name: str) -> None:
    generator = np.random.default_rng(0)
    a, b = np.exp2(generator.uniform(-8, 8, (2, 100_000))) * generator.choice((-1, 1), (2, 100_000))
    if name == "pow":
        a, b = np.abs(a), b * generator.choice((0.1, 1, 4), 100_000)
    elif name.startswith("logaddexp"):
        a = np.abs(a)  # what is near 0 is a difference of two numbers that are not
    else:
        sizes = np.exp2(generator.uniform(-1000, 1000, 50_000))
        a[:50_000] *= sizes
        b[:50_000] *= sizes
    exact = getattr(np, {"atan2": "arctan2", "pow": "power"}.get(name, name))
    with np.errstate(over="ignore", under="ignore"):
        expected = exact(a.astype(np.longdouble), b.astype(np.longdouble))
    normal = np.abs(expected) >= np.finfo(np.float64).tiny
    actual = getattr(torch, name)(torch.from_numpy(a[normal]), torch.from_numpy(b[normal]))
    assert units_off(actual, expected[normal]) <= (4 if name.startswith("logaddexp") else 1)


@pytest.mark.parametrize(
    "name", ["atan2", "hypot", "pow", "copysign", "nextafter", "heaviside", "fmax", "fmin", "logaddexp", "logaddexp2"]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges_of_functions_of_two_numbers(name: str, dtype: type[np.floating]) -> None:
    """All pairs of the numbers that have rules of their own, as the C library answers them."""
    tiny, largest = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    edges = [0.0, 1.0, 2.0, 3.0, 0.5, tiny, largest, math.inf, math.nan]
    numbers = np.array([*edges, *(-edge for edge in edges)], dtype)
    a, b = (np.ascontiguousarray(each) for each in np.meshgrid(numbers, numbers))
    with np.errstate(all="ignore"):
        expected = getattr(np, {"atan2": "arctan2", "pow": "power"}.get(name, name))(a, b)
    if name == "heaviside":
        expected[np.isnan(a)] = 0  # as in PyTorch
    actual = getattr(torch, name)(torch.from_numpy(a), torch.from_numpy(b)).numpy()
    epsilon = np.finfo(dtype).eps
    lost = epsilon if name.startswith("logaddexp") else 0  # of a difference of two numbers
    assert np.allclose(actual, expected, rtol=epsilon * 2, atol=lost, equal_nan=True)
    if lost or name in ("fmax", "fmin"):
        return  # either zero will do
    number = ~np.isnan(expected)
    assert np.array_equal(np.signbit(actual[number]), np.signbit(expected[number]))


def test_shifts_of_int64() -> None:
    a = torch.tensor([1, -1, 5, -(2**63), 2**62, 7, 7, -7, -7, 3])
    b = torch.tensor([63, 1, 0, 1, 2, 64, -1, 64, -3, 62])
    assert torch.bitwise_left_shift(a, b).tolist() == [-(2**63), -2, 5, 0, 0, 0, 0, 0, 0, -(2**62)]
    assert torch.bitwise_right_shift(a, b).tolist() == [0, -1, 5, -(2**62), 2**60, 0, 0, -1, -1, 0]


@pytest.mark.parametrize(
    "name", ["exp", "expm1", "exp2", "tanh", "sigmoid", "erf", "erfc", "tan", "atan", "sin", "log1p"]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_edges(name: str, dtype: torch.dtype) -> None:
    x = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan], dtype=dtype)
    alone = torch.stack([getattr(torch, name)(value) for value in x])
    among_others = getattr(torch, name)(torch.cat((x, torch.ones(59, dtype=dtype))))[:5]
    assert torch.equal(alone.isnan(), among_others.isnan())
    assert alone.nan_to_num(7).tolist() == among_others.nan_to_num(7).tolist()
    assert among_others[4].isnan()
    expected = {
        "exp": [1, 1, math.inf, 0],
        "expm1": [0, 0, math.inf, -1],
        "exp2": [1, 1, math.inf, 0],
        "tanh": [0, 0, 1, -1],
        "sigmoid": [0.5, 0.5, 1, 0],
        "erf": [0, 0, 1, -1],
        "erfc": [1, 1, 0, 2],
        "atan": [0, 0, math.pi / 2, -math.pi / 2],
    }
    if name in expected:
        assert among_others[:4].tolist() == pytest.approx(expected[name])
        if expected[name][1] == 0:
            assert math.copysign(1, among_others[1].item()) == -1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_remainders_are_exact(dtype: torch.dtype) -> None:
    generator = np.random.default_rng(0)
    numpy_type = np.float32 if dtype == torch.float32 else np.float64
    a = (generator.normal(size=20_000) * np.exp2(generator.uniform(-20, 40, 20_000))).astype(numpy_type)
    b = (generator.normal(size=20_000) * np.exp2(generator.uniform(-20, 20, 20_000))).astype(numpy_type)
    a[:5], b[:5] = [np.inf, 1, 1, 0, np.nan], [1, np.inf, 0, -3, 1]
    b[5:2000] = a[5:2000] / generator.integers(1, 99, 1995)  # nearly whole quotients
    with np.errstate(invalid="ignore"):
        for ours, theirs in ((torch.fmod, np.fmod), (torch.remainder, np.remainder)):
            result = ours(torch.from_numpy(a), torch.from_numpy(b)).numpy()
            expected = theirs(a, b)
            finite = np.isfinite(b) | np.isnan(expected)
            assert np.array_equal(result[finite], expected[finite], equal_nan=True)


@pytest.mark.parametrize("name", ["exp", "tanh", "neg", "sin", "abs", "sum", "amax", "var", "cumsum", "isnan", "tan"])
def test_layouts_do_not_matter(name: str) -> None:
    function = getattr(torch, name)
    x = torch.randn(67, 301)
    for view in (x[:, ::2], x[::3, ::3], x.t(), x.t()[::2], x.flip(1)[:, 1:], x[:, :1].expand(67, 40)):
        arguments = (0,) if name == "cumsum" else ()
        assert torch.allclose(function(view, *arguments), function(view.contiguous(), *arguments), rtol=1e-4)
        if name in ("sum", "amax", "var"):
            for dim in (0, 1):
                assert torch.allclose(function(view, dim), function(view.contiguous(), dim), atol=1e-5)


IN_FLOAT32 = {  # from, to, units in the last place
    "exp": (-20, 20, 0.57),
    "exp2": (-20, 20, 0.57),
    "expm1": (-20, 20, 0.53),
    "log": (1e-6, 100, 0.56),
    "log2": (1e-6, 100, 0.6),
    "log10": (1e-6, 100, 0.56),
    "log1p": (-0.999, 100, 0.6),
    "tanh": (-12, 12, 0.52),
    "sin": (-20000, 20000, 0.6),
    "cos": (-20000, 20000, 0.6),
    "tan": (-20000, 20000, 0.6),
    "sinh": (-20, 20, 0.9),
    "cosh": (-20, 20, 0.7),
    "arcsin": (-1, 1, 0.7),
    "arccos": (-1, 1, 0.7),
    "arctan": (-100, 100, 0.75),
}


@pytest.mark.parametrize("name", IN_FLOAT32)
def test_float32_functions_are_rounded_almost_once(name: str) -> None:
    low, high, most = IN_FLOAT32[name]
    generator = np.random.default_rng(0)
    near = [generator.uniform(max(low, -size), size, 50_000) for size in (4, 1, 0.1, 1e-3)]
    x = np.concatenate([generator.uniform(low, high, 200_000), *near])
    x = x[(x > low) & (x < high)].astype(np.float32)
    exact = getattr(np, name)(x.astype(np.float64))
    assert units_off(getattr(torch, name)(torch.from_numpy(x)), exact) < most


@pytest.mark.parametrize(("name", "sign"), [("softplus", 1), ("logsigmoid", -1)])
def test_logarithm_of_one_and_an_exponential_in_float32(name: str, sign: int) -> None:
    x = np.random.default_rng(0).uniform(-20, 19, 300_000).astype(np.float32)
    exact = sign * np.logaddexp(0, sign * x.astype(np.float64))
    actual = getattr(torch.nn.functional, name)(torch.from_numpy(x))
    assert units_off(actual, exact) < 1.1
    left = sign * x < 0
    assert units_off(actual[torch.from_numpy(left)], exact[left]) < 0.65


@pytest.mark.parametrize("name", [*IN_FLOAT32, "erf", "erfc", "sigmoid"])
def test_float32_functions_give_the_same_bits_wherever_a_number_lies(name: str) -> None:
    function = getattr(torch, name)
    torch.manual_seed(0)
    x = torch.cat([torch.rand(1000), torch.rand(500) * 1e4, torch.tensor([0.0, -0.0, 1e-40, 3e38, math.inf, math.nan])])
    x = torch.cat([x, -x])
    expected = function(x).view(torch.int32)
    for start in (1, 5, 17):
        assert torch.equal(function(x[start:]).view(torch.int32), expected[start:])
    assert torch.equal(function(x.repeat_interleave(3)[::3]).view(torch.int32), expected)
    assert torch.equal(torch.stack([function(number) for number in x[:300]]).view(torch.int32), expected[:300])


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_sines_of_large_numbers(name: str) -> None:
    """Beyond what vectors reduce, and next to multiples of pi / 2, where little is left."""
    near = (np.arange(-12000, 12000) * (np.pi / 2)).astype(np.float32)
    x = np.concatenate([near, np.float32([2e4, -2e4, 20000.002, 39000.0, 1e6, -3e7, 1e12])])
    x = x[x != 0]
    assert units_off(getattr(torch, name)(torch.from_numpy(x)), getattr(np, name)(x.astype(np.float64))) < 0.7


@LONG_DOUBLE
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@pytest.mark.parametrize(("dtype", "most"), [(np.float32, 0.6), (np.float64, 0.75)], ids=["float32", "float64"])
def test_sines_of_numbers_of_every_size(name: str, dtype: type[np.floating], most: float) -> None:
    """All digits of 1 / pi count; the last number is the float64 next to a multiple of pi / 2."""
    wide = np.float64 if dtype is np.float32 else np.longdouble
    generator = np.random.default_rng(0)
    exponents = generator.integers(19, 128 if dtype is np.float32 else 1024, 20_000)
    x = np.ldexp(generator.uniform(0.5, 1, exponents.size), exponents) * generator.choice([-1, 1], exponents.size)
    x = np.append(x, math.ldexp(6381956970095103, 797 if dtype is np.float64 else 60)).astype(dtype)
    assert units_off(getattr(torch, name)(torch.from_numpy(x)), getattr(np, name)(x.astype(wide))) < most
    mixed = torch.from_numpy(np.resize(np.array([1, 3e7, -0.0, 7e29, math.inf, 2.5, math.nan, -6e4], dtype), 300))
    alone = torch.stack([getattr(torch, name)(number) for number in mixed[:8]])
    together = getattr(torch, name)(mixed)
    torch.testing.assert_close(together, alone.repeat(38)[:300], rtol=0, atol=0, equal_nan=True)
    assert together[:8].isnan().nonzero().flatten().tolist() == [4, 6]


@LONG_DOUBLE
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_that_swing_far_from_zero(dtype: type[np.floating]) -> None:
    """Against their asymptotic series, in units of how far they swing there."""
    generator = np.random.default_rng(0)
    x = np.exp2(generator.uniform(27, 100, 3000)).astype(dtype)
    wide = x.astype(np.longdouble)
    sine, cosine = np.sin(wide), np.cos(wide)
    size = 1 / np.sqrt(np.pi * wide)
    expected = {
        "bessel_j0": size * (sine + cosine + (sine - cosine) / (8 * wide)),
        "bessel_j1": size * (sine - cosine + 3 * (sine + cosine) / (8 * wide)),
        "bessel_y0": size * (sine - cosine - (sine + cosine) / (8 * wide)),
        "bessel_y1": size * (-(sine + cosine) + 3 * (sine - cosine) / (8 * wide)),
        "spherical_bessel_j0": sine / wide,
    }
    for name, exact in expected.items():
        found = getattr(torch.special, name)(torch.from_numpy(x)).numpy()
        swing = 1 / wide if name == "spherical_bessel_j0" else size
        assert np.max(np.abs(found - exact) / swing) < 4 * np.finfo(dtype).eps
        ends = getattr(torch.special, name)(torch.tensor([math.inf, math.nan, 1.0], dtype=torch.float64))
        assert ends[0] == 0
        assert ends[1].isnan()
    x = np.linspace(-60, -9, 5000).astype(dtype)
    zeta = np.float64(2 / 3) * np.abs(x.astype(np.float64)) ** 1.5
    steps = [1.0, *((6 * k - 5) * (6 * k - 1) / (72 * k) for k in range(1, 9))]
    terms = np.cumprod(steps)
    p = sum((-1) ** (k // 2) * terms[k] / zeta**k for k in (0, 2, 4, 6, 8))
    q = sum((-1) ** (k // 2) * terms[k] / zeta**k for k in (1, 3, 5, 7))
    exact = (np.sin(zeta + np.pi / 4) * p - np.cos(zeta + np.pi / 4) * q) / np.sqrt(np.pi) / np.abs(x) ** 0.25
    assert np.max(np.abs(torch.special.airy_ai(torch.from_numpy(x)).numpy() - exact)) < 1e-7
    ends = torch.special.airy_ai(torch.tensor([math.inf, -math.inf, 120.0, math.nan], dtype=torch.float64))
    assert ends[:3].tolist() == [0, 0, 0]
    assert ends[3].isnan()


def test_logarithms_of_subnormal_numbers() -> None:
    x = (np.arange(1, 40000, 7) * 2.0**-149).astype(np.float32)
    for name in ("log", "log2", "log10"):
        assert units_off(getattr(torch, name)(torch.from_numpy(x)), getattr(np, name)(x.astype(np.float64))) < 0.6


@pytest.mark.parametrize(("dtype", "digits"), [(torch.bfloat16, 8), (torch.float16, 11)], ids=str)
def test_gelu_of_halves_is_rounded_almost_once(dtype: torch.dtype, digits: int) -> None:
    x = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(dtype)
    x = x[(x.abs() < 100) & (x > -5)]  # further left it is below float16's normal numbers
    for given in (x, x[1:], x.repeat_interleave(2)[::2]):
        exact = given.double() * torch.special.ndtr(given.double())
        spacing = torch.ldexp(torch.tensor(1.0).double(), torch.frexp(exact)[1] - digits)
        spacing = spacing.clamp(min=torch.finfo(dtype).smallest_normal * 2.0 ** (1 - digits))
        assert ((torch.nn.functional.gelu(given).double() - exact).abs() / spacing).max() < 0.55
    edges = torch.nn.functional.gelu(torch.tensor([math.inf, -math.inf, math.nan, 0.0] * 5, dtype=dtype))
    assert edges[0] == math.inf
    assert edges[1:3].isnan().all()
    assert edges[3] == 0


@pytest.mark.parametrize("name", ["tanh", "expm1", "sin", "tan", "arctan", "arcsin", "sinh", "log1p"])
def test_odd_functions_of_the_smallest_numbers(name: str) -> None:
    x = torch.tensor([1e-45, 1e-44, 1e-40, 1e-38, 1e-30, 1e-20])
    assert torch.equal(getattr(torch, name)(x), x)
    assert torch.equal(getattr(torch, name)(-x), -x)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int16, torch.bool])
def test_reductions_of_narrow_types_are_those_of_wide_ones(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    wide = torch.float32 if dtype.is_floating_point else torch.int64
    for shape in ((5000,), (3000, 7), (7, 3000), (300, 400), (5, 300, 6), (70000,)):
        made = (torch.rand(shape) * 4 - 1).to(dtype)
        for x in (made, made.t() if made.dim() == 2 else made, made[..., ::2], made[1:]):
            for dim in (None, *range(x.dim())):
                given = () if dim is None else (dim,)
                assert torch.equal(x.sum(*given), x.to(wide).sum(*given).to(x.sum().dtype))
                if dtype != torch.bool:
                    assert torch.equal(x.amax(*given), x.to(wide).amax(*given).to(dtype))
                assert torch.equal(x.any(*given), x.to(wide).any(*given))


def test_index_add_to_every_dimension_in_every_layout() -> None:
    torch.manual_seed(0)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        target, source = torch.rand(30, 40, 20).to(dtype), torch.rand(30, 40, 20).to(dtype)
        for dim in range(3):
            size = target.size(dim)
            index = torch.randint(size, (size,))
            expected = target.clone()
            for i, place in enumerate(index.tolist()):
                expected.select(dim, place).add_(source.select(dim, i))
            assert torch.equal(target.index_add(dim, index, source), expected)
            turned = target.transpose(0, 2).contiguous().transpose(0, 2)
            assert torch.equal(turned.index_add(dim, index, source), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_next_halves_are_the_next_bits(dtype: torch.dtype) -> None:
    bits = torch.arange(-32768, 32768, dtype=torch.int32).to(torch.int16)
    x = bits.view(dtype)
    assert torch.equal(torch.nextafter(x, x).nan_to_num(7), x.nan_to_num(7))
    for target in (math.inf, -math.inf, 0.0, 1.0):
        to = torch.full_like(x, target)
        result = torch.nextafter(x, to)
        outward = (to > x) == (x > 0)
        stepped = torch.where(outward, bits + 1, bits - 1).to(torch.int16).view(dtype)
        least = torch.copysign(torch.ones(1, dtype=torch.int16).view(dtype), to)
        expected = torch.where(x == 0, least.expand_as(x), stepped)
        expected = torch.where(x == to, to, expected)
        is_number = ~x.isnan()
        assert torch.equal(result[is_number].view(torch.int16), expected[is_number].view(torch.int16)), target
        assert result[~is_number].isnan().all()
