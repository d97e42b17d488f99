"""A function in C++ with a gradient of its own, compiled as the program starts. It is compiled once.

Needs pybind11, Ninja, setuptools and a C++ compiler. Prints

tensor([0.0000, 0.7311], grad_fn=<SwishBackward>)
tensor([0.5000, 0.9277])
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = """
at::Tensor forward(const at::Tensor& x) { return x * at::sigmoid(x); }
at::Tensor backward(const at::Tensor& grad, const at::Tensor& x) {
  TORCH_CHECK(grad.sizes() == x.sizes(), "swish: the gradient is of size ", grad.sizes(), ", not ", x.sizes());
  const at::Tensor gate = at::sigmoid(x);
  return grad * gate * (1 + x * (1 - gate));
}
"""
swish = load_inline("swish", SOURCE, functions=["forward", "backward"])


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return swish.forward(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return swish.backward(grad, x)


x = torch.tensor([0.0, 1.0], requires_grad=True)
y = Swish.apply(x)
print(y)
y.sum().backward()
print(x.grad)
assert torch.autograd.gradcheck(Swish.apply, [torch.randn(5, dtype=torch.float64, requires_grad=True)])
