"""For tests: `assert_close` and `make_tensor`."""

from torch.testing._comparison import assert_close
from torch.testing._creation import make_tensor

__all__ = ["assert_close", "make_tensor"]
