"""`ONNXProgram`: what an export gives, to be saved, run or changed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.onnx._graph import ELEMENT_TYPES, as_stored, real_dtype
from torch.onnx._packages import require
from torch.onnx.errors import OnnxExporterError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from torch.onnx._graph import Graph, Node

# A protobuf message is smaller than 2 GiB; the rest of a model needs room, too.
_LARGEST = 2**31 - 2**24
_EXTERNAL_FROM = 1024  # bytes of a tensor that is worth a place in another file


class Port:
    """An input or an output: its name, dtype and sizes, names for dynamic ones."""

    def __init__(self, name: str, dtype: torch.dtype, shape: Sequence[int | str]) -> None:
        self.name, self.dtype, self.shape = name, dtype, list(shape)

    def message(self, onnx: Any) -> Any:
        """A ValueInfoProto; complex numbers are pairs."""
        shape = [*self.shape, 2] if self.dtype.is_complex else self.shape
        return onnx.helper.make_tensor_value_info(self.name, ELEMENT_TYPES[real_dtype(self.dtype)], shape)

    def read(self, result: Any) -> Tensor:
        """What a runtime gave, as a tensor."""
        tensor = torch.as_tensor(result)
        return torch.view_as_complex(tensor) if self.dtype.is_complex else tensor


class ONNXProgram:
    """A model in ONNX: `save(path)` writes it, a call runs it with onnxruntime, `model_proto` is its message."""

    def __init__(
        self, graph: Graph, inputs: list[Port], outputs: list[Port], flatten: Callable[..., list[Tensor]]
    ) -> None:
        self._graph, self._inputs, self._outputs, self._flatten = graph, inputs, outputs, flatten
        self._session: Any = None
        self.exported_program = None

    def __repr__(self) -> str:
        ports = "\n".join(
            f"    {kind} {port.name}: {str(port.dtype).removeprefix('torch.')}{port.shape}"
            for kind, ports in (("input", self._inputs), ("output", self._outputs))
            for port in ports
        )
        return f"ONNXProgram(opset {self._graph.opset}, {len(self._graph.nodes)} nodes,\n{ports}\n)"

    # ------------------------------------------------------------------ messages

    @property
    def model_proto(self) -> Any:
        """The `onnx.ModelProto`, weights included; OnnxExporterError if they are more than a message can hold."""
        self._refuse_too_large()
        return self._message()

    def _refuse_too_large(self) -> None:
        if self._bytes() > _LARGEST:
            raise OnnxExporterError(
                f"the weights are {self._bytes()} bytes, more than one message's 2 GiB: save(path) with external data"
            )

    def _bytes(self) -> int:
        return sum(each.numel() * each.element_size() for each in self._graph.initializers.values())

    def _message(
        self, weights: bool = True, as_inputs: bool = False, places: dict[str, tuple[str, int, int]] | None = None
    ) -> Any:
        """The message. `places`: initializers that lie in another file, as (file, offset, length)."""
        onnx = require("onnx", "torch.onnx.export")
        tensors = [
            self._tensor(onnx, name, tensor, (places or {}).get(name))
            for name, tensor in self._graph.initializers.items()
        ]
        shown = (
            [Port(name, tensor.dtype, tensor.shape) for name, tensor in self._graph.initializers.items()]
            if as_inputs or not weights
            else []
        )
        nodes = [self._node(onnx, node) for node in self._graph.nodes]
        inputs, outputs = ([port.message(onnx) for port in ports] for ports in ([*self._inputs, *shown], self._outputs))
        graph = onnx.helper.make_graph(nodes, "main_graph", inputs, outputs, tensors if weights else [])
        opsets = [onnx.helper.make_opsetid("", self._graph.opset)]
        opsets += [onnx.helper.make_opsetid(domain, version) for domain, version in sorted(self._graph.domains.items())]
        return onnx.helper.make_model(
            graph,
            producer_name="pytorch",
            producer_version=torch.__version__,
            opset_imports=opsets,
            ir_version=max(8, onnx.helper.find_min_ir_version_for(opsets[:1])),
        )

    @staticmethod
    def _node(onnx: Any, node: Node) -> Any:
        attributes = {
            name: ProgramTensor.message(onnx, "", value) if isinstance(value, Tensor) else value
            for name, value in node.attributes.items()
        }
        return onnx.helper.make_node(
            node.op,
            node.inputs,
            node.outputs,
            name=f"node_{node.outputs[0]}",
            domain=node.domain,
            doc_string=node.location,
            **attributes,
        )

    @staticmethod
    def _tensor(onnx: Any, name: str, tensor: Tensor, place: tuple[str, int, int] | None) -> Any:
        if place is None:
            return ProgramTensor.message(onnx, name, tensor)
        message = onnx.TensorProto(name=name, dims=list(tensor.shape), data_type=ELEMENT_TYPES[tensor.dtype])
        message.data_location = onnx.TensorProto.EXTERNAL
        for key, value in zip(("location", "offset", "length"), place, strict=True):
            message.external_data.add(key=key, value=str(value))
        return message

    # ------------------------------------------------------------------ saving

    def save(
        self,
        destination: str | os.PathLike[str],
        *,
        include_initializers: bool = True,
        keep_initializers_as_inputs: bool = False,
        external_data: bool | None = None,
    ) -> None:
        """Writes the model; weights to `destination`.data with `external_data`, or where a message cannot hold them."""
        path = Path(destination)
        places: dict[str, tuple[str, int, int]] = {}
        if external_data is None:
            external_data = self._bytes() > _LARGEST
        if include_initializers and external_data:
            places = self._write_data(path.with_name(path.name + ".data"))
        elif include_initializers:
            self._refuse_too_large()
        message = self._message(include_initializers, keep_initializers_as_inputs, places)
        with path.open("wb") as file:
            file.write(message.SerializeToString())

    def _write_data(self, path: Path) -> dict[str, tuple[str, int, int]]:
        places = {}
        with path.open("wb") as file:
            for name, tensor in self._graph.initializers.items():
                data = ProgramTensor.array_of(tensor)
                if data.nbytes >= _EXTERNAL_FROM:
                    file.write(b"\0" * (-file.tell() % 4096))
                    places[name] = path.name, file.tell(), data.nbytes
                    file.write(data)
        if not places:
            path.unlink()
        return places

    def check(self) -> None:
        """OnnxExporterError if `onnx.checker` finds a mistake: one of ours, or of a custom translation."""
        onnx = require("onnx", "torch.onnx.export")
        if self._bytes() > _LARGEST:
            return  # the checker wants one message
        try:
            onnx.checker.check_model(self._message(), full_check=not self._graph.domains)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
            raise OnnxExporterError(f"the exported graph is not valid: {error}") from error

    # ------------------------------------------------------------------ running

    def initialize_inference_session(self, initializer: Callable[[Any], Any] | None = None) -> None:
        """Makes the onnxruntime session that calls use; `initializer` gets the serialized model.

        Where that is more than a message can hold, it gets the path of a file that is there for as long as it runs.
        """
        if initializer is None:
            runtime = require("onnxruntime", "running an ONNXProgram")

            def initializer(model: Any) -> Any:
                return runtime.InferenceSession(model, providers=["CPUExecutionProvider"])

        if self._bytes() <= _LARGEST:
            self._session = initializer(self._message().SerializeToString())
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.onnx")
            self.save(path, external_data=True)
            self._session = initializer(str(path))

    def __call__(self, *args: Any, **kwargs: Any) -> list[Tensor]:
        """The outputs for the model's own arguments, computed by onnxruntime."""
        if self._session is None:
            self.initialize_inference_session()
        feeds = self._feeds(args, kwargs)
        wanted = {each.name for each in self._session.get_inputs()}
        results = self._session.run(None, {name: value for name, value in feeds.items() if name in wanted})
        return [port.read(each.copy()) for port, each in zip(self._outputs, results, strict=True)]

    def call_reference(self, *args: Any, **kwargs: Any) -> list[Tensor]:
        """The outputs as the onnx package's own, slow evaluator computes them."""
        reference = require("onnx.reference", "ONNXProgram.call_reference")
        results = reference.ReferenceEvaluator(self.model_proto).run(None, self._feeds(args, kwargs))
        return [port.read(each) for port, each in zip(self._outputs, results, strict=True)]

    def _feeds(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        tensors = self._flatten(args, kwargs)
        if len(tensors) != len(self._inputs):
            raise TypeError(
                f"expected {len(self._inputs)} tensors ({[port.name for port in self._inputs]}), got {len(tensors)}"
            )
        stored = [as_stored(tensor.detach()).cpu().numpy() for tensor in tensors]
        return {port.name: tensor for port, tensor in zip(self._inputs, stored, strict=True)}

    # ------------------------------------------------------------------ changing

    def apply_weights(self, state_dict: dict[str, Tensor]) -> None:
        """Replaces initializers by the tensors of these names; names that the model does not have are left out."""
        for name, tensor in state_dict.items():
            current = self._graph.initializers.get(name)
            if current is None:
                continue
            tensor = as_stored(tensor.detach())
            if current.shape != tensor.shape or current.dtype != tensor.dtype:
                raise ValueError(
                    f"{name} is {tensor.dtype} of shape {tuple(tensor.shape)}, the model's is {current.dtype} of shape "
                    f"{tuple(current.shape)}"
                )
            self._graph.initializers[name] = tensor
        self._session = None

    def rename_axes(self, rename_mapping: dict[Any, str]) -> None:
        """Other names for dynamic axes."""
        for port in [*self._inputs, *self._outputs]:
            port.shape = [rename_mapping.get(each, each) for each in port.shape]
        self._session = None

    def optimize(self) -> None:
        """Nothing more to do: nodes that nothing uses are gone, constants are folded."""

    def release(self) -> None:
        """Lets the onnxruntime session go."""
        self._session = None


class ProgramTensor:
    """Tensors as ONNX has them."""

    @staticmethod
    def array_of(tensor: Tensor) -> Any:
        """The elements, row by row: an array of NumPy that has no memory of its own where that can be."""
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        if flat.dtype == torch.bfloat16:
            flat = flat.view(torch.int16)
        return flat.numpy()

    @staticmethod
    def message(onnx: Any, name: str, tensor: Tensor) -> Any:
        """A TensorProto."""
        if tensor.dtype not in ELEMENT_TYPES:
            raise OnnxExporterError(f"ONNX has no {tensor.dtype}")
        return onnx.TensorProto(
            name=name,
            dims=list(tensor.shape),
            data_type=ELEMENT_TYPES[tensor.dtype],
            raw_data=ProgramTensor.array_of(tensor).tobytes(),
        )
