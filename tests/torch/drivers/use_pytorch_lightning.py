import logging
import tempfile
import warnings

import pytorch_lightning
from pytorch_lightning.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint, ModelSummary
from pytorch_lightning.loggers import CSVLogger

import torch

warnings.simplefilter("ignore")
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
pytorch_lightning.seed_everything(0, verbose=False)


class Model(pytorch_lightning.LightningModule):
    def __init__(self, width=8):
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(4, width)

    def training_step(self, batch, index):
        loss = self.layer(batch).square().mean()
        self.log("loss", loss, on_step=True, on_epoch=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


with tempfile.TemporaryDirectory() as folder:
    checkpoint = ModelCheckpoint(folder, monitor="loss_epoch")
    trainer = pytorch_lightning.Trainer(
        max_epochs=3,
        accelerator="cpu",
        logger=CSVLogger(folder),
        enable_progress_bar=False,
        log_every_n_steps=1,
        callbacks=[checkpoint, EarlyStopping("loss_epoch"), LearningRateMonitor(), ModelSummary(-1)],
    )
    model = Model()
    trainer.fit(model, torch.utils.data.DataLoader(torch.randn(16, 4), batch_size=4))
    again = Model.load_from_checkpoint(checkpoint.best_model_path)
    print(checkpoint.best_model_score, again.layer.weight)
