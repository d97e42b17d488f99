"""Where PyTorch keeps the types of annotated functions."""

from typing import Any as Any, Dict as Dict, List as List, Optional as Optional, Tuple as Tuple, Union as Union  # noqa: UP035

from torch._jit_internal import (
    BroadcastingList1 as BroadcastingList1,
    BroadcastingList2 as BroadcastingList2,
    BroadcastingList3 as BroadcastingList3,
)
from torch.futures import Future as Future
