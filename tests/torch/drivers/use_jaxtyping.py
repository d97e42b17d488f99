import typeguard
from jaxtyping import Float, Int, jaxtyped

import torch

Matrix = Float[torch.Tensor, "rows columns"]


@jaxtyped(typechecker=typeguard.typechecked)
def double(x: Matrix) -> Matrix:
    return x * 2


print(double(torch.arange(6.0).view(3, 2)), isinstance(torch.arange(3), Int[torch.Tensor, "3"]))
try:
    double(torch.arange(6))
except Exception as error:
    print(type(error).__name__)
