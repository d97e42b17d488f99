"""Groups of processes and their collectives, under PyTorch's name for the module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import _unavailable
from torch.distributed import REASON
from torch.distributed._collectives import (
    P2POp,
    all_gather,
    all_gather_into_tensor,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    batch_isend_irecv,
    broadcast,
    gather,
    irecv,
    isend,
    monitored_barrier,
    recv,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
    send,
)
from torch.distributed._errors import DistBackendError, DistError, DistNetworkError, DistStoreError
from torch.distributed._file_store import FileStore
from torch.distributed._groups import (
    Backend,
    GroupMember,
    ReduceOp,
    destroy_process_group,
    find_group as _get_default_group,
    get_backend,
    get_backend_config,
    get_global_rank,
    get_global_rank as _get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_backend_available,
    is_initialized,
    new_group,
    new_subgroups,
    new_subgroups_by_enumeration,
)
from torch.distributed._host_groups import ProcessGroupGloo, ProcessGroupMPI
from torch.distributed._objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from torch.distributed._process_group import ProcessGroup
from torch.distributed._store import HashStore, PrefixStore, Store
from torch.distributed._tcp_store import TCPStore
from torch.distributed._work import Work
from torch.distributed.constants import default_pg_timeout
from torch.distributed.rendezvous import register_rendezvous_handler, rendezvous

if TYPE_CHECKING:
    from torch.distributed._nccl import ProcessGroupNCCL

# PyTorch's names of today for the same.
all_gather_single = all_gather_into_tensor
reduce_scatter_single = reduce_scatter_tensor

__all__ = [
    "Backend",
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "FileStore",
    "GroupMember",
    "HashStore",
    "P2POp",
    "PrefixStore",
    "ProcessGroup",
    "ProcessGroupGloo",
    "ProcessGroupMPI",
    "ProcessGroupNCCL",
    "ReduceOp",
    "Store",
    "TCPStore",
    "Work",
    "_get_default_group",
    "_get_global_rank",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_gather_single",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "default_pg_timeout",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_backend_config",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_pg_count",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "irecv",
    "is_backend_available",
    "is_initialized",
    "isend",
    "monitored_barrier",
    "new_group",
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_single",
    "reduce_scatter_tensor",
    "register_rendezvous_handler",
    "rendezvous",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
]

_unavailable_name = _unavailable.define(__name__, REASON, RuntimeError)


def __getattr__(name: str) -> Any:
    if name == "ProcessGroupNCCL":
        from torch.distributed._nccl import ProcessGroupNCCL

        return ProcessGroupNCCL
    return _unavailable_name(name)
