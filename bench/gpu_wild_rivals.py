"""gpu_wild_rivals.py [SECONDS] [MODEL...] - the models of gpu_wild.py on PyTorch, tf32: eager and as a CUDA graph, fed."""
import sys

import torch
from torch import nn
from torch.nn import functional as F

from gpu_rivals import captured, measure, show

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def ints(high, *shape):
    return torch.randint(0, high, shape)


class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.rnn = nn.Embedding(20000, 128), nn.LSTM(128, 128, batch_first=True, bidirectional=True)
        self.last = nn.Linear(256, 2)
        self.lengths = torch.randint(20, 81, (64,))

    def forward(self, x):
        rows = nn.utils.rnn.pack_padded_sequence(self.words(x), self.lengths, True, False)
        h = self.rnn(rows)[1][0]
        return self.last(torch.cat([h[0], h[1]], 1))


def conv_norm(a, b, size=3, strides=1, groups=1, act=nn.ReLU):
    return nn.Sequential(nn.Conv2d(a, b, size, strides, size // 2, groups=groups, bias=False), nn.BatchNorm2d(b), act())


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [3, 32, 64, 128, 256]
        self.down = nn.ModuleList(nn.Sequential(conv_norm(a, b), conv_norm(b, b)) for a, b in zip(sizes, sizes[1:]))
        self.rise = nn.ModuleList(nn.ConvTranspose2d(2 * b, b, 2, 2) for b in (128, 64, 32))
        self.up = nn.ModuleList(nn.Sequential(conv_norm(2 * b, b), conv_norm(b, b)) for b in (128, 64, 32))
        self.last = nn.Conv2d(32, 1, 1)

    def forward(self, x):
        skips = []
        for i, part in enumerate(self.down):
            x = part(x if i == 0 else F.max_pool2d(x, 2))
            skips.append(x)
        for rise, up, skip in zip(self.rise, self.up, skips[-2::-1]):
            x = up(torch.cat([rise(x), skip], 1))
        return self.last(x)


def mobilenet():
    layers, a = [conv_norm(3, 32, 3, 2)], 32
    for b, strides in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]:
        layers += [conv_norm(a, a, 3, strides, a, nn.ReLU6), conv_norm(a, b, 1)]
        a = b
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1024, 1000))


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.m, self.v = nn.Linear(784, 512), nn.Linear(512, 20), nn.Linear(512, 20)
        self.b, self.c = nn.Linear(20, 512), nn.Linear(512, 784)

    def forward(self, x):
        h = F.elu(self.a(x))
        m, v = self.m(h), self.v(h)
        logits = self.c(F.elu(self.b(m + torch.exp(v / 2) * torch.randn_like(m))))
        data = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
        return (data - 0.5 * (1 + v - m * m - v.exp()).sum(1)).mean()


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(100, 4096)
        sizes = [256, 128, 64, 3]
        self.norms = nn.ModuleList(nn.BatchNorm2d(n) for n in sizes[:3])
        self.up = nn.ModuleList(nn.ConvTranspose2d(a, b, 5, 2, 2, 1) for a, b in zip(sizes, sizes[1:]))

    def forward(self, z):
        h = self.dense(z).view(-1, 256, 4, 4)
        for norm, up in zip(self.norms, self.up):
            h = up(F.relu(norm(h)))
        return torch.tanh(h)


def critic(norm):
    layers, a = [], 3
    for i, b in enumerate((64, 128, 256)):
        layers += [nn.Conv2d(a, b, 5, 2, 2)] + [nn.BatchNorm2d(b)] * bool(norm and i) + [nn.LeakyReLU(0.2)]
        a = b
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(4096, 1))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.a, self.b = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = self.qkv(self.a(x)).view(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1, is_causal=True)
        x = x + F.dropout(self.out(a.transpose(1, 2).reshape(n, length, width)), 0.1)
        return x + F.dropout(self.narrow(F.relu(self.wide(self.b(x)))), 0.1)


class LM(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.words, self.places = nn.Embedding(10000, width), nn.Parameter(torch.zeros(128, width))
        self.layers, self.norm = nn.Sequential(*[Block(width, 8) for _ in range(6)]), nn.LayerNorm(width)

    def forward(self, x):
        h = self.norm(self.layers(self.words(x) * 512 ** 0.5 + self.places))
        return (h @ self.words.weight.t()).view(-1, 10000)


class DeepFM(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Embedding(1000000, 1), nn.Embedding(1000000, 10)
        layers, a = [], 390
        for _ in range(3):
            layers += [nn.Linear(a, 400), nn.ReLU(), nn.Dropout(0.2)]
            a = 400
        self.deep = nn.Sequential(*layers, nn.Linear(400, 1))

    def forward(self, x, values):
        linear = (self.first(x).squeeze(2) * values).sum(1, keepdim=True)
        f = self.second(x) * values.unsqueeze(2)
        pairs = 0.5 * (f.sum(1).square() - f.square().sum(1)).sum(1, keepdim=True)
        return linear + pairs + self.deep(f.flatten(1)), f


def video():
    layers, a = [], 3
    for b, pool in ((32, (1, 2, 2)), (64, 2), (128, 2), (128, 2)):
        layers += [nn.Conv3d(a, b, 3, padding=1), nn.ReLU(), nn.MaxPool3d(pool, pool)]
        a = b
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * 2 * 4 * 4, 512), nn.ReLU(), nn.Dropout(0.5), nn.Linear(512, 101))


class Speech(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(1, 32, (11, 21), 2, (5, 10)), nn.Conv2d(32, 32, (11, 11), (1, 2), (5, 5))
        self.rnn, self.last = nn.LSTM(640, 256, batch_first=True, bidirectional=True), nn.Linear(512, 29)

    def forward(self, x):
        h = F.relu(self.b(F.relu(self.a(x))))
        h = self.rnn(h.permute(0, 2, 1, 3).reshape(len(x), 100, 640))[0]
        return F.log_softmax(self.last(h), 2).transpose(0, 1)


class Translate(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.words, self.encoder = nn.Embedding(8000, width), nn.GRU(width, width, batch_first=True)
        self.cell, self.keys, self.query = nn.GRUCell(2 * width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.score, self.last = nn.Parameter(torch.rand(width)), nn.Linear(width, 8000)

    def forward(self, x, y, mask):
        states, last = self.encoder(self.words(x))
        keys, inputs, h, out = self.keys(states), self.words(y), last[0], []
        for t in range(y.shape[1]):
            e = (self.score * torch.tanh(keys + self.query(h).unsqueeze(1))).sum(2) + mask
            c = (F.softmax(e, 1).unsqueeze(2) * states).sum(1)
            h = self.cell(torch.cat([inputs[:, t], c], 1), h)
            out.append(h)
        return self.last(torch.stack(out, 1)).view(-1, 8000)


def one_loss(model, optimizer, loss, feeds, clip=0.0):
    """A step of one optimizer: returns it and the pairs of feeds, host and device."""
    model.to(device)
    pairs = [(f.pin_memory() if device.type == "cuda" else f, f.to(device)) for f in feeds]
    o = optimizer(model.parameters())

    def step():
        o.zero_grad(set_to_none=True)
        loss(model, *[d for _, d in pairs]).backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip, foreach=True)
        o.step()
    return step, pairs


def adam(rate=1e-3, betas=(0.9, 0.999)):
    return lambda p: torch.optim.Adam(p, rate, betas, fused=True, capturable=True)


def gan(penalty):
    g, d = Generator().to(device), critic(not penalty).to(device)
    host = torch.rand(64, 3, 32, 32).pin_memory() if device.type == "cuda" else torch.rand(64, 3, 32, 32)
    x = host.to(device)
    og, od = adam(2e-4)(g.parameters()), adam(2e-4)(d.parameters())
    bce = F.binary_cross_entropy_with_logits

    def step():
        z = torch.randn(64, 100, device=device)
        if penalty:
            with torch.no_grad():
                made = g(z)
            between = (x + torch.rand(64, 1, 1, 1, device=device) * (made - x)).requires_grad_()
            slopes, = torch.autograd.grad(d(between).sum(), between, create_graph=True)
            norm = slopes.square().sum((1, 2, 3)).sqrt()
            loss = d(made).mean() - d(x).mean() + 10 * (norm - 1).square().mean()
            od.zero_grad(set_to_none=True)
            loss.backward()
            od.step()
            return
        made = g(z)
        real, fake = d(x), d(made)
        og.zero_grad(set_to_none=True)
        od.zero_grad(set_to_none=True)
        d_loss = bce(real, torch.ones_like(real)) + bce(fake, torch.zeros_like(fake))
        gd = torch.autograd.grad(d_loss, list(d.parameters()), retain_graph=True)
        gg = torch.autograd.grad(bce(fake, torch.ones_like(fake)), list(g.parameters()))
        for model, grads in ((d, gd), (g, gg)):
            for p, v in zip(model.parameters(), grads):
                p.grad = v
        od.step()
        og.step()
    return step, [(host, x)]


def speech():
    lengths, sizes = torch.full((16,), 100), torch.full((16,), 20)
    return one_loss(Speech(), adam(1e-4), lambda m, x, y: F.ctc_loss(m(x), y, lengths, sizes, blank=28),
                    [torch.rand(16, 1, 200, 80), ints(28, 16, 20)], 5.0)


def deepfm_loss(m, x, v, y):
    out, f = m(x, v)
    return F.binary_cross_entropy_with_logits(out, y) + 0.5e-5 * f.square().sum()


def images(n, size):
    return torch.rand(n, 3, size, size)


JOBS = {
    "text": lambda: one_loss(Text(), adam(), lambda m, x, y: F.cross_entropy(m(x), y), [ints(20000, 64, 80), ints(2, 64)]),
    "unet": lambda: one_loss(UNet(), adam(), lambda m, x, y: F.binary_cross_entropy_with_logits(m(x), y),
                             [images(8, 128), ints(2, 8, 1, 128, 128).float()]),
    "mobilenet": lambda: one_loss(mobilenet(), lambda p: torch.optim.SGD(p, 0.01, 0.9),
                                  lambda m, x, y: F.cross_entropy(m(x), y), [images(32, 128), ints(1000, 32)]),
    "vae": lambda: one_loss(VAE(), adam(), lambda m, x: m(x), [torch.rand(128, 784)]),
    "dcgan": lambda: gan(False),
    "wgan": lambda: gan(True),
    "lm": lambda: one_loss(LM(), adam(1e-4), lambda m, x, y: F.cross_entropy(m(x), y.view(-1)),
                           [ints(10000, 16, 128), ints(10000, 16, 128)]),
    "deepfm": lambda: one_loss(DeepFM(), lambda p: torch.optim.Adagrad(p, 0.01, fused=device.type == "cpu"), deepfm_loss,
                               [ints(1000000, 2048, 39), torch.rand(2048, 39), ints(2, 2048, 1).float()]),
    "video": lambda: one_loss(video(), adam(1e-4), lambda m, x, y: F.cross_entropy(m(x), y),
                              [torch.rand(8, 3, 16, 64, 64), ints(101, 8)]),
    "speech": speech,
    "translate": lambda: one_loss(Translate(), adam(), lambda m, x, y, k: F.cross_entropy(m(x, y, k), y.view(-1)),
                                  [ints(8000, 64, 30), ints(8000, 64, 30), torch.zeros(64, 30)], 5.0),
}


def main():
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    for name in sys.argv[2:] or JOBS:
        step, pairs = JOBS[name]()

        def feed(pairs=pairs):
            for host, there in pairs:
                with torch.no_grad():
                    there.copy_(host, non_blocking=True)

        if device.type == "cpu":  # a check of the program alone
            step()
            print(name, "runs")
            continue
        try:
            show("torch eager " + name, measure(lambda step=step, feed=feed: (feed(), step()), torch.cuda.synchronize))
            graph = captured(step)
            show("torch graph " + name, measure(lambda g=graph, feed=feed: (feed(), g.replay()), torch.cuda.synchronize))
        except Exception as e:  # a graph of packed sequences, or of CTC, cannot be captured
            print("torch", name, str(e).split("\n")[0][:100], flush=True)


if __name__ == "__main__":
    main()
