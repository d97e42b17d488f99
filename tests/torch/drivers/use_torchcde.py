import torchcde

import torch

torch.manual_seed(0)


class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4 * 3)

    def forward(self, t, z):
        return self.linear(z).tanh().view(*z.shape[:-1], 4, 3)


x = torch.cumsum(torch.randn(2, 6, 3), 1) / 3
x[0, 2, 1] = float("nan")
for coefficients, path in (
    (torchcde.hermite_cubic_coefficients_with_backward_differences(x), torchcde.CubicSpline),
    (torchcde.linear_interpolation_coeffs(x, rectilinear=0), torchcde.LinearInterpolation),
    (torchcde.natural_cubic_coeffs(x), torchcde.CubicSpline),
):
    spline = path(coefficients)
    field, start = Field(), torch.nn.Linear(3, 4)
    z = torchcde.cdeint(
        spline,
        field,
        start(spline.evaluate(spline.interval[0])),
        spline.interval,
        adjoint=False,
        method="rk4",
        options={"step_size": 0.5},
    )
    z[:, -1].square().mean().backward()
    print(coefficients.shape, spline.derivative(torch.tensor(1.5)), f"{field.linear.weight.grad.norm().item():.5f}")
print(torchcde.logsig_windows.__name__)
