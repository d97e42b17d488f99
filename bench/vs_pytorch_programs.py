"""Programs that vs_pytorch.py measures beside its models: other networks, optimizers, ways to train, loops around data.

A function of torch yields cases: a name, and a function that prepares and returns what is timed.
"""

from __future__ import annotations

import itertools
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Work = Callable[[], object]
    Case = tuple[str, Callable[[], Work]]


def programs(torch: Any) -> Iterator[Case]:
    """All of them."""
    for name, make in NETWORKS.items():
        yield name, partial(_prepare, torch, make)
    for name, options in OPTIMIZERS:
        for foreach in (None, False):
            title = f"{name}{' foreach=False' if foreach is False else ''}, 60 parameters"
            yield title, partial(_optimizer, torch, name, options, foreach)
    for name, prepare in WAYS.items():
        yield name, partial(prepare, torch)


def _prepare(torch: Any, make: Any) -> Work:
    torch.manual_seed(0)
    work: Work = make(torch)
    return work


def _train(model: Any, loss: Callable[[], Any], optimizer: Any) -> Work:
    """A training step: `loss` is what a forward pass comes to."""

    def work() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    model.train()
    return work


def _convolutions(torch: Any, inputs: int, outputs: int) -> Any:
    nn = torch.nn
    return nn.Sequential(
        *(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()),
        *(nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()),
    )


def unet(torch: Any) -> Work:
    """Two halvings and two doublings, with bridges."""
    nn = torch.nn

    class UNet(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.down = nn.ModuleList([_convolutions(torch, 3, 16), _convolutions(torch, 16, 32)])
            self.middle = _convolutions(torch, 32, 64)
            self.up = nn.ModuleList([nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)])
            self.join = nn.ModuleList([_convolutions(torch, 64, 32), _convolutions(torch, 32, 16)])
            self.last = nn.Conv2d(16, 2, 1)

        def forward(self, x: Any) -> Any:
            kept = []
            for block in self.down:
                kept.append(block(x))
                x = nn.functional.max_pool2d(kept[-1], 2)
            x = self.middle(x)
            for up, join in zip(self.up, self.join, strict=True):
                x = join(torch.cat((up(x), kept.pop()), 1))
            return self.last(x)

    model = UNet()
    images, masks = torch.randn(2, 3, 64, 64), torch.randint(2, (2, 64, 64))
    optimizer = torch.optim.Adam(model.parameters())
    return _train(model, lambda: nn.functional.cross_entropy(model(images), masks), optimizer)


def gan(torch: Any) -> Work:
    """A step of the discriminator and one of the generator, of convolutions on 32 x 32."""
    nn = torch.nn
    generator = nn.Sequential(
        *(nn.ConvTranspose2d(64, 64, 4), nn.BatchNorm2d(64), nn.ReLU()),
        *(nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU()),
        *(nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.BatchNorm2d(16), nn.ReLU()),
        *(nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh()),
    )
    critic = nn.Sequential(
        *(nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, 2, 1), nn.BatchNorm2d(32)),
        *(nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1), nn.BatchNorm2d(64), nn.LeakyReLU(0.2), nn.Conv2d(64, 1, 4)),
        nn.Flatten(0),
    )
    loss = nn.BCEWithLogitsLoss()
    optimizers = [torch.optim.Adam(one.parameters(), 2e-4, betas=(0.5, 0.999)) for one in (critic, generator)]
    real, ones, zeros = torch.randn(16, 3, 32, 32), torch.ones(16), torch.zeros(16)

    def work() -> None:
        noise = torch.randn(16, 64, 1, 1)
        optimizers[0].zero_grad()
        made = generator(noise)
        (loss(critic(real), ones) + loss(critic(made.detach()), zeros)).backward()
        optimizers[0].step()
        optimizers[1].zero_grad()
        loss(critic(made), ones).backward()
        optimizers[1].step()

    return work


def vae(torch: Any) -> Work:
    """784 - 256 - 16 - 256 - 784, sampled and with its divergence."""
    nn = torch.nn
    encoder = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 32))
    decoder = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 784))
    images = torch.rand(128, 784)
    both = nn.ModuleList([encoder, decoder])

    def loss() -> Any:
        mean, log_variance = encoder(images).chunk(2, 1)
        sample = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        kept = nn.functional.binary_cross_entropy_with_logits(decoder(sample), images, reduction="sum")
        return kept - 0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum()

    return _train(both, loss, torch.optim.Adam(both.parameters()))


def autoencoder(torch: Any) -> Work:
    """Four layers with ELU and a mean squared error."""
    nn = torch.nn
    widths = (512, 128, 32, 128, 512)
    layers = [part for a, b in itertools.pairwise(widths) for part in (nn.Linear(a, b), nn.ELU())]
    model = nn.Sequential(*layers[:-1])
    rows = torch.randn(64, 512)
    return _train(model, lambda: nn.functional.mse_loss(model(rows), rows), torch.optim.RMSprop(model.parameters()))


def encoder(torch: Any) -> Work:
    """nn.TransformerEncoder of two layers with masks of padding, and dropout."""
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.1, batch_first=True)
    model = nn.ModuleList([nn.Embedding(1000, 128), nn.TransformerEncoder(layer, 2), nn.Linear(128, 5)])
    words, targets = torch.randint(1000, (16, 48)), torch.randint(5, (16,))
    padding = torch.arange(48) >= torch.randint(24, 48, (16, 1))

    def loss() -> Any:
        x = model[1](model[0](words), src_key_padding_mask=padding)
        return nn.functional.cross_entropy(model[2](x.mean(1)), targets)

    return _train(model, loss, torch.optim.AdamW(model.parameters()))


def encoder_inference(torch: Any) -> Work:
    """The same layers without gradients, a batch of one."""
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.1, batch_first=True)
    model, x = nn.TransformerEncoder(layer, 2).eval(), torch.randn(1, 48, 128)

    def work() -> object:
        with torch.no_grad():
            return model(x)

    return work


def seq2seq(torch: Any) -> Work:
    """A GRU that reads, and a GRU cell that writes with attention."""
    nn = torch.nn
    parts = nn.ModuleDict(
        {
            "embedding": nn.Embedding(500, 64),
            "reader": nn.GRU(64, 128, batch_first=True),
            "writer": nn.GRUCell(64 + 128, 128),
            "scores": nn.Linear(256, 500),
        }
    )
    source, target = torch.randint(500, (16, 20)), torch.randint(500, (16, 16))

    def loss() -> Any:
        read, state = parts["reader"](parts["embedding"](source))
        state, said = state[0], []
        for word in parts["embedding"](target).unbind(1):
            weights = torch.bmm(read, state.unsqueeze(2)).softmax(1)
            seen = (weights * read).sum(1)
            state = parts["writer"](torch.cat((word, seen), 1), state)
            said.append(parts["scores"](torch.cat((state, seen), 1)))
        return nn.functional.cross_entropy(torch.stack(said, 1)[:, :-1].flatten(0, 1), target[:, 1:].flatten())

    return _train(parts, loss, torch.optim.Adam(parts.parameters()))


def bidirectional_lstm(torch: Any) -> Work:
    """Packed sequences through an LSTM in both directions."""
    nn = torch.nn
    lstm, last = nn.LSTM(32, 64, bidirectional=True, batch_first=True), nn.Linear(128, 5)
    both = nn.ModuleList([lstm, last])
    rows, lengths, targets = torch.randn(16, 30, 32), torch.randint(10, 31, (16,)), torch.randint(5, (16,))

    def loss() -> Any:
        packed = nn.utils.rnn.pack_padded_sequence(rows, lengths, batch_first=True, enforce_sorted=False)
        _, (state, _) = lstm(packed)
        return nn.functional.cross_entropy(last(torch.cat((state[0], state[1]), 1)), targets)

    return _train(both, loss, torch.optim.SGD(both.parameters(), 0.1, momentum=0.9))


def _inverted(torch: Any, inputs: int, outputs: int, stride: int, squeeze: bool) -> Any:
    """MobileNet's and EfficientNet's block."""
    nn, wide = torch.nn, inputs * 4

    class Block(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Sequential(nn.Conv2d(inputs, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.SiLU())
            depth = nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False)
            self.depth = nn.Sequential(depth, nn.BatchNorm2d(wide), nn.SiLU())
            pooled = (nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, wide // 4, 1), nn.SiLU())
            self.gate = nn.Sequential(*pooled, nn.Conv2d(wide // 4, wide, 1), nn.Sigmoid()) if squeeze else None
            self.last = nn.Sequential(nn.Conv2d(wide, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

        def forward(self, x: Any) -> Any:
            y = self.depth(self.first(x))
            y = self.last(y * self.gate(y) if self.gate is not None else y)
            return x + y if x.shape == y.shape else y

    return Block()


def _mobile(torch: Any, squeeze: bool) -> Any:
    nn = torch.nn
    widths = ((16, 24, 2), (24, 24, 1), (24, 40, 2), (40, 40, 1), (40, 80, 2))
    stem = (nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.SiLU())
    blocks = [_inverted(torch, *sizes, squeeze) for sizes in widths]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(80, 10))


def _images(torch: Any, model: Any, images: Any, last: bool = False) -> Work:
    if last:
        model, images = (one.to(memory_format=torch.channels_last) for one in (model, images))
    targets = torch.randint(10, (len(images),))
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, weight_decay=1e-4)
    return _train(model, lambda: torch.nn.functional.cross_entropy(model(images), targets), optimizer)


def _small_resnet(torch: Any) -> Any:
    nn = torch.nn
    parts: list[Any] = []
    for inputs, outputs in ((3, 32), (32, 64), (64, 128)):
        parts += [_convolutions(torch, inputs, outputs), nn.MaxPool2d(2)]
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))


def convnext(torch: Any) -> Work:
    """Depthwise 7 x 7, LayerNorm over channels that are moved last, and two linear layers."""
    nn = torch.nn

    class Block(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, width: int) -> None:
            super().__init__()
            self.depth = nn.Conv2d(width, width, 7, padding=3, groups=width)
            self.norm = nn.LayerNorm(width)
            self.body = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            self.scale = nn.Parameter(torch.full((width,), 1e-6))

        def forward(self, x: Any) -> Any:
            y = self.body(self.norm(self.depth(x).permute(0, 2, 3, 1))) * self.scale
            return x + y.permute(0, 3, 1, 2)

    stem, middle = nn.Conv2d(3, 48, 4, 4), nn.Conv2d(48, 96, 2, 2)
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(96, 10))
    model = nn.Sequential(stem, Block(48), Block(48), middle, Block(96), Block(96), *head)
    return _images(torch, model, torch.randn(4, 3, 64, 64))


def policy(torch: Any) -> Work:
    """Sixteen steps of a game of four numbers, each by a sampled action, and REINFORCE's update."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    change = torch.randn(4, 4) * 0.1

    def work() -> None:
        state, chosen, rewards = torch.ones(4), [], []
        for _ in range(16):
            choice = torch.distributions.Categorical(logits=model(state))
            action = choice.sample()
            chosen.append(choice.log_prob(action))
            state = torch.tanh(state @ change + (action.item() - 0.5))
            rewards.append(float(state[0]))
        returns: list[float] = []
        total = 0.0
        for reward in reversed(rewards):
            total = reward + 0.99 * total
            returns.insert(0, total)
        values = torch.tensor(returns)
        values = (values - values.mean()) / (values.std() + 1e-6)
        optimizer.zero_grad()
        (-torch.stack(chosen) * values).sum().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return work


def q_learning(torch: Any) -> Work:
    """A batch of a replay buffer, a second network that follows slowly."""
    nn = torch.nn
    model, follower = (
        nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4)) for _ in range(2)
    )
    optimizer = torch.optim.Adam(model.parameters())
    states, actions, rewards = torch.randn(1000, 8), torch.randint(4, (1000,)), torch.randn(1000)

    def work() -> None:
        index = torch.randint(999, (64,))
        with torch.no_grad():
            best = follower(states[index + 1]).max(1).values
        values = model(states[index]).gather(1, actions[index].unsqueeze(1)).squeeze(1)
        optimizer.zero_grad()
        nn.functional.smooth_l1_loss(values, rewards[index] + 0.99 * best).backward()
        optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(follower.parameters(), model.parameters(), strict=True):
                slow.mul_(0.995).add_(fast, alpha=0.005)

    return work


def skip_gram(torch: Any, sparse: bool) -> Work:
    """word2vec with five words that are not there, embeddings with sparse gradients or not."""
    nn = torch.nn
    centre, around = nn.Embedding(20000, 64, sparse=sparse), nn.Embedding(20000, 64, sparse=sparse)
    both = nn.ModuleList([centre, around])
    optimizer = (torch.optim.SparseAdam if sparse else torch.optim.Adam)(list(both.parameters()))
    words, other = torch.randint(20000, (256,)), torch.randint(20000, (256, 6))
    signs = torch.tensor([1.0, -1, -1, -1, -1, -1])

    def loss() -> Any:
        scores = torch.bmm(around(other), centre(words).unsqueeze(2)).squeeze(2)
        return -nn.functional.logsigmoid(scores * signs).mean()

    return _train(both, loss, optimizer)


def bag_of_words(torch: Any) -> Work:
    """EmbeddingBag over a text of all documents and where each begins."""
    nn = torch.nn
    model = nn.ModuleList([nn.EmbeddingBag(5000, 64), nn.Linear(64, 4)])
    text, starts, targets = torch.randint(5000, (2000,)), torch.arange(0, 2000, 40), torch.randint(4, (50,))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    return _train(model, lambda: nn.functional.cross_entropy(model[1](model[0](text, starts)), targets), optimizer)


def autocast(torch: Any, make: str) -> Work:
    """A step under bfloat16's autocast."""
    model, inputs, targets, _ = import_module("vs_pytorch_models").MODELS[make](torch)
    optimizer = torch.optim.AdamW(model.parameters())

    def loss() -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            scores = model(inputs)
            return torch.nn.functional.cross_entropy(scores.flatten(0, -2), targets.flatten())

    return _train(model, loss, optimizer)


def inference(torch: Any, make: str, batch: int = 1) -> Work:
    """Without gradients, at batch 1."""
    model, inputs, _, _ = import_module("vs_pytorch_models").MODELS[make](torch)
    model, inputs = model.eval(), inputs[:batch].clone()

    def work() -> object:
        with torch.no_grad():
            return model(inputs)

    return work


def accumulation(torch: Any) -> Work:
    """Four small batches to a step, gradients clipped."""
    model, inputs, targets, _ = import_module("vs_pytorch_models").MODELS["LeNet, 32 digits"](torch)
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, nesterov=True)

    def work() -> None:
        optimizer.zero_grad()
        for x, y in zip(inputs.chunk(4), targets.chunk(4), strict=True):
            (torch.nn.functional.cross_entropy(model(x), y) / 4).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return work


def checkpointing(torch: Any) -> Work:
    """Four parts whose activations are computed again in the backward pass."""
    nn, checkpoint = torch.nn, import_module("torch.utils.checkpoint").checkpoint
    parts = nn.ModuleList([nn.Sequential(nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 256)) for _ in range(4)])
    rows = torch.randn(64, 256)

    def loss() -> Any:
        x = rows
        for part in parts:
            x = checkpoint(part, x, use_reentrant=False)
        return x.square().mean()

    return _train(parts, loss, torch.optim.SGD(parts.parameters(), 0.1))


def lion(torch: Any) -> Work:
    """An optimizer written by hand, in place and without gradients."""
    model, inputs, targets, _ = import_module("vs_pytorch_models").MODELS["MLP, 32 x 64"](torch)

    class Lion(torch.optim.Optimizer):  # type: ignore[misc]
        def __init__(self, parameters: Any) -> None:
            super().__init__(parameters, {"lr": 1e-4, "betas": (0.9, 0.99), "weight_decay": 1e-2})

        @torch.no_grad()  # type: ignore[untyped-decorator]
        def step(self) -> None:
            for group in self.param_groups:
                first, second = group["betas"]
                for parameter in group["params"]:
                    state = self.state[parameter]
                    if not state:
                        state["mean"] = torch.zeros_like(parameter)
                    update = state["mean"] * first + parameter.grad * (1 - first)
                    parameter.mul_(1 - group["lr"] * group["weight_decay"]).add_(update.sign_(), alpha=-group["lr"])
                    state["mean"].mul_(second).add_(parameter.grad, alpha=1 - second)

    optimizer = Lion(model.parameters())
    return _train(model, lambda: torch.nn.functional.cross_entropy(model(inputs), targets), optimizer)


NETWORKS: dict[str, Callable[[Any], Work]] = {
    "U-Net, 2 x 64 x 64": unet,
    "GAN, 16 x 32 x 32": gan,
    "VAE, 128 x 784": vae,
    "autoencoder, 64 x 512": autoencoder,
    "TransformerEncoder, 16 x 48, masked, dropout": encoder,
    "TransformerEncoder, inference, 1 x 48": encoder_inference,
    "GRU seq2seq, 16 x 20": seq2seq,
    "packed LSTM, both ways": bidirectional_lstm,
    "MobileNet, 4 x 64 x 64": lambda torch: _images(torch, _mobile(torch, False), torch.randn(4, 3, 64, 64)),
    "EfficientNet, 4 x 64 x 64": lambda torch: _images(torch, _mobile(torch, True), torch.randn(4, 3, 64, 64)),
    "EfficientNet, channels last": lambda torch: _images(
        torch, _mobile(torch, True), torch.randn(4, 3, 64, 64), last=True
    ),
    "CNN, 8 x 32 x 32": lambda torch: _images(torch, _small_resnet(torch), torch.randn(8, 3, 32, 32)),
    "CNN, channels last": lambda torch: _images(torch, _small_resnet(torch), torch.randn(8, 3, 32, 32), last=True),
    "ConvNeXt, 4 x 64 x 64": convnext,
    "policy gradient, 16 steps": policy,
    "Q-learning, batch 64": q_learning,
    "word2vec, sparse gradients": lambda torch: skip_gram(torch, sparse=True),
    "word2vec, dense gradients": lambda torch: skip_gram(torch, sparse=False),
    "EmbeddingBag, 50 documents": bag_of_words,
    "autocast MLP, 256 x 1024": lambda torch: autocast(torch, "MLP, 256 x 1024"),
    "autocast GPT": lambda torch: autocast(torch, "GPT, 6 x 384"),
    "autocast ResNet-18": lambda torch: autocast(torch, "ResNet-18, 4 x 96 x 96"),
    "autocast LSTM": lambda torch: autocast(torch, "LSTM, 16 x 32 words"),
    "inference ResNet-18, batch 1": lambda torch: inference(torch, "ResNet-18, 4 x 96 x 96"),
    "inference ViT, batch 1": lambda torch: inference(torch, "ViT, 6 x 192"),
    "inference LeNet, batch 1": lambda torch: inference(torch, "LeNet, 32 digits"),
    "inference MLP, batch 1": lambda torch: inference(torch, "MLP, 32 x 64"),
    "inference GPT, batch 1": lambda torch: inference(torch, "GPT, 6 x 384"),
    "gradient accumulation, LeNet": accumulation,
    "checkpointing, 64 x 256": checkpointing,
    "optimizer by hand (Lion), MLP": lion,
}

OPTIMIZERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SGD", {"momentum": 0.9, "weight_decay": 1e-4}),
    ("Adam", {}),
    ("AdamW", {"amsgrad": True}),
    ("Adagrad", {}),
    ("RMSprop", {"momentum": 0.9}),
    ("Adadelta", {}),
    ("NAdam", {}),
    ("RAdam", {}),
    ("Adamax", {}),
    ("Rprop", {}),
    ("ASGD", {}),
)


def _optimizer(torch: Any, name: str, options: dict[str, Any], foreach: bool | None) -> Work:
    """Steps alone, of 20 times a small matrix, a bias and a matrix of 128 x 256."""
    torch.manual_seed(0)
    parameters = [torch.nn.Parameter(torch.randn(shape)) for shape in ((16, 16), (256,), (128, 256))]
    parameters = [torch.nn.Parameter(torch.randn_like(one)) for _ in range(20) for one in parameters]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    optimizer = getattr(torch.optim, name)(parameters, lr=1e-4, foreach=foreach, **options)
    work: Work = optimizer.step
    return work


def _epochs(torch: Any, make: Callable[[Any], Any], **options: Any) -> Work:
    """An epoch of a DataLoader."""
    torch.manual_seed(0)
    dataset, more = make(torch.utils.data)

    def work() -> None:
        for _ in torch.utils.data.DataLoader(dataset, **more, **options):
            pass

    return work


def _texts(torch: Any, count: int) -> list[Any]:
    return [torch.randint(1000, (5 + 37 * position % 40,)) for position in range(count)]


def collated(torch: Any, **options: Any) -> Work:
    """Texts of different lengths, padded by `collate_fn`."""
    texts = _texts(torch, 1000)
    pad = torch.nn.utils.rnn.pad_sequence

    def collate(batch: list[Any]) -> Any:
        return pad(batch, batch_first=True), torch.tensor([len(one) for one in batch])

    return _epochs(torch, lambda data: (texts, {"batch_size": 32, "collate_fn": collate}), **options)


def dictionaries(torch: Any) -> Work:
    """Items that are dictionaries of tensors, numbers and strings."""
    items = [{"x": torch.randn(16), "y": position % 7, "name": str(position)} for position in range(1000)]
    return _epochs(torch, lambda data: (items, {"batch_size": 50}))


def iterable(torch: Any, **options: Any) -> Work:
    """Tensors that an IterableDataset makes."""
    rows = torch.randn(1000, 16)

    class Rows(torch.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[Any]:
            return iter(rows)

    return _epochs(torch, lambda data: (Rows(), {"batch_size": 50}), **options)


def weighted(torch: Any) -> Work:
    """WeightedRandomSampler, pairs of tensors."""
    rows, kinds = torch.randn(2000, 8), torch.randint(2, (2000,))

    def make(data: Any) -> Any:
        sampler = data.WeightedRandomSampler(torch.rand(2000), 2000)
        return data.TensorDataset(rows, kinds), {"batch_size": 100, "sampler": sampler}

    return _epochs(torch, make)


def persistent(torch: Any) -> Work:
    """Workers that stay: an epoch once they run."""
    dataset = torch.utils.data.TensorDataset(torch.randn(512, 3, 32, 32), torch.arange(512))
    loader = torch.utils.data.DataLoader(dataset, batch_size=64, shuffle=True, num_workers=2, persistent_workers=True)

    def work() -> None:
        for _ in loader:
            pass

    return work


def split(torch: Any) -> Work:
    """random_split, Subset and ConcatDataset."""

    def make(data: Any) -> Any:
        whole = data.TensorDataset(torch.randn(2000, 8), torch.arange(2000))
        parts = data.random_split(whole, [0.8, 0.2])
        return data.ConcatDataset(parts), {"batch_size": 64, "shuffle": True}

    return _epochs(torch, make)


def saving(torch: Any) -> Work:
    """save and load of ResNet-18's state."""
    buffers = import_module("io")
    state = import_module("vs_pytorch_models").MODELS["ResNet-18, 4 x 96 x 96"](torch)[0].state_dict()

    def work() -> None:
        stream = buffers.BytesIO()
        torch.save(state, stream)
        stream.seek(0)
        torch.load(stream)

    return work


def small_training(torch: Any) -> Work:
    """An epoch of a small network over a DataLoader, with a count of what was right."""
    model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3))
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.99)
    rows, kinds = torch.randn(640, 20), torch.randint(3, (640,))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(rows, kinds), batch_size=32, shuffle=True)

    def work() -> None:
        right, total = 0, 0.0
        for x, y in loader:
            optimizer.zero_grad()
            scores = model(x)
            loss = torch.nn.functional.cross_entropy(scores, y)
            loss.backward()
            optimizer.step()
            right += (scores.argmax(1) == y).sum().item()
            total += loss.item() * len(x)
        scheduler.step()

    return work


WAYS: dict[str, Callable[[Any], Work]] = {
    "loader: 1,000 texts, collate_fn": collated,
    "loader: 1,000 texts, collate_fn, 2 workers": lambda torch: collated(torch, num_workers=2),
    "loader: 1,000 dictionaries": dictionaries,
    "loader: IterableDataset, 1,000 rows": iterable,
    "loader: IterableDataset, 2 workers": lambda torch: iterable(torch, num_workers=2),
    "loader: WeightedRandomSampler, 2,000 pairs": weighted,
    "loader: 2 persistent workers, 512 images": persistent,
    "loader: split and joined, 2,000 pairs": split,
    "save and load ResNet-18": saving,
    "epoch of 20 batches, accuracy, schedule": small_training,
}
