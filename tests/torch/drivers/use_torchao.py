import logging

logging.disable(logging.WARNING)

from torchao.quantization import Int8DynamicActivationInt8WeightConfig, Int8WeightOnlyConfig, quantize_  # noqa: E402

import torch  # noqa: E402

for config in (Int8WeightOnlyConfig(), Int8DynamicActivationInt8WeightConfig()):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    x = torch.randn(4, 32)
    before = model(x)
    quantize_(model, config)
    with torch.no_grad():
        after = model(x)
    print(type(model[0].weight).__name__, model[0].weight.shape, model[0].weight.dtype)
    print(after[0], float((after - before).abs().max() < 0.05))
