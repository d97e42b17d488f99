from spikingjelly.activation_based import encoding, functional, layer, neuron, surrogate

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(
    layer.Conv2d(1, 4, 3, padding=1, bias=False),
    layer.BatchNorm2d(4),
    neuron.IFNode(surrogate_function=surrogate.ATan()),
    layer.MaxPool2d(2),
    layer.Flatten(),
    layer.Linear(4 * 16, 3),
    neuron.LIFNode(tau=2.0, surrogate_function=surrogate.Sigmoid()),
)
functional.set_step_mode(net, "m")
x = torch.rand(5, 1, 8, 8)
encoder = encoding.PoissonEncoder()
optimizer = torch.optim.Adam(net.parameters(), 0.05)
for _ in range(3):
    spikes = torch.stack([encoder(x) for _ in range(4)])
    rates = net(spikes).mean(0)
    loss = torch.nn.functional.mse_loss(rates, torch.eye(3)[[0, 1, 2, 0, 1]])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    functional.reset_net(net)
    print(f"{loss.item():.5f}", rates.sum().item())
node = neuron.ParametricLIFNode(init_tau=2.0)
print([node(torch.tensor([0.9, 2.0])).tolist() for _ in range(3)], node.v)
