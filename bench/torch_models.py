"""The models of tf_models.py for PyTorch, with the same initial values and the same batches.

Each function takes a shape and returns a Model. `load` gives a parameter the value that TensorFlow's variable of that name
starts with, in the layout of PyTorch.
"""
import dataclasses
import typing

import torch
from torch import nn
from torch.nn import functional as F

import shapes
from tf_models import FED

LINEAR, CONV = (1, 0), (3, 2, 0, 1)  # axes of TensorFlow's layout, in the order of PyTorch's


@dataclasses.dataclass
class Model:
    loss: typing.Callable  # inputs of a batch -> the number that all systems must agree on
    optimizers: list  # none: inference
    feeds: list  # for each batch, its inputs


def load(parameter, name, axes=None):
    shape = tuple(parameter.shape)
    if axes:
        shape = tuple(shape[axes.index(i)] for i in range(len(axes)))
    value = torch.from_numpy(shapes.draw(name, shape))
    with torch.no_grad():
        parameter.copy_(value.permute(axes) if axes else value)
    return parameter


def linear(inputs, outputs, name):
    layer = nn.Linear(inputs, outputs)
    load(layer.weight, name + "/kernel", LINEAR)
    load(layer.bias, name + "/bias")
    return layer


def fed(*arrays):
    return tuple(map(torch.from_numpy, arrays))


# ---- LSTM ----

class Lstm(nn.Module):
    """TensorFlow's cell has one bias and adds 1 to that of the forget gate; its gates are in another order."""

    def __init__(self, s):
        super().__init__()
        self.rnn = nn.LSTM(s.inputs, s.units, batch_first=True)
        self.out = linear(s.units, s.classes, "out")
        kernel = shapes.draw("lstm/rnn/cell/kernel", (s.inputs + s.units, 4 * s.units))
        i, g, f, o = torch.from_numpy(kernel.T.copy()).split(s.units)
        gates = torch.cat([i, f, g, o])
        with torch.no_grad():
            self.rnn.weight_ih_l0.copy_(gates[:, :s.inputs])
            self.rnn.weight_hh_l0.copy_(gates[:, s.inputs:])
            self.rnn.bias_ih_l0.zero_()
            self.rnn.bias_hh_l0.zero_()
            self.rnn.bias_hh_l0[s.units:2 * s.units] = 1
        self.rnn.bias_hh_l0.requires_grad_(False)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])


def lstm(s):
    net = Lstm(s)
    return Model(lambda x, y: F.cross_entropy(net(x), y), [torch.optim.SGD(net.parameters(), lr=0.1)],
                 [fed(shapes.uniform(f"x{i}", s.batch, s.steps, s.inputs) - 0.5, shapes.classes(f"y{i}", s.classes, s.batch))
                  for i in range(FED)])


# ---- convolutions ----

def conv(inputs, filters, size, stride, name):
    layer = nn.Conv2d(inputs, filters, size, stride, padding=(size - 1) // 2, bias=False)
    load(layer.weight, name + "/kernel", CONV)
    return layer


def norm(channels):
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.1)


class Block(nn.Module):
    def __init__(self, inputs, filters, stride, name):
        super().__init__()
        self.shortcut = nn.Sequential()
        if stride > 1:
            self.shortcut = nn.Sequential(conv(inputs, filters, 1, stride, name + "/shortcut"), norm(filters))
        self.body = nn.Sequential(conv(inputs, filters, 3, stride, name + "/conv1"), norm(filters), nn.ReLU(),
                                  conv(filters, filters, 3, 1, name + "/conv2"), norm(filters))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


def images(s, labels):
    """Batches of images with the channels first."""
    made = []
    for i in range(FED):
        x = shapes.uniform(f"x{i}", s.batch, s.size, s.size, 3) - 0.5
        made.append(fed(x.transpose(0, 3, 1, 2).copy(), *([shapes.classes(f"y{i}", 10, s.batch)] if labels else [])))
    return made


def resnet(s):
    layers = [conv(3, s.width, 3, 1, "conv0"), norm(s.width), nn.ReLU()]
    inputs = s.width
    for stage in range(3):
        for i in range((s.depth - 2) // 6):
            layers.append(Block(inputs, s.width << stage, 2 if stage and not i else 1, f"block{stage}_{i}"))
            inputs = s.width << stage
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), linear(inputs, 10, "out"))
    return Model(lambda x, y: F.cross_entropy(net(x), y), [torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)],
                 images(s, True))


def bn_cnn(s):
    layers, inputs = [], 3
    for i in range(s.layers):
        layers += [conv(inputs, s.channels, 3, 1, f"conv{i}"), norm(s.channels), nn.ReLU()]
        inputs = s.channels
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), linear(inputs, 10, "out")).eval()
    return Model(lambda x: net(x).square().mean(), [], images(s, False))


# ---- attention ----

class Layer(nn.Module):
    def __init__(self, s, name):
        super().__init__()
        self.s = s
        self.query, self.key, self.value, self.mix = (linear(s.width, s.width, f"{name}/{part}")
                                                      for part in ("query", "key", "value", "mix"))
        self.wide = linear(s.width, 4 * s.width, name + "/wide")
        self.narrow = linear(4 * s.width, s.width, name + "/narrow")
        self.norm1, self.norm2 = nn.LayerNorm(s.width, eps=1e-6), nn.LayerNorm(s.width, eps=1e-6)

    def attend(self, x):
        s = self.s
        q, k, v = (layer(x).view(-1, s.length, s.heads, s.width // s.heads).transpose(1, 2)
                   for layer in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.mix(mixed.transpose(1, 2).reshape(-1, s.length, s.width))

    def feed_forward(self, x):
        return self.narrow(F.gelu(self.wide(x), approximate="tanh"))

    def forward(self, x):
        if self.s.norm == "pre":
            x = x + self.attend(self.norm1(x))
            return x + self.feed_forward(self.norm2(x))
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.feed_forward(x))


def attention(s):
    net = nn.Sequential(*(Layer(s, f"layer{i}") for i in range(s.layers)))
    return Model(lambda x, y: (net(x) - y).square().mean(), [torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)],
                 [fed(shapes.uniform(f"x{i}", s.batch, s.length, s.width) - 0.5,
                      shapes.uniform(f"y{i}", s.batch, s.length, s.width)) for i in range(FED)])


# ---- the others ----

class Nce(nn.Module):
    """The loss of tf.nn.nce_loss with a log-uniform sampler that draws each negative once."""

    def __init__(self, s):
        super().__init__()
        self.s = s
        self.embeddings, self.nce = (nn.Embedding(s.words, s.width, sparse=True) for _ in range(2))
        self.bias = nn.Embedding(s.words, 1, sparse=True)
        load(self.embeddings.weight, "embeddings/table")
        load(self.nce.weight, "nce/table")
        nn.init.zeros_(self.bias.weight)
        self.log_range = torch.log(torch.tensor(s.words + 1.0))

    def expected(self, ids, tries):
        p = (torch.log(ids + 2.0) - torch.log(ids + 1.0)) / self.log_range
        return torch.log(-torch.expm1(tries * torch.log1p(-p)))

    def forward(self, x, y):
        s, drawn, tries = self.s, torch.empty(0, dtype=torch.int64), 0
        while len(drawn) < s.negatives:
            some = (torch.exp(torch.rand(s.negatives) * self.log_range) - 1).long() % s.words
            drawn, tries = torch.unique(torch.cat([drawn, some])), tries + s.negatives
        drawn = drawn[torch.randperm(len(drawn))[:s.negatives]]
        h = self.embeddings(x)
        right = (h * self.nce(y)).sum(1) + self.bias(y)[:, 0] - self.expected(y, tries)
        wrong = h @ self.nce(drawn).T + self.bias(drawn)[:, 0] - self.expected(drawn, tries)
        return (F.softplus(-right) + F.softplus(wrong).sum(1)).mean()


def word2vec(s):
    net = Nce(s)
    ids = [shapes.zipf(f"ids{i}", 1.2, s.words, 2, s.batch) for i in range(FED)]
    return Model(net, [torch.optim.SGD(net.parameters(), lr=1.0)], [fed(*pair) for pair in ids])


class Deep(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.layers = nn.ModuleList(linear(s.units, s.units, f"layer{i}") for i in range(s.layers))
        self.out = linear(s.units, 10, "out")

    def forward(self, h):
        for layer in self.layers:
            h = h + 0.1 * torch.tanh(layer(h))
        return self.out(h)


def many_vars(s):
    net = Deep(s)
    return Model(lambda x, y: F.cross_entropy(net(x), y), [torch.optim.Adam(net.parameters(), lr=1e-4, fused=True)],
                 [fed(shapes.uniform(f"x{i}", s.batch, s.units) - 0.5, shapes.classes(f"y{i}", 10, s.batch))
                  for i in range(FED)])


def while_loop(s):
    w = load(nn.Parameter(torch.empty(s.units, s.units)), "w")

    def loss(h):
        for _ in range(s.iterations):
            h = 0.5 * (torch.tanh(h @ w) + h)
        return (h - 0.5).square().mean()
    return Model(loss, [torch.optim.SGD([w], lr=0.01)] if s.gradient else [],
                 [fed(shapes.uniform(f"x{i}", s.batch, s.units)) for i in range(FED)])


MODELS = {"lstm": lstm, "static-lstm": lstm, "resnet": resnet, "bn-cnn": bn_cnn, "attention": attention,
          "word2vec": word2vec, "many-vars": many_vars, "while": while_loop}
