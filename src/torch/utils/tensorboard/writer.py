"""`SummaryWriter`: what programs call."""

from __future__ import annotations

import os
import socket
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from torch.utils.tensorboard import summary as messages

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """Writes messages into a folder's file of events."""

    def __init__(self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return self.event_writer.get_logdir()  # type: ignore[no-any-return]

    def add_event(self, event: Event, step: int | None = None, walltime: float | None = None) -> None:
        """An event at a step and a time (default: now)."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """A message of `torch.utils.tensorboard.summary`."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Writes what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Ends the file."""
        self.event_writer.close()


class SummaryWriter:
    """Writes numbers, pictures and texts under names ("loss/train") into `log_dir`, which TensorBoard shows.

    The default is runs/DATE_TIME_HOST and `comment`.
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")  # noqa: PTH118
        self.log_dir = str(log_dir)
        self.purge_step = purge_step
        self._options = (max_queue, flush_secs, filename_suffix)
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] = {}
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        if self.file_writer is None:
            self.file_writer = FileWriter(self.log_dir, *self._options)
            self.all_writers = {self.log_dir: self.file_writer}
            if self.purge_step is not None:
                status = SessionLog(status=SessionLog.START)
                self.file_writer.add_event(Event(step=self.purge_step, session_log=status), self.purge_step)
        return self.file_writer

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """A number."""
        self._get_file_writer().add_summary(messages.scalar(tag, scalar_value), global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: dict[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Several numbers in one diagram; each has a folder of its own."""
        self._get_file_writer()
        for tag, value in tag_scalar_dict.items():
            folder = f"{self.log_dir}/{main_tag.replace('/', '_')}_{tag}"
            if folder not in self.all_writers:
                self.all_writers[folder] = FileWriter(folder, *self._options)
            self.all_writers[folder].add_summary(messages.scalar(main_tag, value), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """The distribution of values."""
        self._get_file_writer().add_summary(messages.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """A picture; needs the package pillow."""
        self._get_file_writer().add_summary(
            messages.image(tag, img_tensor, dataformats=dataformats), global_step, walltime
        )

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Several pictures, side by side."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self, tag: str, figure: Any, global_step: int | None = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """A figure of matplotlib, or several as one picture."""
        import numpy

        figures = figure if isinstance(figure, list) else [figure]
        pictures = []
        for each in figures:
            each.canvas.draw()
            pictures.append(numpy.asarray(each.canvas.buffer_rgba())[..., :3])
            if close:
                import matplotlib.pyplot

                matplotlib.pyplot.close(each)
        self.add_images(tag, numpy.stack(pictures), global_step, walltime, dataformats="NHWC")

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """A text."""
        self._get_file_writer().add_summary(messages.text(tag, text_string), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: Any = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """The parameters of a run, and what came of it; in a folder of their own."""
        parts = messages.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = Path(self.log_dir) / (run_name or str(time.time()))
        with SummaryWriter(folder) as writer:
            for part in parts:
                writer._get_file_writer().add_summary(part)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Raises NotImplementedError: models are not traced into TensorBoard's graphs."""
        raise NotImplementedError(
            "SummaryWriter.add_graph is not supported: print torch.fx.symbolic_trace(model).graph"
        )

    def add_embedding(self, *args: Any, **kwargs: Any) -> None:
        """Raises NotImplementedError."""
        raise NotImplementedError("SummaryWriter.add_embedding is not supported")

    def flush(self) -> None:
        """Writes what waits."""
        for writer in self.all_writers.values():
            writer.flush()

    def close(self) -> None:
        """Ends the files."""
        for writer in self.all_writers.values():
            writer.flush()
            writer.close()
        self.file_writer, self.all_writers = None, {}

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
