"""`Reducer`: sums up gradients over processes while a backward pass goes on.

Parameters are put into buckets in the order in which their gradients are expected, the last one first. When all of a
bucket are there, they are copied into one tensor, and its sum is begun; the end of the pass waits for the sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor
    from torch.distributed._process_group import ProcessGroup
    from torch.futures import Future

FIRST_BUCKET_BYTES = 1 << 20
UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that "
    "your module has parameters that were not used in producing loss. You can enable unused parameter detection by "
    "passing the keyword argument `find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by "
    "making sure all `forward` function outputs participate in calculating loss."
)


class GradBucket:
    """Gradients of several parameters in one tensor, which is what communication hooks get."""

    def __init__(self, index: int, parameters: list[Tensor], is_last: bool) -> None:
        self._index, self._parameters, self._is_last = index, parameters, is_last
        elements = sum(parameter.numel() for parameter in parameters)
        self._buffer = torch.zeros(elements, dtype=parameters[0].dtype, device=parameters[0].device)
        self.ready = 0
        self.work: Any = None
        self._make_views()

    def _make_views(self) -> None:
        sizes = [parameter.numel() for parameter in self._parameters]
        parts = self._buffer.split(sizes)
        self.views = [part.view(parameter.shape) for part, parameter in zip(parts, self._parameters, strict=True)]

    def index(self) -> int:
        """Its number; they are sent in this order."""
        return self._index

    def buffer(self) -> Tensor:
        """All gradients, one behind the other."""
        return self._buffer

    def set_buffer(self, tensor: Tensor) -> None:
        """Takes another tensor in its place."""
        self._buffer = tensor
        self._make_views()

    def gradients(self) -> list[Tensor]:
        """A view of the tensor for each parameter."""
        return self.views

    def parameters(self) -> list[Tensor]:
        """Whose gradients they are."""
        return self._parameters

    def is_last(self) -> bool:
        """Whether no other follows."""
        return self._is_last


class Reducer:
    """Averages the gradients of parameters over a group, in every backward pass after `prepare()`."""

    def __init__(
        self, parameters: Sequence[Tensor], names: Sequence[str], group: ProcessGroup, bucket_bytes: int, *, views: bool
    ) -> None:
        self.group, self.names, self.as_views = group, list(names), views
        self.parameters = list(parameters)
        self.allow_unused = False
        self.divisor = group.size()
        self.hook: Callable[[Any, GradBucket], Future[Tensor]] | None = None
        self.hook_state: Any = None
        self.buckets, self.place = self._fill(bucket_bytes)
        self.used = [False] * len(self.parameters)
        self.expecting = self.queued = False
        self.next = 0
        self.unfinished: list[int] = []
        for index, parameter in enumerate(self.parameters):
            parameter.register_post_accumulate_grad_hook(lambda _, index=index: self._arrived(index))

    def _fill(self, bucket_bytes: int) -> tuple[list[GradBucket], dict[int, tuple[GradBucket, int]]]:
        """Buckets of one type and device each, and where each parameter is in them."""
        lists: list[list[int]] = []
        open_lists: dict[Any, list[int]] = {}
        for index in reversed(range(len(self.parameters))):
            parameter = self.parameters[index]
            kind = parameter.dtype, parameter.device
            members = open_lists.get(kind)
            if members is None:
                members = open_lists[kind] = []
                lists.append(members)
            members.append(index)
            filled = sum(self.parameters[member].numel() for member in members) * parameter.element_size()
            if filled >= (FIRST_BUCKET_BYTES if members is lists[0] else bucket_bytes):
                del open_lists[kind]
        buckets, place = [], {}
        for number, members in enumerate(lists):
            bucket = GradBucket(number, [self.parameters[member] for member in members], number == len(lists) - 1)
            buckets.append(bucket)
            place.update({member: (bucket, at) for at, member in enumerate(members)})
        return buckets, place

    def prepare(self) -> None:
        """Gradients of the next pass are averaged. RuntimeError if the last one has left out parameters."""
        if self.unfinished:
            indices = " ".join(map(str, self.unfinished))
            names = ", ".join(self.names[index] for index in self.unfinished)
            raise RuntimeError(
                f"{UNFINISHED}\nParameter indices which did not receive grad for rank {self.group.rank()}: "
                f"{indices} ({names})"
            )
        self.expecting = True

    def start(self) -> None:
        """A pass has begun that comes through the module: its end is waited for."""
        if not self.expecting or self.queued:
            return
        self.queued, self.next = True, 0
        self.used = [False] * len(self.parameters)
        for bucket in self.buckets:
            bucket.ready, bucket.work = 0, None
        torch.autograd.Variable._execution_engine.queue_callback(self._finish)

    def _arrived(self, index: int) -> None:
        if not self.expecting:
            return
        self.start()
        if self.used[index]:
            raise RuntimeError(
                f"Expected to mark a variable ready only once: parameter {self.names[index]} has got its gradient "
                "twice in one backward pass, of which the first is being averaged already"
            )
        self.used[index] = True
        bucket, at = self.place[index]
        self._take(bucket, at, self.parameters[index])
        bucket.ready += 1
        while self.next < len(self.buckets) and self.buckets[self.next].ready == len(self.buckets[self.next].views):
            self._send(self.buckets[self.next])
            self.next += 1

    def _take(self, bucket: GradBucket, at: int, parameter: Tensor) -> None:
        """Copies a gradient to its place; a hook divides by itself."""
        view, grad = bucket.views[at], parameter.grad
        assert grad is not None
        with torch.no_grad():
            if self.hook is not None:
                if grad.data_ptr() != view.data_ptr():
                    view.copy_(grad)
            else:
                torch.mul(grad.detach(), 1.0 / self.divisor, out=view)
            if self.as_views and grad.data_ptr() != view.data_ptr():
                parameter.grad = view

    def _send(self, bucket: GradBucket) -> None:
        if self.hook is not None:
            bucket.work = self.hook(self.hook_state, bucket)
        else:
            bucket.work = self.group.reduce(bucket.buffer(), "sum", None, async_op=True)

    def send_nothing(self) -> None:
        """Takes part in the sums of a pass that is not this process's: with zeros."""
        for bucket in self.buckets:
            bucket.buffer().zero_()
            self._send(bucket)
        if self.allow_unused:
            self._everybodys_use([False] * len(self.parameters))
        for bucket in self.buckets:
            bucket.work.wait()

    def _everybodys_use(self, used: list[bool]) -> list[bool]:
        """Which parameters any process has used."""
        flags = torch.tensor(used, dtype=torch.int32, device=self.parameters[0].device)
        self.group.reduce(flags, "max", None)
        return flags.tolist()

    def _finish(self) -> None:
        """The pass has ended: the sums become the gradients."""
        self.queued = self.expecting = False
        anywhere = self.used
        if not all(self.used) and not self.allow_unused:
            self.unfinished = [index for index, used in enumerate(self.used) if not used]
        else:
            for index, used in enumerate(self.used):
                if not used:
                    bucket, at = self.place[index]
                    if self.parameters[index].grad is None:
                        bucket.views[at].zero_()
                    else:  # of passes before, that were not averaged
                        self._take(bucket, at, self.parameters[index])
            for bucket in self.buckets[self.next :]:
                self._send(bucket)
            if self.allow_unused:
                anywhere = self._everybodys_use(self.used)
        for bucket in self.buckets:
            if bucket.work is not None:
                self._give_back(bucket, anywhere)

    def _give_back(self, bucket: GradBucket, used: list[bool]) -> None:
        answer = bucket.work.wait()
        if self.hook is not None:
            total = answer[0] if isinstance(answer, list | tuple) else answer
            if total.data_ptr() != bucket.buffer().data_ptr():
                bucket.buffer().copy_(total.view(-1))
        for index, (home, at) in self.place.items():
            if home is not bucket or not used[index]:
                continue  # one that nobody used keeps what it has
            parameter, view = self.parameters[index], bucket.views[at]
            if self.as_views:
                parameter.grad = view
            elif parameter.grad is None:
                parameter.grad = view.clone()
            else:
                with torch.no_grad():
                    parameter.grad.copy_(view)
