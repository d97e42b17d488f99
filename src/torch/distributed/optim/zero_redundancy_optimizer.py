"""`ZeroRedundancyOptimizer`: every process keeps the optimizer's state of a part of the parameters only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _unavailable
from torch.distributed import REASON
from torch.distributed._groups import find_group
from torch.distributed._objects import gather_object
from torch.optim import Optimizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch import Tensor

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer of `optimizer_class` whose state is spread over the processes.

    Each takes the steps of its own part of the parameters (as even as their sizes allow) and sends them to the others.
    `defaults` are the optimizer's own options. All processes call `step` with the same gradients, as they are under
    DistributedDataParallel.

    Example::

        optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=0.01)
    """

    def __init__(
        self,
        params: Iterable[Any],
        optimizer_class: type[Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise RuntimeError("overlap_with_ddp=True is not supported: steps are taken when backward has ended")
        self.process_group = find_group(process_group)
        self._class, self._options = optimizer_class, defaults
        self._everything: list[Any] = []
        self.optim: Any = None
        super().__init__(params, defaults)
        self._divide()

    def _divide(self) -> None:
        """Gives each parameter, the largest first, to who has least; makes this process's optimizer."""
        members, own = self.process_group.size(), self.process_group.rank()
        filled = [0] * members
        self._owners: dict[Tensor, int] = {}
        for group in self.param_groups:
            for parameter in sorted(group["params"], key=lambda each: -each.numel()):
                owner = filled.index(min(filled))
                filled[owner] += parameter.numel()
                self._owners[parameter] = owner
        groups = [
            {**group, "params": [each for each in group["params"] if self._owners[each] == own]}
            for group in self.param_groups
        ]
        if self.optim is not None:  # a group was added: what is known of the others stays
            known = self.optim.state
        self.optim, before = self._class(groups, **self._options), self.optim
        if before is not None:
            self.optim.state.update(known)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with options of their own, which are divided, too."""
        super().add_param_group(param_group)
        if self.optim is not None:
            self._divide()

    def step(self, closure: Callable[[], float] | None = None, **kwargs: Any) -> Any:
        """One step of all parameters, each by its process."""
        for ours, own in zip(self.param_groups, self.optim.param_groups, strict=True):
            own.update({key: value for key, value in ours.items() if key != "params"})
        answer = self.optim.step(closure, **kwargs) if closure is not None else self.optim.step(**kwargs)
        by_owner: dict[tuple[int, torch.dtype], list[Tensor]] = {}
        for parameter, owner in self._owners.items():
            by_owner.setdefault((owner, parameter.dtype), []).append(parameter.detach())
        flats = [
            (torch.cat([each.reshape(-1) for each in group]), owner, group) for (owner, _), group in by_owner.items()
        ]
        works = [self.process_group.broadcast(flat, owner, async_op=True) for flat, owner, _ in flats]
        for work, (flat, owner, group) in zip(works, flats, strict=True):
            assert work is not None
            work.wait()
            if owner != self.process_group.rank():
                for each, part in zip(group, flat.split([each.numel() for each in group]), strict=True):
                    each.copy_(part.view(each.shape))
        return answer

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Brings the state of all to a member, whose `state_dict()` has it then. All members call it."""
        parts: list[Any] | None = [None] * self.process_group.size() if self.process_group.rank() == to else None
        gather_object(self.optim.state_dict(), parts, group=self.process_group, group_dst=to)
        self._everything = parts or []

    def _places(self, owner: int) -> list[int]:
        """The numbers, in the whole, of the parameters of a member, in its own order."""
        everything = [each for group in self.param_groups for each in group["params"]]
        return [number for number, each in enumerate(everything) if self._owners[each] == owner]

    def state_dict(self) -> dict[str, Any]:
        """The whole state, as the optimizer would have it alone. RuntimeError unless it was consolidated here."""
        if not self._everything:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. "
                f"Please call `consolidate_state_dict(to={self.process_group.rank()})` on all ranks beforehand"
            )
        whole = super().state_dict()
        whole["state"] = {
            place: part["state"][number]
            for owner, part in enumerate(self._everything)
            for number, place in enumerate(self._places(owner))
            if number in part["state"]
        }
        return whole

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes this process's part of a whole state."""
        own = self._places(self.process_group.rank())
        part = self.optim.state_dict()
        part["state"] = {
            number: state_dict["state"][place] for number, place in enumerate(own) if place in state_dict["state"]
        }
        for mine, theirs in zip(part["param_groups"], state_dict["param_groups"], strict=True):
            mine.update({key: value for key, value in theirs.items() if key != "params"})
        self.optim.load_state_dict(part)
        for ours, theirs in zip(self.param_groups, state_dict["param_groups"], strict=True):
            ours.update({key: value for key, value in theirs.items() if key != "params"})


__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
