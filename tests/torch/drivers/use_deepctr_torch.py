import numpy
from deepctr_torch.inputs import DenseFeat, SparseFeat, get_feature_names
from deepctr_torch.models import DCN, DeepFM, xDeepFM

import torch

numbers = numpy.random.RandomState(0)
features = [SparseFeat("user", 10, embedding_dim=4), SparseFeat("item", 8, embedding_dim=4), DenseFeat("price", 1)]
data = {"user": numbers.randint(0, 10, 64), "item": numbers.randint(0, 8, 64), "price": numbers.rand(64)}
clicks = numbers.randint(0, 2, 64)
for kind in (DeepFM, DCN, xDeepFM):
    torch.manual_seed(0)
    model = kind(features, features, dnn_hidden_units=(8, 8), device="cpu", task="binary")
    model.compile("adam", "binary_crossentropy", metrics=["auc"])
    history = model.fit(
        {n: data[n] for n in get_feature_names(features)}, clicks, batch_size=32, epochs=2, verbose=0, shuffle=False
    )
    print(kind.__name__, [f"{loss:.6f}" for loss in history.history["loss"]], f"{model.predict(data, 64).sum():.5f}")
