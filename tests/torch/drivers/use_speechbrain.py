import logging

import _torchvision_operators  # noqa: F401

logging.disable(logging.CRITICAL)
from speechbrain.lobes.features import Fbank  # noqa: E402
from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN  # noqa: E402
from speechbrain.nnet.losses import ctc_loss  # noqa: E402
from speechbrain.nnet.RNN import LSTM, LiGRU  # noqa: E402

import torch  # noqa: E402

torch.manual_seed(0)
features = Fbank(n_mels=20)(torch.randn(2, 4000))
print(features.mean(), features.std())
print(ECAPA_TDNN(20, channels=[16] * 5, attention_channels=8, lin_neurons=8).eval()(features).mean().detach())
for layer in (LSTM(8, input_shape=[2, 10, 20]), LiGRU(8, input_shape=[2, 10, 20])):
    print(layer(features[:, :10])[0].sum().detach())
scores = torch.randn(2, 10, 5).log_softmax(-1)
print(ctc_loss(scores, torch.tensor([[1, 2], [3, 4]]), torch.ones(2), torch.ones(2), 0))
