import tempfile

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import torch
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    with SummaryWriter(folder) as writer:
        for step in range(3):
            writer.add_scalar("loss", 1 / (step + 1), step)
            writer.add_histogram("weights", torch.randn(50), step)
        writer.add_text("note", "two words", 1)
        writer.add_image("picture", torch.rand(3, 4, 5), 0)
        writer.add_images("pictures", torch.rand(2, 1, 4, 5), 0)
        writer.add_hparams({"rate": 0.1, "name": "x", "on": True}, {"best": 0.5})
    events = EventAccumulator(folder, size_guidance={"histograms": 0}).Reload()
    print(sorted(events.Tags()["scalars"]), sorted(events.Tags()["histograms"]), sorted(events.Tags()["images"]))
    print([(event.step, round(event.value, 6)) for event in events.Scalars("loss")])
    value = events.Histograms("weights")[0].histogram_value
    print(
        value.num,
        round(value.sum, 5),
        round(value.sum_squares, 5),
        len(value.bucket),
        [round(b, 5) for b in value.bucket_limit[:3]],
    )
    image = events.Images("picture")[0]
    print(image.width, image.height, events.Images("pictures")[0].width, sorted(events.Tags()["tensors"]))
    print(events.Tensors("note/text_summary")[0].tensor_proto.string_val)
