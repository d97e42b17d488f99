import cooper

import torch

torch.manual_seed(0)


class Norm(cooper.ConstrainedMinimizationProblem):
    def __init__(self):
        super().__init__()
        multiplier = cooper.multipliers.DenseMultiplier(num_constraints=1)
        self.bound = cooper.Constraint(
            constraint_type=cooper.ConstraintType.INEQUALITY,
            formulation_type=cooper.formulations.Lagrangian,
            multiplier=multiplier,
        )

    def compute_cmp_state(self, x):
        state = cooper.ConstraintState(violation=(1 - x.sum()).reshape(1))
        return cooper.CMPState(loss=x.square().sum(), observed_constraints={self.bound: state})


problem = Norm()
x = torch.nn.Parameter(torch.tensor([0.2, -0.1]))
optimizer = cooper.optim.SimultaneousOptimizer(
    cmp=problem,
    primal_optimizers=torch.optim.SGD([x], 0.05),
    dual_optimizers=torch.optim.SGD(problem.dual_parameters(), 0.05, maximize=True),
)
for step in range(60):
    roll = optimizer.roll(compute_cmp_state_kwargs={"x": x})
    if step % 20 == 19:
        print(f"{roll.loss.item():.5f}", x.data, next(iter(problem.dual_parameters())).data)
