import logging
import warnings

import lightning

import torch

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
lightning.seed_everything(0, verbose=False)


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))

    def training_step(self, batch, index):
        loss = torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        self.log("valid", torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1]))

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.01)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


data = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
trainer = lightning.Trainer(
    max_epochs=2,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    gradient_clip_val=1.0,
)
model = Model()
trainer.fit(model, loader, torch.utils.data.DataLoader(data, batch_size=16))
print({name: value.item() for name, value in sorted(trainer.callback_metrics.items())})
fabric = lightning.Fabric(accelerator="cpu", devices=1, precision="bf16-mixed")
layer, optimizer = fabric.setup(torch.nn.Linear(4, 2), torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1))
print(layer(torch.ones(1, 4)))
