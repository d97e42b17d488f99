"""Neighbours that a kernel reads together: what lies beside them, where they begin, and how many there are.

Each tensor is memory of its own under the emulation, so that a read or a write beyond its elements is an error.
"""

from __future__ import annotations

import pytest

import torch

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))

HALVES = [torch.float16, torch.bfloat16]
REAL = [torch.bool, torch.uint8, torch.int16, *HALVES, torch.float32, torch.int64]
DTYPES = [*REAL, torch.complex64, torch.complex128]
# Elements: fewer than a pack, packs alone, packs and a rest.
COUNTS = [1, 3, 4, 19, 261]


def _numbers(count: int, dtype: torch.dtype) -> torch.Tensor:
    return ((torch.arange(count) * 7 % 11) - 3).to(dtype)


def _places(count: int, dtype: torch.dtype, skipped: int) -> torch.Tensor:
    """Numbers on the device that end where their memory does, `skipped` elements behind its start."""
    return _numbers(count + skipped, dtype).cuda()[skipped:]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_element_wise(dtype: torch.dtype) -> None:
    for count in COUNTS:
        for skipped in (0, 1):
            a, b = _places(count, dtype, skipped), _places(count, dtype, 0)
            mask = _places(count, torch.bool, skipped)
            for x, y, chosen in ((a, b, mask), (b, a, mask)):
                told = f"{count} elements, {skipped} left out"
                p, q, m = x.cpu(), y.cpu(), chosen.cpu()
                assert torch.equal((x + y).cpu(), p + q), told
                assert torch.equal((x * 2).cpu(), p * 2), told
                assert torch.equal((x == y).cpu(), p == q), told
                assert torch.equal(torch.where(chosen, x, y).cpu(), torch.where(m, p, q)), told
                assert torch.equal(torch.masked_fill(x, chosen, 1).cpu(), torch.masked_fill(p, m, 1)), told


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_results_leave_their_neighbours_alone(dtype: torch.dtype) -> None:
    whole = torch.zeros(40, dtype=dtype).cuda()
    ones = torch.ones(40, dtype=dtype).cuda()
    for first, last in ((0, 5), (4, 11), (3, 4), (8, 40)):
        whole.zero_()
        torch.mul(ones[first:last], ones[first:last], out=whole[first:last])
        expected = torch.zeros(40, dtype=dtype)
        expected[first:last] = 1
        assert torch.equal(whole.cpu(), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions_of_rows(dtype: torch.dtype) -> None:
    for columns in (1, 3, 33, 300):
        table = _places(3 * columns, dtype, 1).view(3, columns)
        there = table.cpu()
        for rows in (slice(None), slice(1, None)):
            for inside in (slice(None), slice(1, None), slice(None, None, 2)):
                x, y = table[rows, inside], there[rows, inside]
                assert torch.equal(x.any(1).cpu(), y.any(1)), columns
                assert torch.equal(x.all(1).cpu(), y.all(1)), columns
                assert torch.equal(x.sum(1).cpu(), y.sum(1)), columns  # of small whole numbers: exact in any order
                if y.shape[1] and not dtype.is_complex:
                    assert torch.equal(x.amax(1).cpu(), y.amax(1)), columns


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions_of_columns(dtype: torch.dtype) -> None:
    pack = 16 // dtype.itemsize
    for shape in ((3, 5 * pack), (41, pack), (2, 3, 2 * pack), (70, 33 * pack // 2)):
        table = _places(2 * torch.Size(shape).numel(), dtype, 0).view(2, *shape)
        there = table.cpu()
        for x, y in ((table[1], there[1]), (table[1, ..., 1:], there[1, ..., 1:]), (table[..., 0], there[..., 0])):
            told = f"{shape}, {tuple(y.stride())}"
            assert torch.equal(x.any(0).cpu(), y.any(0)), told
            assert torch.equal(x.sum(0).cpu(), y.sum(0)), told
            assert torch.equal(x.sum(-2).cpu(), y.sum(-2)), told
            if y.numel() and not dtype.is_complex:
                assert torch.equal(x.amax(0).cpu(), y.amax(0)), told


def test_tall_columns_are_cut() -> None:
    for columns in (1, 4, 7):
        table = _places(2500 * columns, torch.float32, 0).view(2500, columns)
        assert torch.equal(table.sum(0).cpu(), table.cpu().sum(0))
        assert torch.equal(table.amax(0).cpu(), table.cpu().amax(0))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32], ids=str)
def test_long_rows_are_cut_within_packs(dtype: torch.dtype) -> None:
    row = _places(4999, dtype, 1)
    assert torch.equal(row.sum().cpu(), row.cpu().sum())
    row.zero_()
    assert not row.any().item()
    row[-1] = 1
    assert row.any().item()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64, torch.complex128], ids=str)
def test_truth_of_zeros_and_nan(dtype: torch.dtype) -> None:
    numbers = [0.0, -0.0, float("nan"), float("inf"), 5e-324 if dtype == torch.float64 else 1e-45]
    if dtype.is_complex:
        numbers = [complex(a, b) for a in numbers for b in numbers]
    for number in numbers:
        row = torch.tensor([number] * 9, dtype=dtype)
        assert row.cuda().any().item() == row.any().item(), number
        assert row.cuda().all().item() == row.all().item(), number


@pytest.mark.parametrize("half", HALVES, ids=str)
def test_halves_beside_other_types(half: torch.dtype) -> None:
    for count in COUNTS:
        for skipped in (0, 1):
            x = _places(count, half, skipped) / 3
            p = _numbers(count + skipped, half)[skipped:] / 3
            assert torch.equal(x.cpu(), p)
            for dtype in (torch.float32, torch.float64, torch.int64, *HALVES):
                y, q = _places(count, dtype, 1 - skipped), _numbers(count + 1 - skipped, dtype)[1 - skipped :]
                told = f"{count} elements, {skipped} left out, {dtype}"
                assert torch.equal((x + y).cpu(), p + q), told
                assert torch.equal((y * x).cpu(), q * p), told
                assert torch.equal((x < y).cpu(), p < q), told
                assert torch.equal(torch.where(x < y, x, y).cpu(), torch.where(p < q, p, q)), told
                assert torch.equal(x.to(dtype).cpu(), p.to(dtype)), told
                assert torch.equal(y.to(half).cpu(), q.to(half)), told
            out = torch.full((count + 1,), 7, dtype=half).cuda()
            torch.mul(x.float(), 1.001, out=out[:count])
            assert torch.equal(out.cpu()[:count], (p.float() * 1.001).to(half)), count
            assert out[count].item() == 7


@pytest.mark.parametrize("dtype", [torch.float32, *HALVES], ids=str)
def test_rows_and_columns_beside_tables(dtype: torch.dtype) -> None:
    for rows, columns in ((3, 8), (5, 4), (2, 7), (3, 264)):
        p = _numbers(rows * columns, dtype).view(rows, columns)
        x = p.cuda()
        for other in (dtype, torch.float32):
            row, column = _numbers(columns, other), _numbers(rows, other).view(rows, 1)
            for there in (row, column, row[:1], column[0, 0]):
                told = f"{rows} x {columns}, {tuple(there.shape)} of {other}"
                assert torch.equal((x + there.cuda()).cpu(), p + there), told
                assert torch.equal((there.cuda() == x).cpu(), there == p), told
        skipped = _places(columns + 1, dtype, 1)[: columns - 1]
        assert torch.equal((x[:, 1:] * skipped).cpu(), p[:, 1:] * skipped.cpu())
        inner = torch.zeros(rows, columns + 8 - columns % 8, dtype=dtype).cuda()
        inner[:, : columns - 1] += _numbers(columns - 1, dtype).cuda()
        assert torch.equal(inner[:, : columns - 1].cpu(), _numbers(columns - 1, dtype).expand(rows, columns - 1))
        assert not inner[:, columns - 1 :].any()
        channels = _numbers(2, dtype).view(2, 1, 1)
        images = torch.stack((x, x)).unsqueeze(0).repeat(3, 1, 1, 1)
        assert torch.equal((images + channels.cuda()).cpu(), images.cpu() + channels)


@pytest.mark.parametrize("half", HALVES, ids=str)
def test_rounding_to_halves(half: torch.dtype) -> None:
    """Ties go to even, what is too large becomes infinite, and what is too small is subnormal."""
    x = torch.tensor([0.0, -0.0, 1.0, 65504.0, 65519.0, 65520.0, 3.4e38, 6e-8, 1e-45, float("inf"), float("-inf")])
    x = torch.cat((x, torch.arange(2000) / 997 * 1.00048828125, 1 + torch.arange(64) / 4096))
    assert torch.equal(x.cuda().to(half).cpu(), x.to(half))
    assert torch.equal((x.cuda() * 1).to(half).float().cpu(), x.to(half).float())
    assert torch.equal((x.cuda().to(half) / 3).cpu(), x.to(half) / 3)
    assert (torch.tensor([float("nan")] * 9).cuda().to(half) * 2).isnan().all()


@pytest.mark.parametrize("dtype", [torch.float32, *HALVES], ids=str)
def test_reductions_of_several_dimensions(dtype: torch.dtype) -> None:
    for shape in ((2, 3, 16), (3, 2, 7), (5, 4, 8), (70, 2, 40)):
        x = _places(torch.Size(shape).numel(), dtype, 0).view(shape)
        for dims in ((0, 2), (0, 1), (1, 2), (0, 1, 2)):
            told = f"{shape}, {dims}"
            assert torch.equal(x.sum(dims).cpu(), x.cpu().sum(dims)), told
            assert torch.equal(x.amin(dims).cpu(), x.cpu().amin(dims)), told
            if dtype != torch.float32:
                assert torch.equal(x.sum(dims, dtype=torch.float32).cpu(), x.float().cpu().sum(dims)), told
    columns = _places(9 * 2 * 10 * 24, dtype, 0).view(9, 2, 10, 24)
    for x in (columns, columns[..., 1:], columns[:, :, 1:]):
        assert torch.equal(x.sum((0, 2)).cpu(), x.cpu().sum((0, 2))), tuple(x.shape)


def test_many_rows_and_long_ones() -> None:
    many = _places(2200 * 72, torch.float32, 0).view(2200, 72)
    assert torch.equal(many.sum(1).cpu(), many.cpu().sum(1))
    apart = _places(4 * 2200 * 128, torch.float32, 0).view(4, 2200, 128)
    assert torch.equal(apart.sum((0, 2)).cpu(), apart.cpu().sum((0, 2)))
    for dtype in (torch.float32, torch.bfloat16):
        long = _places(3 * 9000, dtype, 0).view(3, 9000)
        assert torch.equal(long.sum(1).cpu(), long.cpu().sum(1))
        assert torch.equal(long[:, 1:].amax(1).cpu(), long[:, 1:].cpu().amax(1))


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int16, torch.float32, torch.float64], ids=str)
def test_places_of_extremes(dtype: torch.dtype) -> None:
    for shape in ((3, 1), (2, 33), (5, 64), (3, 300), (2, 1100), (40, 4), (9, 3, 2)):
        x = _numbers(torch.Size(shape).numel(), dtype).view(shape)
        for dim in range(len(shape)):
            for there in (x, x.transpose(0, 1)):
                for name in ("max", "min"):
                    values, indices = getattr(there.cuda(), name)(dim)
                    expected = getattr(there, name)(dim)
                    assert torch.equal(values.cpu(), expected.values), (shape, dim, name)
                    assert torch.equal(indices.cpu(), expected.indices), (shape, dim, name)
    nan = torch.tensor([[1.0, float("nan"), 5.0, float("nan")] * 40, [float("-inf")] * 160])
    assert nan.cuda().argmax(1).tolist() == [1, 0]
    assert nan.cuda().argmin(1).tolist() == [1, 0]
    assert nan.t().cuda().argmax(0).tolist() == [1, 0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, *HALVES], ids=str)
def test_norms_in_one_pass(dtype: torch.dtype) -> None:
    x = _places(5 * 72, dtype, 0).view(5, 72)
    there = x.cpu()
    for order in (1, 2):
        for dims in (None, 0, 1, (0, 1)):
            found = torch.linalg.vector_norm(x, order, dims)
            torch.testing.assert_close(found.cpu(), torch.linalg.vector_norm(there, order, dims))
    x[1, 1] = float("nan")
    assert torch.equal(x.nansum(1).cpu(), x.cpu().nansum(1))
    assert torch.linalg.vector_norm(x).isnan()
