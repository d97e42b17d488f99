import logging
import warnings

import numpy
import pandas
from pytorch_forecasting import NBeats, TemporalFusionTransformer, TimeSeriesDataSet
from pytorch_forecasting.metrics import QuantileLoss

import torch

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
torch.manual_seed(0)
frame = pandas.DataFrame({"time": numpy.arange(40), "value": numpy.sin(numpy.arange(40) / 3), "group": "a"})
options = {
    "time_idx": "time",
    "target": "value",
    "group_ids": ["group"],
    "max_encoder_length": 8,
    "max_prediction_length": 2,
}
plain = TimeSeriesDataSet(frame, time_varying_unknown_reals=["value"], **options)
model = NBeats.from_dataset(plain, widths=[8, 8], num_blocks=[1, 1], num_block_layers=[1, 1], learning_rate=0.01)
batch = next(iter(plain.to_dataloader(train=False, batch_size=4)))
print(model(batch[0]).prediction.detach())
known = TimeSeriesDataSet(
    frame,
    time_varying_known_reals=["time"],
    time_varying_unknown_reals=["value"],
    add_relative_time_idx=True,
    **options,
)
model = TemporalFusionTransformer.from_dataset(
    known, hidden_size=4, attention_head_size=1, hidden_continuous_size=4, loss=QuantileLoss()
)
batch = next(iter(known.to_dataloader(train=False, batch_size=4)))
out = model(batch[0])
print(model.loss(out.prediction, batch[1]).detach())
