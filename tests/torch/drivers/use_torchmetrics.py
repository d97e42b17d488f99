import torchmetrics

import torch

torch.manual_seed(0)
scores, target = torch.rand(20, 4).softmax(1), torch.randint(4, (20,))
metrics = torchmetrics.MetricCollection(
    {
        "accuracy": torchmetrics.Accuracy("multiclass", num_classes=4),
        "f1": torchmetrics.F1Score("multiclass", num_classes=4, average="macro"),
        "auroc": torchmetrics.AUROC("multiclass", num_classes=4),
        "confusion": torchmetrics.ConfusionMatrix("multiclass", num_classes=4),
        "average_precision": torchmetrics.AveragePrecision("multiclass", num_classes=4),
    }
)
metrics.update(scores, target)
print({name: value.tolist() for name, value in sorted(metrics.compute().items())})
x, y = torch.rand(10), torch.rand(10)
for metric in (
    torchmetrics.MeanSquaredError(),
    torchmetrics.PearsonCorrCoef(),
    torchmetrics.R2Score(),
    torchmetrics.SpearmanCorrCoef(),
):
    print(metric(x, y))
image = torch.rand(1, 3, 32, 32)
print(torchmetrics.image.StructuralSimilarityIndexMeasure(data_range=1.0)(image, image * 0.9))
print(torchmetrics.image.PeakSignalNoiseRatio(data_range=1.0)(image, image * 0.9))
