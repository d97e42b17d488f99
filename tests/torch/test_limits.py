"""Sizes, strides, offsets and counts near the limits of int64: refused, or a tensor whose elements are all there."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSALS = (RuntimeError, IndexError, ValueError, TypeError, MemoryError)
EDGES = (-(2**63), -(2**62), -1, 0, 1, 2, 3, 2**40, 2**60, 2**60 + 1, 2**61, 2**62, 2**62 + 1, 2**63 - 1)


def assert_within_storage(x: torch.Tensor) -> None:
    """Its numbers agree, and its first and last element lie in its storage."""
    assert all(size >= 0 for size in x.shape), x.shape
    assert x.numel() == math.prod(x.shape) < 2**63
    if x.numel() == 0:
        return
    assert x.storage_offset() >= 0
    reach = x.storage_offset() + 1 + sum((size - 1) * step for size, step in zip(x.shape, x.stride(), strict=True))
    assert reach * x.element_size() <= x.untyped_storage().nbytes()


def calls(make: random.Random) -> list[Callable[[], Any]]:
    """Every way to give sizes from outside, with numbers of which some are hostile."""

    def number() -> int:
        return make.choice(EDGES) if make.random() < 0.5 else make.randrange(4)

    def numbers() -> tuple[int, ...]:
        return tuple(number() for _ in range(make.randrange(1, 4)))

    a, b, c, n, s = number(), number(), number(), numbers(), numbers()
    dtype = make.choice((torch.float32, torch.float64, torch.uint8, torch.int16))
    x = torch.arange(6).to(dtype)
    other = make.choice((x, x.view(2, 3), x[:0], x.view(3, 2).t(), x[0]))
    wide = torch.zeros(1, dtype=dtype).expand(make.choice((2**40, 2**60, 2**62)))
    storage = x.untyped_storage()
    convolution, transposed, image, kernel = make.choice(
        (
            (torch.nn.functional.conv1d, torch.nn.functional.conv_transpose1d, (1, 2, 4), (2, 2, 2)),
            (torch.nn.functional.conv2d, torch.nn.functional.conv_transpose2d, (1, 2, 4, 4), (2, 2, 2, 2)),
            (torch.nn.functional.conv3d, torch.nn.functional.conv_transpose3d, (1, 2, 4, 4, 4), (2, 2, 1, 2, 2)),
        )
    )
    long = torch.zeros(1).expand(1, 1, make.choice((2**31, 2**40, 2**62)))
    d, groups = number(), make.choice((1, 2, number()))
    return [
        lambda: convolution(torch.ones(image), torch.ones(kernel), None, a, b, c, groups),
        lambda: convolution(torch.ones(image), torch.ones(kernel), None, n, s, c, groups),
        lambda: transposed(torch.ones(image), torch.ones(kernel), None, a, b, d, groups, c),
        lambda: transposed(torch.ones(image), torch.ones(kernel), None, n, s, d, groups, c),
        lambda: torch.nn.functional.conv1d(long, torch.ones(1, 1, 2), None, a, b, c),
        lambda: torch.nn.functional.conv1d(torch.ones(1, 1, 2), long, None, a, b, c),
        lambda: torch.nn.functional.conv_transpose1d(long, torch.ones(1, 1, 2), None, a, b, d, 1, c),
        lambda: torch.nn.functional.conv_transpose1d(torch.ones(1, 1, 2), long, None, a, b, d, 1, c),
        lambda: other.as_strided(n, s, a),
        lambda: other.as_strided(n, n),
        lambda: torch.zeros(1, dtype=dtype).set_(storage, a, n, s),
        lambda: torch.zeros(1, dtype=dtype).set_(storage, a, n),
        lambda: torch.zeros(1, dtype=dtype).set_(storage, a),
        lambda: torch.frombuffer(bytearray(24), dtype=dtype, count=a, offset=b),
        lambda: torch.cat([wide] * make.randrange(1, 20)),
        lambda: torch.stack([wide, wide]),
        lambda: other.expand(n),
        lambda: other.expand((*n, *other.shape)),
        lambda: wide.expand((a, *wide.shape)),
        lambda: other.repeat(n),
        lambda: other.tile(n),
        lambda: torch.empty(n, dtype=dtype),
        lambda: torch.empty(n, dtype=dtype, device="meta"),
        lambda: torch.empty_strided(n, s, dtype=dtype),
        lambda: other.new_empty(n),
        lambda: other.new_zeros(n),
        lambda: other.view(n),
        lambda: other.reshape(n),
        lambda: wide.view(n),
        lambda: other.narrow(a, b, c),
        lambda: other[a:b],
        lambda: other[:: max(1, a)],
        lambda: other.unfold(0, a, b),
        lambda: other.select(0, a),
        lambda: other.diagonal(a),
        lambda: x.view(2, 3).diagonal(a),
        lambda: torch.diag(x, a),
        lambda: x.view(2, 3).tril(a),
        lambda: torch.tril_indices(2, 3, a),
        lambda: torch.triu_indices(3, 2, a),
        lambda: torch.tril_indices(a, b, c),
        lambda: torch.triu_indices(a, b, c),
        lambda: other.roll(a, 0),
        lambda: other.split(a)[0],
        lambda: other.split(n)[0],
        lambda: other.chunk(a if a < 2**40 else 2**63 - 1)[0],
        lambda: torch.repeat_interleave(other, a),
        lambda: torch.repeat_interleave(torch.tensor(n)),
        lambda: torch.diff(other, a),
        lambda: torch.nn.functional.pad(other, (a, b)),
        lambda: torch.nn.functional.pad(other.float()[None], (a, b), mode="circular"),
        lambda: torch.nn.functional.pad(other.float()[None], (a, b), mode="replicate"),
        lambda: torch.nn.functional.pad(other.float()[None], (a, b), mode="reflect"),
        lambda: torch.nn.functional.max_pool1d(x.float()[None], max(a, 1), max(b, 1), 0, max(c, 1)),
        lambda: torch.nn.functional.avg_pool1d(x.float()[None], a, b, c),
        lambda: torch.nn.functional.unfold(x.float().view(1, 1, 2, 3), a, b, c),
        lambda: x.view(make.choice((torch.int64, torch.uint8, torch.int16))),
        lambda: x.as_strided((1, 2), (a, 1)).view(torch.uint8),
        lambda: torch.add(x, 1, out=torch.empty(0, dtype=dtype).set_(storage, 1, (0,), (1,))),
    ]


@pytest.mark.parametrize("seed", range(150))
def test_hostile_numbers_are_refused_or_harmless(seed: int) -> None:
    leaked = []
    for call in calls(random.Random(seed)):
        try:
            result = call()
        except REFUSALS as error:
            leaked.append(str(error))
            continue
        assert_within_storage(result)
    # Python's own words, from lines of ours, would say nothing to a user.
    assert not {"list index out of range", ""} & set(leaked)


def test_a_refused_change_changes_nothing() -> None:
    x = torch.arange(4.0)
    for sizes, strides in (((2**33, 2**33), (0, 0)), ((2**62,), (4,)), ((5,), (1,))):
        with pytest.raises(RuntimeError):
            x.set_(x.untyped_storage(), 0, sizes, strides)
        assert x.tolist() == [0, 1, 2, 3]


def test_a_result_that_grows_takes_its_inputs_along() -> None:
    for count in (6, 2**20):
        x, y = torch.arange(2.0 * count).split(count)
        out = torch.empty(0).set_(x.untyped_storage(), 2 * count, (0,), (1,))
        torch.add(x, y, out=out)
        assert out.shape == (count,)
        assert torch.equal(out, torch.arange(0.0, 2.0 * count, 2.0) + count)
        assert torch.equal(x, torch.arange(float(count)))


QUICK = {
    "a leaf's hook that gives the leaf": """
        x = torch.ones(2, requires_grad=True)
        x.register_hook(lambda grad: x)
        (x * x).sum().backward(create_graph=True)
        assert x.grad.tolist() == [1, 1]
        (x * x).sum().backward(create_graph=True)
        assert x.grad.tolist() == [2, 2]""",
    "a hook that gives what depends on the leaf": """
        x = torch.ones(2, requires_grad=True)
        x.register_hook(lambda grad: x * grad)
        (x * x).sum().backward(create_graph=True)
        x.grad.sum().backward()
        assert x.grad is not None""",
    "differences of more orders than there are elements": """
        assert torch.diff(torch.ones(5), 2**62).shape == (0,)
        assert torch.diff(torch.ones(2, 5), 2**40, 0).shape == (0, 5)""",
    "indices of very many rows without elements": """
        assert torch.tril_indices(3, 2**60, -3).shape == (2, 0)
        assert torch.triu_indices(2**60, 3).shape == (2, 6)
        assert torch.triu_indices(2**60, 3)[0].tolist() == [0, 0, 0, 1, 1, 2]""",
    "repeating nothing very often": """
        assert torch.repeat_interleave(torch.ones(0), 2**62).shape == (0,)
        assert torch.ones(0).repeat(2**62).shape == (0,)""",
}
REFUSED = (
    "torch.repeat_interleave(torch.ones(2), 2**62)",
    "torch.repeat_interleave(torch.tensor([2**62, 2**62]))",
    "F.adaptive_avg_pool1d(torch.ones(1, 1, 4), 2**32)",
    "F.adaptive_avg_pool2d(torch.ones(1, 1, 4, 4), 2**32)",
    "F.adaptive_max_pool1d(torch.ones(1, 1, 4), 2**32)",
    "F.adaptive_max_pool2d(torch.ones(1, 1, 4, 4), 2**32)",
    "F.adaptive_avg_pool3d(torch.ones(1, 1, 4, 4, 4), 2**32)",
    "F.adaptive_max_pool3d(torch.ones(1, 1, 4, 4, 4), (1, 1, 2**32))",
    "torch.tril_indices(2**33, 2**33)",
    "torch.zeros(1).expand(2**40).clone()",
)
LIMITED = """
import resource, torch
import torch.nn.functional as F
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
"""


def run(program: str) -> None:
    """In a process of its own: what hangs is an error after a minute."""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.skipif(sys.platform == "win32", reason="memory is limited by setrlimit")
def test_what_once_hung_ends() -> None:
    lines = [line[8:] for program in QUICK.values() for line in program.splitlines()]
    for call in REFUSED:
        lines += [
            "try:",
            f"    {call}",
            "except RuntimeError: pass",
            f"else: raise SystemExit({call!r} + ' was computed')",
        ]
    run(LIMITED + "\n".join(lines))


INTERRUPTED = """
import signal, time, torch
signal.signal(signal.SIGALRM, signal.default_int_handler)
x, leaf = torch.rand(2**19), torch.rand(100, requires_grad=True)


def repeat(call):
    while True:
        call()


def sleep_in_hook():
    y = leaf * 2
    y.register_hook(lambda grad: time.sleep(1000))
    y.sum().backward()


for call in (
    lambda: (x.expand(4, -1).sort(), time.sleep(1000)),
    lambda: repeat(lambda: torch.ones(3).add_(1)),
    lambda: repeat(lambda: (leaf * 2).sum().backward()),
    sleep_in_hook,
):
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        call()
    except KeyboardInterrupt:
        continue
    raise SystemExit("was not interrupted")
(leaf * 2).sum().backward()
assert (torch.ones(2) * 2).tolist() == [2, 2]
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGALRM")
def test_an_interrupt_ends_what_runs() -> None:
    """A kernel first returns; then, as between operations and in hooks, KeyboardInterrupt."""
    run(INTERRUPTED)
