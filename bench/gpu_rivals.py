"""gpu_rivals.py [SECONDS] [MODEL...] - the models of gpu_jobs.c, gpu_models.py and gpu_loops.py on PyTorch, on one card.

Prints steps a second, eager and as a CUDA graph.  Data on the device but for mlp_fed.  gpu_rivals_jax.py has JAX.
"""
import sys
import time

import torch
from torch import nn

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 2


def show(name, rate, flop=0):
    print("%-22s %9.1f steps/s%s" % (name, rate, "  %6.1f TFLOP/s" % (rate * flop * 1e-12) if flop else ""), flush=True)


def measure(step, sync):
    for _ in range(20):
        step()
    sync()
    start, n = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        for _ in range(10):
            step()
            sync()
        n += 10
    return n / (time.perf_counter() - start)


def conv_pool(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2))


def models():
    mlp = nn.Sequential(nn.Linear(784, 500), nn.ReLU(), nn.Linear(500, 10))
    cnn = nn.Sequential(nn.Unflatten(1, (1, 28, 28)), conv_pool(1, 32), conv_pool(32, 64), nn.Flatten(),
                        nn.Linear(7 * 7 * 64, 1024), nn.ReLU(), nn.Linear(1024, 10))
    wide = nn.Sequential(*[layer for _ in range(3) for layer in (nn.Linear(4096, 4096), nn.ReLU())])
    return {"mlp": (mlp, 100, 784), "cnn": (cnn, 100, 784), "wide": (wide, 4096, 4096)}


def captured(step):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph


def torch_job(name, model, batch, pixels):
    device = torch.device("cuda")
    model = model.to(device)
    x, y = torch.rand(batch, pixels, device=device), torch.randint(0, 10, (batch,), device=device)
    adam = name == "cnn"
    optimizer = (torch.optim.Adam(model.parameters(), 1e-4, capturable=True) if adam
                 else torch.optim.SGD(model.parameters(), 0.01))
    averages = [torch.zeros_like(p) for p in model.parameters()]

    def step():
        optimizer.zero_grad(set_to_none=True)
        out = model(x)
        loss = out.square().mean() if name == "wide" else nn.functional.cross_entropy(out, y)
        if name == "mlp":
            loss = loss + 1e-4 * sum(p.square().sum() / 2 for p in model.parameters() if p.dim() > 1)
        loss.backward()
        optimizer.step()
        if name == "mlp":
            with torch.no_grad():
                torch._foreach_lerp_(averages, list(model.parameters()), 0.01)

    flop = 8.0 * 2 * 4096 ** 3 if name == "wide" else 0
    if name != "wide":
        show("torch eager " + name, measure(step, torch.cuda.synchronize))
    graph = captured(step)
    show("torch graph " + name, measure(graph.replay, torch.cuda.synchronize), flop)
    if name != "mlp":
        return
    images, labels = torch.rand(batch, pixels).pin_memory(), torch.randint(0, 10, (batch,)).pin_memory()

    def fed():
        x.copy_(images, non_blocking=True)
        y.copy_(labels, non_blocking=True)
        graph.replay()

    show("torch graph mlp_fed", measure(fed, torch.cuda.synchronize))


def resnet_job(bf16):
    """ResNet-50, channels last, momentum: eager and as a CUDA graph."""
    import torchvision
    device = torch.device("cuda")
    torch.backends.cudnn.benchmark = True
    model = torchvision.models.resnet50().to(device, memory_format=torch.channels_last)
    x = torch.rand(64, 3, 224, 224, device=device).contiguous(memory_format=torch.channels_last)
    y = torch.randint(0, 1000, (64,), device=device)
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=bf16, cache_enabled=False):
            loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()

    name = "resnet_bf16" if bf16 else "resnet"
    rate = measure(step, torch.cuda.synchronize)
    print("%-22s %9.1f steps/s  %6.0f images/s" % ("torch eager " + name, rate, rate * 64), flush=True)
    rate = measure(captured(step).replay, torch.cuda.synchronize)
    print("%-22s %9.1f steps/s  %6.0f images/s" % ("torch graph " + name, rate, rate * 64), flush=True)


class BertLayer(nn.Module):
    def __init__(self, width=768, heads=12):
        super().__init__()
        self.heads = heads
        self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.drop = nn.Dropout(0.1)

    def forward(self, x, mask):
        texts, length, width = x.shape
        q, k, v = self.qkv(x).view(texts, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = nn.functional.scaled_dot_product_attention(q, k, v, mask, 0.1)
        x = self.norms[0](self.drop(self.output(a.transpose(1, 2).reshape(texts, length, width))) + x)
        return self.norms[1](self.drop(self.narrow(nn.functional.gelu(self.wide(x), approximate="tanh"))) + x)


class Bert(nn.Module):
    def __init__(self, width=768):
        super().__init__()
        self.words, self.types, self.places = (nn.Embedding(n, width) for n in (30522, 2, 512))
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(0.1)
        self.layers = nn.ModuleList(BertLayer() for _ in range(12))
        self.pooler, self.classes = nn.Linear(width, width), nn.Linear(width, 2)

    def forward(self, ids, mask, segments, places):
        x = self.drop(self.norm(self.words(ids) + self.types(segments) + self.places(places)))
        for layer in self.layers:
            x = layer(x, mask.to(x.dtype))
        return self.classes(self.drop(torch.tanh(self.pooler(x[:, 0]))))


def bert_job(bf16):
    """BERT-base with a classifier, 32 texts of 128 words, clipped gradients, fused AdamW."""
    device = torch.device("cuda")
    model = Bert().to(device)
    ids, segments = torch.randint(0, 30522, (32, 128), device=device), torch.zeros(32, 128, dtype=torch.long, device=device)
    places = torch.arange(128, device=device)
    lengths = torch.randint(64, 129, (32, 1), device=device)
    mask = ((places[None] >= lengths) * -10000.0)[:, None, None, :].expand(32, 1, 128, 128)
    mask = mask.to(torch.bfloat16) if bf16 else mask
    y = torch.randint(0, 2, (32,), device=device)
    optimizer = torch.optim.AdamW(model.parameters(), 2e-5, fused=True, capturable=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=bf16, cache_enabled=False):
            loss = nn.functional.cross_entropy(model(ids, mask, segments, places).float(), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()

    name = "bert_bf16" if bf16 else "bert"
    show("torch eager " + name, measure(step, torch.cuda.synchronize))
    show("torch graph " + name, measure(captured(step).replay, torch.cuda.synchronize))


class LanguageModel(nn.Module):
    def __init__(self, words=10000, units=650):
        super().__init__()
        self.words, self.rnn = nn.Embedding(words, units), nn.LSTM(units, units, 2, batch_first=True)
        self.last = nn.Linear(units, words)

    def forward(self, x):
        return self.last(self.rnn(self.words(x))[0])


def lstm_job():
    """Two LSTM layers of 650 units (cuDNN's), 35 words, batch 20, clipped gradients, gradient descent."""
    device = torch.device("cuda")
    model = LanguageModel().to(device)
    x, y = (torch.randint(0, 10000, (20, 35), device=device) for _ in range(2))
    optimizer = torch.optim.SGD(model.parameters(), 1.0, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0, foreach=True)
        optimizer.step()

    for exact in (True, False):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = not exact
        name = "lstm exact" if exact else "lstm"
        show("torch eager " + name, measure(step, torch.cuda.synchronize))
        show("torch graph " + name, measure(captured(step).replay, torch.cuda.synchronize))


class Dlrm(nn.Module):
    def __init__(self, tables=26, rows=400000, columns=16):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, columns, sparse=True) for _ in range(tables))
        self.bottom = self.layers(13, 512, 256, columns)
        self.top = nn.Sequential(self.layers(columns + (tables + 1) * tables // 2, 512, 256), nn.Linear(256, 1))
        self.below = torch.tril_indices(tables + 1, tables + 1, -1).cuda()

    @staticmethod
    def layers(*sizes):
        return nn.Sequential(*[part for pair in zip(sizes, sizes[1:]) for part in (nn.Linear(*pair), nn.ReLU())])

    def forward(self, numbers, classes):
        first = self.bottom(numbers)
        rows = torch.stack([first] + [table(ids) for table, ids in zip(self.tables, classes)], 1)
        pairs = torch.bmm(rows, rows.transpose(1, 2))[:, self.below[0], self.below[1]]
        return self.top(torch.cat([first, pairs], 1))


def dlrm_job():
    """26 tables of 400,000 x 16 with sparse gradients, Adagrad, batch 2048: eager, for sparse updates cannot be captured."""
    device = torch.device("cuda")
    model = Dlrm().to(device)
    numbers, labels = torch.rand(2048, 13, device=device), torch.rand(2048, 1, device=device).round()
    classes = torch.randint(0, 400000, (26, 2048), device=device)
    optimizer = torch.optim.Adagrad(model.parameters(), 0.01)

    def step():
        optimizer.zero_grad(set_to_none=True)
        nn.functional.binary_cross_entropy_with_logits(model(numbers, classes), labels).backward()
        optimizer.step()

    show("torch eager dlrm", measure(step, torch.cuda.synchronize))


def main():
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    wanted = sys.argv[2:]
    for name, (model, batch, pixels) in models().items():
        if not wanted or name in wanted:
            torch_job(name, model, batch, pixels)
    for name, job in (("lstm", lstm_job), ("dlrm", dlrm_job)):
        if not wanted or name in wanted:
            job()
    for name, job in (("resnet", resnet_job), ("bert", bert_job)):
        if wanted and name not in wanted:
            continue
        for bf16 in (False, True):
            try:
                job(bf16)
            except ImportError:
                print("torchvision is not installed")


if __name__ == "__main__":
    main()
