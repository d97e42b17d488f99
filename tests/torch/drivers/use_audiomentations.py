import random

import numpy as np
from torch_audiomentations import (
    AddColoredNoise,
    Gain,
    HighPassFilter,
    LowPassFilter,
    PeakNormalization,
    Shift,
)

import torch

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)

x = torch.rand(2, 1, 8000) - 0.5
for T in (
    Gain(p=1.0, output_type="dict"),
    AddColoredNoise(p=1.0, output_type="dict"),
    HighPassFilter(p=1.0, output_type="dict"),
    LowPassFilter(p=1.0, output_type="dict"),
    PeakNormalization(p=1.0, output_type="dict"),
    Shift(p=1.0, output_type="dict"),
):
    y = T(samples=x, sample_rate=8000).samples
    print(type(T).__name__, tuple(y.shape), f"{float(y.abs().sum()):.5g}")
