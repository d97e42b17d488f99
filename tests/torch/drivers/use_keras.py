import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 8, 8, 1)).astype("float32")
y = (x.mean((1, 2, 3)) > 0).astype("int64")
model = keras.Sequential(
    [
        layers.Input((8, 8, 1)),
        layers.Conv2D(4, 3, activation="relu", kernel_initializer=keras.initializers.Constant(0.05)),
        layers.BatchNormalization(),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(2, kernel_initializer=keras.initializers.RandomNormal(seed=1)),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(x, y, epochs=3, batch_size=16, shuffle=False, verbose=0)
print([f"{value:.4f}" for value in history.history["loss"]], model.count_params())
print(np.round(model.predict(x[:3], verbose=0), 3))
inputs = layers.Input((5, 6))
outputs = layers.Dense(2)(layers.LSTM(4, return_sequences=True)(layers.LayerNormalization()(inputs)))
functional = keras.Model(inputs, layers.GlobalAveragePooling1D()(layers.MultiHeadAttention(2, 4)(outputs, outputs)))
print(functional(np.ones((2, 5, 6), "float32")).shape, len(functional.trainable_weights))
print(
    keras.ops.softmax(keras.ops.convert_to_tensor([1.0, 2.0])).tolist(),
    keras.ops.einsum("ij,jk->ik", np.eye(2), np.ones((2, 3))).shape,
)
