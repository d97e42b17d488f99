from torcheval.metrics import BinaryAUROC, MulticlassAccuracy, MulticlassConfusionMatrix, MulticlassF1Score, R2Score
from torcheval.metrics.functional import binary_auprc, multiclass_auroc

import torch

torch.manual_seed(0)
scores, classes = torch.randn(40, 4).softmax(1), torch.randint(4, (40,))
for metric in (
    MulticlassAccuracy(average="macro", num_classes=4),
    MulticlassF1Score(num_classes=4),
    MulticlassConfusionMatrix(4),
):
    metric.update(scores[:20], classes[:20])
    metric.update(scores[20:], classes[20:])
    print(metric.compute())
area, truth = BinaryAUROC(), torch.randint(2, (40,))
area.update(scores[:, 0], truth)
print(area.compute(), binary_auprc(scores[:, 0], truth), multiclass_auroc(scores, classes, num_classes=4))
fit = R2Score()
fit.update(scores[:, 0], scores[:, 1])
print(fit.compute())
