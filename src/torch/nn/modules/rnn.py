"""Recurrent layers and their cells."""

from __future__ import annotations

import math
import warnings
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import _C, _VF
from torch.nn import init
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter
from torch.nn.utils.rnn import PackedSequence

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """What `RNN`, `LSTM` and `GRU` share: weights of every layer and direction, checks, padded and packed inputs.

    mode: "RNN_TANH", "RNN_RELU", "LSTM" or "GRU"; the other options are those of `LSTM`.

    >>> sorted(torch.nn.RNNBase("GRU", 3, 5).state_dict())
    ['bias_hh_l0', 'bias_ih_l0', 'weight_hh_l0', 'weight_ih_l0']
    """

    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int
    _flat_weights: list[Any]
    _flat_weights_names: list[str]
    _all_weights: list[list[str]]

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check_options(dropout)
        gates = _GATES[mode] * hidden_size
        directions = 2 if bidirectional else 1
        output_size = proj_size if proj_size > 0 else hidden_size
        self._flat_weight_refs: list[Any] = []
        self._flat_weights_names = []
        self._all_weights = []
        for layer in range(num_layers):
            for direction in range(directions):
                features = input_size if layer == 0 else output_size * directions
                shapes = {"weight_ih": (gates, features), "weight_hh": (gates, output_size)}
                if bias:
                    shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}  # type: ignore[dict-item]
                if proj_size > 0:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                suffix = f"_l{layer}{'_reverse' if direction else ''}"
                for name, shape in shapes.items():
                    setattr(self, name + suffix, Parameter(torch.empty(shape, device=device, dtype=dtype)))
                names = [name + suffix for name in shapes]
                self._flat_weights_names.extend(names)
                self._all_weights.append(names)
        self._init_flat_weights()
        self.reset_parameters()

    def _check_options(self, dropout: Any) -> None:
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        for name, kind in (("bias", bool), ("batch_first", bool), ("input_size", int), ("hidden_size", int)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
        for name in ("input_size", "hidden_size", "num_layers"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + self.mode)

    def _init_flat_weights(self) -> None:
        """Lists the weights in the order of their names: programs that replace weights know this list."""
        self._flat_weights = [getattr(self, name, None) for name in self._flat_weights_names]
        self._flat_weight_refs = [None if value is None else weakref.ref(value) for value in self._flat_weights]
        self.flatten_parameters()

    def __setattr__(self, name: str, value: Any) -> None:
        names = self.__dict__.get("_flat_weights_names")
        if names is not None and name in names and "_flat_weights" in self.__dict__:
            self._flat_weights[names.index(name)] = value
        super().__setattr__(name, value)

    def flatten_parameters(self) -> None:
        """Does nothing: weights need not lie in one block of memory here."""

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        super()._apply(fn, recurse)
        self._init_flat_weights()
        return self

    def reset_parameters(self) -> None:
        """Draws all weights and biases anew, uniform in +-1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """RuntimeError for an input of other dimensions or features, ValueError for another dtype."""
        weight = self._flat_weights[0]
        if input.dtype != weight.dtype and not _C._is_any_autocast_enabled():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        expected = 3 if batch_sizes is None else 2
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _batch_size(self, input: Tensor, batch_sizes: Tensor | None) -> int:
        if batch_sizes is not None:
            return int(batch_sizes[0])
        return input.size(0 if self.batch_first else 1)

    def _state_size(self, batch: int, size: int) -> tuple[int, int, int]:
        return self.num_layers * (2 if self.bidirectional else 1), batch, size

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the first state: (layers * directions, batch, size)."""
        return self._state_size(self._batch_size(input, batch_sizes), self.proj_size or self.hidden_size)

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """RuntimeError for another shape of a state."""
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Checks input and state."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """States in another order of the batch."""
        return hx if permutation is None else _apply_permutation(hx, permutation)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of every layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def _first_states(self, input: Tensor, batch: int) -> Any:
        """What a sequence starts from where the caller gives nothing."""
        size = self._state_size(batch, self.proj_size or self.hidden_size)
        return torch.zeros(size, dtype=input.dtype, device=input.device)

    def _check_unbatched(self, hx: Any, batched: bool) -> None:
        if hx.dim() != (3 if batched else 2):
            kind, dims = ("batched 3-D", 3) if batched else ("unbatched 2-D", 2)
            raise RuntimeError(f"For {kind} input, hx should also be {dims}-D but got {hx.dim()}-D tensor")

    def _run(self, input: Tensor, hx: Any, batch_sizes: Tensor | None) -> tuple[Tensor, Any]:
        compute = getattr(_VF, self.mode.lower())
        options = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if batch_sizes is None:
            output, *last = compute(input, hx, *options, self.batch_first)
        else:
            output, *last = compute(input, batch_sizes, hx, *options)
        return output, tuple(last) if self.mode == "LSTM" else last[0]

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """(the outputs of the last layer at every step, the last states of all layers)."""
        if type(self) is RNNBase:
            raise NotImplementedError('Module [RNNBase] is missing the required "forward" function')
        if isinstance(input, PackedSequence):
            data, batch_sizes, order, back = input
            hx = self._first_states(data, int(batch_sizes[0])) if hx is None else self.permute_hidden(hx, order)
            self.check_forward_args(data, hx, batch_sizes)
            output, last = self._run(data, hx, batch_sizes)
            return PackedSequence(output, batch_sizes, order, back), self.permute_hidden(last, back)
        if input.dim() not in (2, 3):
            name = "RNN" if self.mode.startswith("RNN") else self.mode
            ending = "D tensor instead" if name == "RNN" else "D instead"
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {input.dim()}{ending}")
        batched = input.dim() == 3
        batch_dimension = 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(batch_dimension)
        if hx is None:
            hx = self._first_states(input, input.size(batch_dimension))
        else:
            self._check_unbatched(hx, batched)
            if not batched:
                hx = tuple(part.unsqueeze(1) for part in hx) if self.mode == "LSTM" else hx.unsqueeze(1)
        self.check_forward_args(input, hx, None)
        output, last = self._run(input, hx, None)
        if not batched:
            output = output.squeeze(batch_dimension)
            last = tuple(part.squeeze(1) for part in last) if self.mode == "LSTM" else last.squeeze(1)
        return output, last

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the weak references."""
        state = self.__dict__.copy()
        del state["_flat_weight_refs"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Fills what modules pickled by older versions lack."""
        super().__setstate__(state)
        if "all_weights" in state:
            self.__dict__["_all_weights"] = self.__dict__.pop("all_weights")
        self.__dict__.setdefault("proj_size", 0)
        if not isinstance(self._all_weights[0][0], str):
            directions = 2 if self.bidirectional else 1
            kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")[: 4 if self.bias else 2]
            self.__dict__["_all_weights"] = [
                [f"{kind}_l{layer}{'_reverse' if direction else ''}" for kind in kinds]
                for layer in range(self.num_layers)
                for direction in range(directions)
            ]
        self.__dict__["_flat_weights_names"] = [name for names in self._all_weights for name in names]
        self._init_flat_weights()


def _apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    return tensor.index_select(dim, permutation)


class RNN(RNNBase):
    """An Elman network: h' = tanh(W_ih x + b_ih + W_hh h + b_hh), layer upon layer, at every step of a sequence.

    `nonlinearity`: "tanh" or "relu"; the other options, shapes and results are those of `LSTM`, with h alone as state
    and no projection.

    >>> output, last = torch.nn.RNN(3, 5, num_layers=2)(torch.zeros(7, 4, 3))
    >>> output.shape, last.shape
    (torch.Size([7, 4, 5]), torch.Size([2, 4, 5]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            self.nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{self.nonlinearity.upper()}", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory, layer upon layer, at every step of a sequence.

    i, f, o = sigmoid(W x + b + V h + c), g = tanh(...); c' = f c + i g; h' = o tanh(c').

    LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0, bidirectional=False,
    proj_size=0): `dropout` is between layers, in training; `bidirectional` reads a sequence from both ends and joins
    the outputs; `proj_size` maps h to that size. The call takes (time, batch, input_size), (batch, time, input_size)
    with `batch_first`, (time, input_size), or a `PackedSequence`, and a first state (h, c), each (layers * directions,
    batch, size), zeros without; it gives (outputs (time, batch, directions * size), (h, c)). RuntimeError for other
    shapes. Weights are `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, and so on, `_reverse` for the
    other direction, uniform in +-1 / sqrt(hidden_size) at first.

    >>> output, (h, c) = torch.nn.LSTM(3, 5, batch_first=True, bidirectional=True)(torch.zeros(4, 7, 3))
    >>> output.shape, h.shape, c.shape
    (torch.Size([4, 7, 10]), torch.Size([2, 4, 5]), torch.Size([2, 4, 5]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the first c: (layers * directions, batch, hidden_size)."""
        return self._state_size(self._batch_size(input, batch_sizes), self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Checks input, h and c."""
        self.check_input(input, batch_sizes)
        expected = self.get_expected_hidden_size(input, batch_sizes)
        self.check_hidden_size(hidden[0], expected, "Expected hidden[0] size {}, got {}")
        expected = self.get_expected_cell_size(input, batch_sizes)
        self.check_hidden_size(hidden[1], expected, "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """(h, c) in another order of the batch."""
        return hx if permutation is None else tuple(_apply_permutation(part, permutation) for part in hx)

    def _first_states(self, input: Tensor, batch: int) -> Any:
        memory = torch.zeros(self._state_size(batch, self.hidden_size), dtype=input.dtype, device=input.device)
        return super()._first_states(input, batch), memory

    def _check_unbatched(self, hx: Any, batched: bool) -> None:
        if any(part.dim() != (3 if batched else 2) for part in hx):
            kind, dims = ("batched 3-D", 3) if batched else ("unbatched 2-D", 2)
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {dims}-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) "
                "tensors"
            )


class GRU(RNNBase):
    """Gated recurrent units, layer upon layer, at every step of a sequence.

    r, z = sigmoid(W x + b + V h + c); n = tanh(W x + b + r (V h + c)); h' = (1 - z) n + z h. Options, shapes and
    results are those of `LSTM`, with h alone as state and no projection.

    >>> output, last = torch.nn.GRU(3, 5)(torch.zeros(7, 4, 3))
    >>> output.shape, last.shape
    (torch.Size([7, 4, 5]), torch.Size([1, 4, 5]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """What the cells share: two weights and two biases, uniform in +-1 / sqrt(hidden_size) at first.

    >>> torch.nn.RNNCellBase(3, 5, bias=True, num_chunks=4).weight_ih.shape
    torch.Size([20, 3])
    """

    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        self.weight_ih = Parameter(torch.empty((gates, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(torch.empty((gates, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            value = Parameter(torch.empty(gates, device=device, dtype=dtype)) if bias else None
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weights and biases anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def _check_cell_input(self, input: Tensor) -> None:
        if input.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead")

    @property
    def _weights(self) -> tuple[Tensor | None, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _run_cell(self, cell: Callable[..., Tensor], input: Tensor, hx: Tensor | None) -> Tensor:
        self._check_cell_input(input)
        if hx is not None and hx.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected hidden to be 1D or 2D, got {hx.dim()}D instead")
        batched = input.dim() == 2
        rows = input if batched else input.unsqueeze(0)
        if hx is None:
            hx = torch.zeros(rows.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        elif not batched:
            hx = hx.unsqueeze(0)
        result = cell(rows, hx, *self._weights)
        return result if batched else result.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of an Elman network: (batch, input_size) and h (batch, hidden_size), zeros without, -> the next h.

    Both may lack the batch. `nonlinearity`: "tanh" or "relu".

    >>> torch.nn.RNNCell(3, 5)(torch.zeros(4, 3)).shape
    torch.Size([4, 5])
    """

    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next h."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._run_cell(getattr(_VF, f"rnn_{self.nonlinearity}_cell"), input, hx)


class LSTMCell(RNNCellBase):
    """One step of an LSTM: (batch, input_size) and (h, c), each (batch, hidden_size), -> the next (h, c).

    Without (h, c): zeros. All may lack the batch.

    >>> h, c = torch.nn.LSTMCell(3, 5)(torch.zeros(4, 3))
    >>> h.shape, c.shape
    (torch.Size([4, 5]), torch.Size([4, 5]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, ...]:
        """The next (h, c)."""
        self._check_cell_input(input)
        for number, part in enumerate(hx or ()):
            if part.dim() not in (1, 2):
                raise ValueError(f"LSTMCell: Expected hx[{number}] to be 1D or 2D, got {part.dim()}D instead")
        batched = input.dim() == 2
        rows = input if batched else input.unsqueeze(0)
        state: tuple[Tensor, ...]
        if hx is None:
            zeros = torch.zeros(rows.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            state = (zeros, zeros)
        else:
            state = tuple(hx) if batched else tuple(part.unsqueeze(0) for part in hx)
        result = _VF.lstm_cell(rows, state, *self._weights)
        return result if batched else tuple(part.squeeze(0) for part in result)


class GRUCell(RNNCellBase):
    """One step of a GRU: (batch, input_size) and h (batch, hidden_size), zeros without, -> the next h.

    Both may lack the batch.

    >>> torch.nn.GRUCell(3, 5)(torch.zeros(4, 3)).shape
    torch.Size([4, 5])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next h."""
        return self._run_cell(_VF.gru_cell, input, hx)
