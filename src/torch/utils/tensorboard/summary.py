"""Messages for TensorBoard's files."""

from __future__ import annotations

import io
from typing import Any

import numpy
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.hparams.api_pb2 import Experiment, HParamInfo, MetricInfo, MetricName, Status
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo, SessionStartInfo

import torch

__all__ = ["histogram", "hparams", "image", "scalar", "text"]


def make_array(value: Any) -> Any:
    """A tensor, an array or a number as an array."""
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        return (value.float() if value.dtype is torch.bfloat16 else value).numpy()
    return numpy.asarray(value)


def scalar(tag: str, value: Any) -> Summary:
    """A number under a name."""
    array = make_array(value).squeeze()
    if array.ndim != 0:
        raise AssertionError(f"Tensor should contain one element (0 dimensions). Was given size: {array.size}")
    return Summary(value=[Summary.Value(tag=tag, simple_value=float(array))])


def histogram(tag: str, values: Any, bins: Any = "tensorflow", max_bins: int | None = None) -> Summary:
    """How often values lie in which interval."""
    array = make_array(values).astype(float).reshape(-1)
    if array.size == 0:
        raise ValueError("The input has no element.")
    if bins == "tensorflow":
        steps = numpy.cumprod([1e-12, *[1.1] * 773])  # up to 1e20
        edges = numpy.concatenate([-steps[::-1], [0], steps])
    else:
        edges = bins
    counts, limits = numpy.histogram(array, bins=edges)
    if max_bins is not None and len(counts) > max_bins:
        counts, limits = numpy.histogram(array, bins=max_bins)
    used = numpy.nonzero(counts)[0]
    first, last = used[0], used[-1] + 1
    proto = HistogramProto(
        min=array.min(),
        max=array.max(),
        num=len(array),
        sum=array.sum(),
        sum_squares=array.dot(array),
        bucket_limit=limits[first : last + 1].tolist(),
        bucket=[0, *counts[first:last].tolist()],
    )
    return Summary(value=[Summary.Value(tag=tag, histo=proto)])


def image(tag: str, tensor: Any, rescale: float = 1, dataformats: str = "CHW") -> Summary:
    """A picture: values of 0 to 255 (uint8), or of 0 to 1."""
    from PIL import Image

    array = make_array(tensor)
    letters = dataformats.upper()
    if array.ndim != len(letters):
        raise AssertionError(
            f"size of input tensor and input format are different. tensor shape: {array.shape}, "
            f"input_format: {dataformats}"
        )
    if "N" in letters:
        array = numpy.moveaxis(array, letters.index("N"), 0)
        kept = letters.replace("N", "")
        array = numpy.concatenate([_as_height_width_channels(part, kept) for part in array], axis=1)
    else:
        array = _as_height_width_channels(array, letters)
    scale = 1 if array.dtype == numpy.uint8 else 255
    pixels = (array.astype(numpy.float32) * scale).clip(0, 255).astype(numpy.uint8)
    if pixels.shape[2] == 1:
        pixels = pixels.repeat(3, axis=2)
    height, width, channels = pixels.shape
    picture = Image.fromarray(pixels).resize((int(width * rescale), int(height * rescale)))
    file = io.BytesIO()
    picture.save(file, format="PNG")
    proto = Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue())
    return Summary(value=[Summary.Value(tag=tag, image=proto)])


def _as_height_width_channels(array: Any, letters: str) -> Any:
    if "C" not in letters:
        array, letters = array[..., None], letters + "C"
    return array.transpose([letters.index(letter) for letter in "HWC"])


def text(tag: str, value: str) -> Summary:
    """A text, which TensorBoard reads as Markdown."""
    plugin = SummaryMetadata.PluginData(plugin_name="text", content=b"")
    tensor = TensorProto(
        dtype="DT_STRING",
        string_val=[value.encode("utf-8")],
        tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)]),
    )
    metadata = SummaryMetadata(plugin_data=plugin)
    return Summary(value=[Summary.Value(tag=f"{tag}/text_summary", metadata=metadata, tensor=tensor)])


def hparams(
    hparam_dict: dict[str, Any], metric_dict: dict[str, Any], hparam_domain_discrete: Any = None
) -> tuple[Summary, Summary, Summary]:
    """The parameters of a run and the names of what is measured: the experiment, its start, its end."""
    if not isinstance(hparam_dict, dict) or not isinstance(metric_dict, dict):
        raise TypeError("hparam_dict and metric_dict should be dictionaries")

    def wrap(content: HParamsPluginData, tag: str) -> Summary:
        data = SummaryMetadata.PluginData(plugin_name="hparams", content=content.SerializeToString())
        return Summary(value=[Summary.Value(tag=tag, metadata=SummaryMetadata(plugin_data=data))])

    start = SessionStartInfo()
    infos = []
    for name, value in hparam_dict.items():
        if isinstance(value, torch.Tensor):
            value = value.item()
        if isinstance(value, bool):
            start.hparams[name].bool_value = value
            kind = "DATA_TYPE_BOOL"
        elif isinstance(value, (int, float)):
            start.hparams[name].number_value = value
            kind = "DATA_TYPE_FLOAT64"
        elif isinstance(value, str):
            start.hparams[name].string_value = value
            kind = "DATA_TYPE_STRING"
        else:
            raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
        infos.append(HParamInfo(name=name, type=kind))
    metrics = [MetricInfo(name=MetricName(tag=name)) for name in metric_dict]
    experiment = HParamsPluginData(experiment=Experiment(hparam_infos=infos, metric_infos=metrics))
    end = SessionEndInfo(status=Status.Value("STATUS_SUCCESS"))
    return (
        wrap(experiment, "_hparams_/experiment"),
        wrap(HParamsPluginData(session_start_info=start), "_hparams_/session_start_info"),
        wrap(HParamsPluginData(session_end_info=end), "_hparams_/session_end_info"),
    )
