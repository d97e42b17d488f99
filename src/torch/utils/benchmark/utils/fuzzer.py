"""Random shapes and tensors to measure with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["FuzzedParameter", "FuzzedTensor", "Fuzzer", "ParameterAlias"]

_DISTRIBUTIONS = ("loguniform", "uniform")


class ParameterAlias:
    """As a value of a distribution: what another parameter is."""

    def __init__(self, alias_to: str) -> None:
        self.alias_to = alias_to

    def __repr__(self) -> str:
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedParameter:
    """A number that is drawn: "uniform" or "loguniform" from `minval` to `maxval`, or from {value: probability}.

    `strict` asks that the probabilities sum to one; others are scaled so that they do.
    """

    def __init__(
        self,
        name: str,
        minval: float | None = None,
        maxval: float | None = None,
        distribution: str | dict[Any, float] | None = None,
        strict: bool = False,
    ) -> None:
        self._name, self._minval, self._maxval = name, minval, maxval
        if distribution is None:
            raise AssertionError("`distribution` must be provided.")
        if isinstance(distribution, str):
            if distribution not in _DISTRIBUTIONS:
                raise AssertionError(f"Unknown distribution: {distribution}")
            if minval is None or maxval is None or minval > maxval or (distribution == "loguniform" and minval <= 0):
                raise AssertionError(f"{distribution}: minval and maxval must be in order, got {minval} and {maxval}")
            self._distribution: Any = distribution
        else:
            total = sum(distribution.values())
            if total <= 0 or min(distribution.values()) < 0:
                raise AssertionError("probabilities must not be negative, and not all be 0")
            if strict and abs(total - 1) > 1e-6:
                raise AssertionError("Distribution is not normalized")
            self._distribution = {value: share / total for value, share in distribution.items()}

    @property
    def name(self) -> str:
        """What it is called."""
        return self._name

    def sample(self, state: np.random.RandomState) -> Any:
        """A value; whole if both bounds are."""
        if isinstance(self._distribution, dict):
            values = list(self._distribution)
            return values[state.choice(len(values), p=list(self._distribution.values()))]
        low, high = self._minval, self._maxval
        assert low is not None
        assert high is not None
        whole = isinstance(low, int) and isinstance(high, int)
        if self._distribution == "uniform":
            return int(state.randint(low, int(high) + 1)) if whole else state.uniform(low, high)
        value = math.exp2(state.uniform(math.log2(low), math.log2(high)))
        return min(max(round(value), low), high) if whole else value


class FuzzedTensor:
    """A tensor whose sizes are numbers or names of parameters, in one of several layouts.

    `probability_contiguous` is that of row-major memory, others have their dimensions in another order; `steps`
    makes it a strided part of a larger one. Those with fewer than `min_elements` or more than `max_elements` (or
    bytes) are drawn again. `dim_parameter` names the parameter that says how many of the sizes count.
    """

    def __init__(
        self,
        name: str,
        size: tuple[str | int, ...],
        steps: tuple[str | int, ...] | None = None,
        probability_contiguous: float = 0.5,
        min_elements: int | None = None,
        max_elements: int | None = None,
        max_allocation_bytes: int | None = None,
        dim_parameter: str | None = None,
        roll_parameter: str | None = None,
        dtype: torch.dtype = torch.float32,
        cuda: bool = False,
        tensor_constructor: Callable[..., torch.Tensor] | None = None,
    ) -> None:
        self._name, self._size, self._steps = name, size, steps
        self._probability_contiguous, self._min_elements, self._max_elements = (
            probability_contiguous,
            min_elements,
            max_elements,
        )
        self._max_allocation_bytes, self._dim_parameter, self._roll_parameter = (
            max_allocation_bytes,
            dim_parameter,
            roll_parameter,
        )
        self._dtype, self._cuda = dtype, cuda
        self._tensor_constructor = tensor_constructor or self.default_tensor_constructor

    @property
    def name(self) -> str:
        """What it is called."""
        return self._name

    @staticmethod
    def default_tensor_constructor(size: tuple[int, ...], dtype: torch.dtype, **kwargs: Any) -> torch.Tensor:
        """Random numbers: normal ones, or whole ones from 0 to 126."""
        if dtype.is_floating_point or dtype.is_complex:
            return torch.rand(size=size, dtype=dtype, device="cpu")
        return torch.randint(0, 127, size=size, dtype=dtype, device="cpu")

    def _sizes_of(self, params: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Its shape, its steps, and the shape in memory."""

        def resolve(values: tuple[str | int, ...], dim: int) -> tuple[int, ...]:
            numbers = tuple(params.get(value, value) for value in values)[:dim]
            return numbers + (1,) * (dim - len(numbers))

        dim = len(self._size) if self._dim_parameter is None else params[self._dim_parameter]
        size, steps = resolve(self._size, dim), resolve(self._steps or (), dim)
        return size, steps, tuple(a * b for a, b in zip(size, steps, strict=True))

    def satisfies_constraints(self, params: dict[str, Any]) -> bool:
        """Whether it is neither too small nor too large."""
        size, _, allocation = self._sizes_of(params)
        limits = (
            self._min_elements is not None and math.prod(size) < self._min_elements,
            self._max_elements is not None and math.prod(size) > self._max_elements,
            self._max_allocation_bytes is not None
            and math.prod(allocation) * self._dtype.itemsize > self._max_allocation_bytes,
        )
        return not any(limits)

    def _make_tensor(self, params: dict[str, Any], state: np.random.RandomState) -> tuple[torch.Tensor, dict[str, Any]]:
        """The tensor, and what is known of it."""
        size, steps, allocation = self._sizes_of(params)
        dim = len(size)
        raw = self._tensor_constructor(size=allocation, dtype=self._dtype, **params)
        if self._cuda:
            raw = raw.cuda()
        order = np.arange(dim)
        if dim > 1 and state.rand() > self._probability_contiguous:
            while dim > 1 and np.all(order == np.arange(dim)):
                order = state.permutation(raw.dim())
            raw = raw.permute(tuple(order)).contiguous()
            raw = raw.permute(tuple(np.argsort(order)))
        tensor = raw[tuple(slice(None, length * step, step) for length, step in zip(size, steps, strict=True))]
        if self._roll_parameter is not None:
            tensor = tensor.roll(params[self._roll_parameter])
        properties = {
            "numel": tensor.numel(),
            "order": order,
            "steps": steps,
            "is_contiguous": tensor.is_contiguous(),
            "dtype": str(self._dtype),
        }
        return tensor, properties


class Fuzzer:
    """Draws parameters and makes tensors of them, as long as `constraints(**parameters)` hold.

    >>> from torch.utils.benchmark import FuzzedParameter, FuzzedTensor, Fuzzer
    >>> sizes = FuzzedParameter("n", 4, 64, "loguniform")
    >>> fuzzer = Fuzzer([sizes], [FuzzedTensor("x", size=("n", "n"))], seed=0)
    >>> [tensors["x"].dim() for tensors, properties, parameters in fuzzer.take(2)]
    [2, 2]
    """

    def __init__(
        self,
        parameters: list[Any],
        tensors: list[Any],
        constraints: list[Callable[..., bool]] | None = None,
        seed: int | None = None,
    ) -> None:
        self._seed = np.random.RandomState().randint(0, 2**32 - 1, dtype=np.int64) if seed is None else seed
        self._parameters: list[FuzzedParameter] = self._flat(parameters, FuzzedParameter)
        self._tensors: list[Any] = self._flat(tensors, FuzzedTensor)
        self._constraints = tuple(constraints or ())
        names = [item.name for item in (*self._parameters, *self._tensors)]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"Duplicate name: {name}")
        self._rejections = self._total_generated = 0

    @staticmethod
    def _flat(values: list[Any], kind: type) -> list[Any]:
        flat = [item for value in values for item in (value if isinstance(value, (list, tuple)) else [value])]
        for value in flat:
            if not isinstance(value, kind):
                raise TypeError(f"Expected {kind.__name__}s, got {type(value).__name__}")
        return flat

    @property
    def rejection_rate(self) -> float:
        """The share of what was drawn that did not hold the constraints."""
        return self._rejections / self._total_generated if self._total_generated else 0.0

    def take(self, n: int) -> Iterator[tuple[dict[str, torch.Tensor], dict[str, Any], dict[str, Any]]]:
        """`n` times: tensors by name, what is known of them by name, and parameters by name.

        The same seed gives the same shapes and layouts.
        """
        state = np.random.RandomState(self._seed)
        torch.manual_seed(int(state.randint(low=0, high=2**31)))
        for _ in range(n):
            params = self._draw(state)
            made = {tensor.name: tensor._make_tensor(params, state) for tensor in self._tensors}
            yield (
                {name: tensor for name, (tensor, _) in made.items()},
                {name: properties for name, (_, properties) in made.items()},
                params,
            )

    def _draw(self, state: np.random.RandomState) -> dict[str, Any]:
        for _ in range(1000):
            self._total_generated += 1
            params = {parameter.name: parameter.sample(state) for parameter in self._parameters}
            for _ in range(len(params)):  # an alias may be of an alias
                params = {
                    name: params[value.alias_to] if isinstance(value, ParameterAlias) else value
                    for name, value in params.items()
                }
            if all(constraint(params) for constraint in self._constraints) and all(
                tensor.satisfies_constraints(params) for tensor in self._tensors
            ):
                return params
            self._rejections += 1
        raise ValueError("Failed to generate a set of valid parameters.")
