import numpy
from pytorch_tabnet.tab_model import TabNetClassifier

import torch

torch.manual_seed(0)
random = numpy.random.RandomState(0)
x, y = random.rand(64, 4).astype("float32"), random.randint(0, 2, 64)
model = TabNetClassifier(n_d=4, n_a=4, n_steps=2, seed=0, verbose=0, device_name="cpu")
model.fit(x, y, max_epochs=3, batch_size=32, virtual_batch_size=16)
print(model.predict_proba(x[:3]), model.history["loss"])
