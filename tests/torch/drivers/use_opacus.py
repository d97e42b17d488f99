import warnings

import opacus

import torch

warnings.simplefilter("ignore")
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randint(2, (32,)))
loader = torch.utils.data.DataLoader(data, batch_size=8)
engine = opacus.PrivacyEngine()
model, optimizer, loader = engine.make_private(
    module=model,
    optimizer=optimizer,
    data_loader=loader,
    noise_multiplier=0.5,
    max_grad_norm=1.0,
    poisson_sampling=False,
    noise_generator=torch.Generator().manual_seed(0),
)
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print(loss.detach(), sum(p.detach().norm() for p in model.parameters()), engine.get_epsilon(1e-5))
