"""`python -m torch.distributed.launch`: torchrun under its older name."""

from __future__ import annotations

from torch import _unavailable
from torch.distributed import REASON
from torch.distributed.run import main

__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)


if __name__ == "__main__":
    main()
