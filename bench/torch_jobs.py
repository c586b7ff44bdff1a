"""torch_jobs.py JOB [--shape SHAPE] [--optimizer NAME] [compiled] - the bench's jobs on PyTorch, eager or through
torch.compile."""
import sys
import tempfile

import torch
from torch import nn

import torch_models
import torch_sparse
from jobs import batches, converse, parse_job, tell_check
from shapes import draw

MODELS = {**torch_models.MODELS, **torch_sparse.MODELS}


def conv_pool(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2))


def softmax():
    return nn.Linear(784, 10), torch.optim.Adagrad, 0.01


def mlp():
    return nn.Sequential(nn.Linear(784, 500), nn.ReLU(), nn.Linear(500, 10)), torch.optim.SGD, 0.01


def cnn():
    model = nn.Sequential(nn.Unflatten(1, (1, 28, 28)), conv_pool(1, 32), conv_pool(32, 64), nn.Flatten(),
                          nn.Linear(7 * 7 * 64, 1024), nn.ReLU(), nn.Linear(1024, 10))
    return model, torch.optim.Adam, 1e-4


def run_model(job, shape, compiled):
    model = MODELS[job](shape)
    loss_of = torch.compile(model.loss) if compiled else model.loss

    def train(i):
        for optimizer in model.optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss = loss_of(*model.feeds[i % len(model.feeds)])
        loss.backward()
        for optimizer in model.optimizers:
            optimizer.step()
        return loss.detach()

    def infer(i):
        with torch.inference_mode():
            return loss_of(*model.feeds[i % len(model.feeds)])
    step = train if model.optimizers else infer
    tell_check(lambda i: step(i).item())
    converse(step, 3)


def checkpoint(s):
    """Saves and restores variables."""
    count = s.mib * (1 << 20) // 4 // s.variables
    held = {f"v{i}": torch.from_numpy(draw(f"v{i}/table", [count])) for i in range(s.variables)}
    with tempfile.TemporaryDirectory(dir=s.folder or None) as folder:
        def step(i):
            torch.save(held, f"{folder}/model")
            for name, value in torch.load(f"{folder}/model").items():
                held[name].copy_(value)

        def check(i):
            step(i)
            return sum(value.square().mean().item() for value in held.values())
        tell_check(check)
        converse(step, 1)


def main(job, shape, compiled):
    if job == "checkpoint":
        checkpoint(shape)
        return
    if job in MODELS:
        run_model(job, shape, compiled)
        return
    model, optimizer, rate = {"softmax": softmax, "mlp": mlp, "cnn": cnn}[job]()
    optimizer = optimizer(model.parameters(), lr=rate)
    loss_of = lambda x, y: nn.functional.cross_entropy(model(x), y)  # noqa: E731
    if compiled:
        loss_of = torch.compile(loss_of)
    data = batches()

    def step(i):
        images, labels = data[i % len(data)]
        optimizer.zero_grad(set_to_none=True)
        loss_of(torch.from_numpy(images), torch.from_numpy(labels)).backward()
        optimizer.step()

    converse(step, 5 if job == "cnn" else 50)


if __name__ == "__main__":
    main(*parse_job([a for a in sys.argv[1:] if a != "compiled"]), "compiled" in sys.argv)
