from ignite.engine import Events, create_supervised_trainer
from ignite.metrics import Accuracy

import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.utils.data.TensorDataset(torch.randn(12, 4), torch.randint(0, 3, (12,)))
trainer = create_supervised_trainer(model, optimizer, torch.nn.functional.cross_entropy)
losses = []
trainer.add_event_handler(Events.ITERATION_COMPLETED, lambda engine: losses.append(engine.state.output))
trainer.run(torch.utils.data.DataLoader(data, 4), max_epochs=2)
metric = Accuracy()
metric.update((model(data.tensors[0]), data.tensors[1]))
print(torch.tensor(losses), metric.compute())
