"""Writes digits.npz: 1,797 handwritten digits of 8 x 8 pixels (0 to 16), from UCI, as scikit-learn ships them.

Run it where scikit-learn is installed: python tests/torch/data/make_digits.py
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

digits = load_digits()
np.savez_compressed(
    Path(__file__).with_name("digits.npz"), images=digits.images.astype(np.uint8), labels=digits.target.astype(np.uint8)
)
