"""The extension gives what torch gives, and its gradient; wrong arguments are exceptions of the right kind."""

import softsum

import torch

values = torch.tensor([-2.0, 0.0, 3.0], dtype=torch.float64, requires_grad=True)
total = softsum.softsum(values)
assert torch.allclose(total, torch.log(torch.exp(values) + 1).sum()), total
total.backward()
assert torch.allclose(values.grad, torch.sigmoid(values)), values.grad
assert torch.autograd.gradcheck(softsum.softsum, [values])
for wrong, expected in (
    (torch.ones(2, dtype=torch.int64), TypeError),
    (torch.ones(2, 2), ValueError),
    ([1.0], TypeError),
):
    try:
        softsum.softsum(wrong)
    except expected as error:
        print(f"refused: {error}".splitlines()[0])
    else:
        raise AssertionError(f"{wrong} must be refused")
print("softsum works")
