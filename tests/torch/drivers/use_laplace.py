from laplace import Laplace

import torch

torch.manual_seed(0)
x = torch.linspace(-1, 1, 16).unsqueeze(1)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sin()), batch_size=8)
model = torch.nn.Sequential(torch.nn.Linear(1, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
for subset, structure in (("last_layer", "full"), ("all", "full"), ("all", "diag")):
    approximation = Laplace(model, "regression", subset_of_weights=subset, hessian_structure=structure)
    approximation.fit(data)
    mean, variance = approximation(x[:2])
    print(mean.detach(), variance.detach(), approximation.log_marginal_likelihood().detach())
