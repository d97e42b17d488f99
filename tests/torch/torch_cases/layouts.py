"""How results and gradients lie in memory: their strides, for inputs that lie in different ways."""

from __future__ import annotations

from typing import Any

from torch_golden import Case

# Images of (2, 4, 6, 5), one of a single channel, and volumes of (2, 4, 3, 6, 5).
IMAGES = {
    "contiguous": "torch.randn(2, 4, 6, 5)",
    "channels last": "torch.randn(2, 4, 6, 5).contiguous(memory_format=torch.channels_last)",
    "permuted": "torch.randn(6, 2, 5, 4).permute(1, 3, 0, 2)",
    "every second": "torch.randn(2, 4, 6, 10)[..., ::2]",
    "some channels": "torch.randn(2, 8, 6, 5).contiguous(memory_format=torch.channels_last)[:, ::2]",
    "expanded": "torch.randn(2, 4, 1, 5).expand(2, 4, 6, 5)",
    "one channel": "torch.randn(2, 1, 6, 5).contiguous(memory_format=torch.channels_last)",
    "one sample": "torch.randn(1, 4, 6, 5).contiguous(memory_format=torch.channels_last)",
}
VOLUMES = {
    "contiguous": "torch.randn(2, 4, 3, 6, 5)",
    "channels last": "torch.randn(2, 4, 3, 6, 5).contiguous(memory_format=torch.channels_last_3d)",
    "permuted": "torch.randn(6, 2, 5, 4, 3).permute(1, 3, 4, 0, 2)",
}
LINES = {
    "contiguous": "torch.randn(2, 4, 6)",
    "channels last": "torch.randn(2, 6, 4).transpose(1, 2)",
    "samples last": "torch.randn(4, 6, 2).permute(2, 0, 1)",
}

# Of any number of dimensions.
ANYWHERE = (
    "x + x",
    "x + 1",
    "2 - x",
    "x * x.contiguous()",
    "x.contiguous() * x",
    "x + torch.randn(x.shape)",
    "torch.randn(x.shape) + x",
    "x + x.double()",
    "x + torch.randn(x.shape[-1])",
    "torch.randn(x.shape[-1]) + x",
    "x + torch.randn(3, *x.shape)",
    "x.exp()",
    "x.relu()",
    "torch.sigmoid(x)",
    "F.gelu(x)",
    "F.silu(x)",
    "F.leaky_relu(x)",
    "F.hardswish(x)",
    "F.elu(x)",
    "F.softplus(x)",
    "F.mish(x)",
    "x > 0",
    "torch.isnan(x)",
    "torch.where(x > 0, x, x * 2)",
    "x.clamp(-1, 1)",
    "torch.lerp(x, x * 2, 0.5)",
    "torch.addcmul(x, x, x)",
    "x.masked_fill(x > 0, 0)",
    "x.pow(2)",
    "x.to(torch.float64)",
    "x.to(torch.float64).to(torch.float32)",
    "x.bool()",
    "x.clone()",
    "x.clone(memory_format=torch.contiguous_format)",
    "x.contiguous()",
    "torch.empty_like(x)",
    "torch.zeros_like(x)",
    "torch.zeros_like(x, memory_format=torch.contiguous_format)",
    "torch.rand_like(x)",
    "torch.full_like(x, 2)",
    "x.sum()",
    "x.sum(1)",
    "x.sum(1, keepdim=True)",
    "x.sum((0, 2))",
    "x.mean(-1)",
    "x.var(1)",
    "x.amax(1, keepdim=True)",
    "x.max(1).values",
    "x.argmax(1)",
    "x.any(1)",
    "x.cumsum(1)",
    "x.softmax(1)",
    "F.log_softmax(x, -1)",
    "x.sort(1).values",
    "x.topk(1, 1).values",
    "torch.cat([x, x])",
    "torch.cat([x, x], 1)",
    "torch.cat([x, x.contiguous()], -1)",
    "torch.stack([x, x])",
    "torch.stack([x, x], 2)",
    "x.flip(1)",
    "x.roll(1, 1)",
    "x.repeat(2, *[1] * (x.dim() - 1))",
    "x.repeat_interleave(2, 1)",
    "x.index_select(1, torch.tensor([0, 0]))",
    "x[x > 0]",
    "x.gather(1, torch.zeros(x.shape, dtype=torch.int64))",
    "x.reshape(-1)",
    "x.flatten(1)",
    "x.flatten(2)",
    "x.tril()",
    "F.dropout(x, 0.5)",
    "F.dropout(x, 0.5, training=False)",
    "F.dropout1d(x[0].reshape(2, 2, -1)) if x.shape[1] == 4 else x",
    "F.pad(x, (1, 2))",
    "F.pad(x, (1, 1), value=2.0)",
    "F.batch_norm(x, None, None, training=True)",
    "F.batch_norm(x, torch.zeros(x.shape[1]), torch.ones(x.shape[1]))",
    "F.instance_norm(x)",
    "F.group_norm(x, 1)",
    "F.group_norm(x, x.shape[1], torch.ones(x.shape[1]), torch.ones(x.shape[1]))",
    "F.layer_norm(x, x.shape[-1:])",
    "F.layer_norm(x, x.shape[1:])",
    "F.normalize(x)",
    "F.prelu(x, torch.ones(x.shape[1]))",
    "F.glu(x[:, :, :4], 2)",
    "F.linear(x, torch.randn(3, x.shape[-1]))",
    "F.mse_loss(x, x * 2, reduction='none')",
    "F.cross_entropy(x, x.softmax(1).detach(), reduction='none')",
    "torch.fft.fft(x * 1, dim=1)",
    "torch.fft.rfft(x)",
    "torch.nonzero(x > 0)",
    "x.movedim(1, -1)",
    "x.transpose(0, 1).contiguous()",
)
IMAGES_ONLY = (
    "F.conv2d(x, torch.randn(3, x.shape[1], 3, 3))",
    "F.conv2d(x, torch.randn(3, x.shape[1], 3, 3), torch.randn(3), stride=2, padding=1)",
    "F.conv2d(x, torch.randn(3, x.shape[1], 1, 1))",
    "F.conv2d(x, torch.randn(3, x.shape[1], 3, 3).contiguous(memory_format=torch.channels_last))",
    "F.conv2d(x, torch.randn(x.shape[1], 1, 3, 3), groups=x.shape[1])",
    "F.conv2d(x, torch.randn(3, x.shape[1], 3, 3), dilation=2)",
    "F.conv2d(x.double(), torch.randn(3, x.shape[1], 3, 3).double())",
    "F.conv2d(x.bfloat16(), torch.randn(3, x.shape[1], 3, 3).bfloat16())",
    "F.conv2d(x, torch.randn(3, x.shape[1], 3, 3), padding='same')",
    "F.conv2d(x[0], torch.randn(3, x.shape[1], 3, 3))",
    "F.conv_transpose2d(x, torch.randn(x.shape[1], 3, 3, 3))",
    "F.conv_transpose2d(x, torch.randn(x.shape[1], 3, 3, 3), torch.randn(3), stride=2, output_padding=1)",
    "F.max_pool2d(x, 2)",
    "F.max_pool2d(x, 2, return_indices=True)[1]",
    "F.max_pool2d(x[0], 2)",
    "F.avg_pool2d(x, 2)",
    "F.adaptive_avg_pool2d(x, 1)",
    "F.adaptive_avg_pool2d(x, 2)",
    "F.adaptive_max_pool2d(x, 2)",
    "F.lp_pool2d(x, 2, 2)",
    "F.fractional_max_pool2d(x, 2, output_size=(2, 2))",
    "F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2, output_size=x.shape)",
    "F.interpolate(x, scale_factor=2)",
    "F.interpolate(x, scale_factor=2, mode='nearest-exact')",
    "F.interpolate(x, size=(7, 8), mode='bilinear')",
    "F.interpolate(x, size=(7, 8), mode='bilinear', antialias=True)",
    "F.interpolate(x, size=(7, 8), mode='bicubic')",
    "F.interpolate(x, size=(7, 8), mode='bicubic', antialias=True)",
    "F.interpolate(x, size=(7, 8), mode='area')",
    "F.pixel_shuffle(x, 2) if x.shape[1] == 4 else x",
    "F.pixel_unshuffle(x[..., :4], 2)",
    "F.channel_shuffle(x, 2) if x.shape[1] == 4 else x",
    "F.dropout2d(x)",
    "F.alpha_dropout(x, training=True)",
    "F.pad(x, (1, 1, 2, 2), mode='reflect')",
    "F.pad(x, (1, 1, 2, 2), mode='replicate')",
    "F.pad(x, (1, 1, 2, 2), mode='circular')",
    "F.unfold(x, 2)",
    "F.grid_sample(x, torch.zeros(x.shape[0], 3, 3, 2), align_corners=False)",
    "x.to(memory_format=torch.channels_last)",
    "x.to(memory_format=torch.contiguous_format)",
    "x.to(torch.float64, memory_format=torch.channels_last)",
    "x.to('cpu', torch.float64, memory_format=torch.contiguous_format)",
    "x.double(memory_format=torch.channels_last)",
    "x.contiguous(memory_format=torch.channels_last)",
    "x.clone(memory_format=torch.channels_last)",
    "torch.empty_like(x, memory_format=torch.channels_last)",
    "torch.ones_like(x, memory_format=torch.channels_last)",
    "torch.rand_like(x, memory_format=torch.channels_last)",
    "torch.empty(x.shape, memory_format=torch.channels_last)",
    "torch.empty(x.shape, memory_format=torch.preserve_format)",
    "torch.empty(0).resize_(x.shape, memory_format=torch.channels_last)",
    "torch.empty(0).resize_as_(x.detach(), memory_format=torch.preserve_format)",
    "torch.empty(0).resize_as_(x.detach())",
    "x.contiguous(memory_format=torch.preserve_format)",
    "x.unsqueeze(2).contiguous(memory_format=torch.channels_last_3d).squeeze(2)",
    "x[:, :, 0].contiguous(memory_format=torch.channels_last)",
    "nn.Sequential(nn.Conv2d(x.shape[1], 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))(x)",
    "nn.Conv2d(x.shape[1], 4, 3).to(memory_format=torch.channels_last)(x)",
    "nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last).weight",
    "nn.Conv2d(3, 4, 3).to(torch.float64, memory_format=torch.channels_last).weight",
)
VOLUMES_ONLY = (
    "F.conv3d(x, torch.randn(3, 4, 2, 3, 3))",
    "F.conv3d(x, torch.randn(3, 4, 2, 3, 3).contiguous(memory_format=torch.channels_last_3d))",
    "F.conv3d(x.double(), torch.randn(3, 4, 2, 3, 3).double())",
    "F.conv_transpose3d(x, torch.randn(4, 3, 2, 2, 2))",
    "F.max_pool3d(x, 2)",
    "F.avg_pool3d(x, 2)",
    "F.adaptive_avg_pool3d(x, 1)",
    "F.adaptive_avg_pool3d(x, 2)",
    "F.adaptive_max_pool3d(x, 2)",
    "F.max_unpool3d(*F.max_pool3d(x, 2, return_indices=True), 2, output_size=x.shape)",
    "F.interpolate(x, scale_factor=2)",
    "F.interpolate(x, size=(4, 4, 4), mode='trilinear')",
    "F.dropout3d(x)",
    "F.pad(x, (1, 1, 2, 2, 1, 1), mode='replicate')",
    "F.pad(x, (1, 1, 2, 2, 1, 1), mode='reflect')",
    "x.to(memory_format=torch.channels_last_3d)",
    "x.contiguous(memory_format=torch.channels_last_3d)",
    "x.contiguous(memory_format=torch.channels_last)",
    "nn.Conv3d(4, 4, 2).to(memory_format=torch.channels_last_3d)(x)",
)
LINES_ONLY = (
    "F.conv1d(x, torch.randn(3, 4, 3))",
    "F.conv1d(x, torch.randn(3, 4, 1))",
    "F.conv_transpose1d(x, torch.randn(4, 3, 3))",
    "F.max_pool1d(x, 2)",
    "F.max_pool1d(x, 2, return_indices=True)[1]",
    "F.avg_pool1d(x, 2)",
    "F.adaptive_avg_pool1d(x, 2)",
    "F.adaptive_max_pool1d(x, 2)",
    "F.interpolate(x, scale_factor=2)",
    "F.interpolate(x, size=4, mode='linear')",
    "F.pad(x, (1, 1), mode='reflect')",
    "F.pad(x, (1, 1), mode='circular')",
    "x.to(memory_format=torch.channels_last)",
    "torch.bmm(x, x.transpose(1, 2))",
    "x @ torch.randn(6, 3)",
    "F.scaled_dot_product_attention(x, x, x)",
    "F.embedding(x.argmax(1), torch.randn(6, 2))",
)
# Whose gradients are row-major here where PyTorch's follow the input (or, of fft and mse_loss, the other way round).
RESULTS_ONLY = (
    "x.roll(1, 1)",
    "F.group_norm(x, 1)",
    "F.group_norm(x, x.shape[1], torch.ones(x.shape[1]), torch.ones(x.shape[1]))",
    "F.mse_loss(x, x * 2, reduction='none')",
    "torch.fft.fft(x * 1, dim=1)",
    "F.pixel_shuffle(x, 2) if x.shape[1] == 4 else x",
    "F.channel_shuffle(x, 2) if x.shape[1] == 4 else x",
    "F.pad(x, (1, 1, 2, 2), mode='reflect')",
    "F.pad(x, (1, 1, 2, 2), mode='replicate')",
    "F.pad(x, (1, 1, 2, 2, 1, 1), mode='replicate')",
    "F.pad(x, (1, 1, 2, 2, 1, 1), mode='reflect')",
)


def _strides(tensor: Any) -> list[int]:
    """Of the dimensions that have one: a stride over a single element says nothing."""
    return [stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size != 1]


def _answer(torch: Any, text: str, source: str) -> Any:
    scope = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn}
    x = eval(source, scope).requires_grad_()
    try:
        result = eval(text, scope, {"x": x})
    except (RuntimeError, NotImplementedError) as error:
        return type(error).__name__
    if result.grad_fn is None or text in RESULTS_ONLY:
        return _strides(result)
    (gradient,) = torch.autograd.grad(result, x, torch.ones_like(result), allow_unused=True)
    return [_strides(result), None if gradient is None else _strides(gradient)]


def _case(text: str, sources: dict[str, str]) -> Case:
    return Case(lambda torch: {name: _answer(torch, text, source) for name, source in sources.items()})


CASES: dict[str, Case] = {
    f"{kind}: {text}": _case(text, sources)
    for kind, sources, texts in (
        ("image", IMAGES, (*ANYWHERE, *IMAGES_ONLY)),
        ("volume", VOLUMES, (*ANYWHERE, *VOLUMES_ONLY)),
        ("line", LINES, (*ANYWHERE, *LINES_ONLY)),
    )
    for text in texts
}
