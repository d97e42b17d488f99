import ptwt

import torch

torch.manual_seed(0)
x = torch.randn(2, 32, dtype=torch.float64)
for wavelet in ("haar", "db3"):
    parts = ptwt.wavedec(x, wavelet, level=2, mode="zero")
    print(
        wavelet,
        [tuple(part.shape) for part in parts],
        parts[0][0, :3],
        torch.allclose(ptwt.waverec(parts, wavelet)[:, :32], x),
    )
image = torch.randn(1, 16, 16, dtype=torch.float64)
parts = ptwt.wavedec2(image, "db2", level=2)
print(parts[0][0, :2, :2], torch.allclose(ptwt.waverec2(parts, "db2"), image))
print(ptwt.cwt(x, torch.arange(1, 4), "mexh")[0][:, 0, :2], ptwt.MatrixWavedec("haar", 2)(x)[0][0, :3])
packet = ptwt.WaveletPacket(x, "haar", maxlevel=2)
print(packet.get_level(2), packet["ad"][0, :3])
