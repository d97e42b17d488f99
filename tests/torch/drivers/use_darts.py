import logging

import numpy as np

logging.disable(logging.CRITICAL)
from darts import TimeSeries  # noqa: E402
from darts.models import BlockRNNModel, NBEATSModel, NLinearModel, TCNModel, TiDEModel  # noqa: E402

s = TimeSeries.from_values(np.sin(np.arange(120) / 5).astype(np.float32))
kw = {
    "input_chunk_length": 12,
    "output_chunk_length": 4,
    "n_epochs": 2,
    "random_state": 0,
    "pl_trainer_kwargs": {
        "accelerator": "cpu",
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "logger": False,
    },
}
for M, extra in (
    (NBEATSModel, {"num_blocks": 1, "num_stacks": 2, "layer_widths": 16}),
    (TCNModel, {}),
    (BlockRNNModel, {"model": "LSTM", "hidden_dim": 8}),
    (NLinearModel, {}),
    (TiDEModel, {"hidden_size": 8}),
):
    m = M(**extra, **kw)
    m.fit(s)
    p = m.predict(4)
    print(M.__name__, np.round(p.values().ravel(), 3))
