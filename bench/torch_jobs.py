"""torch_jobs.py JOB [compiled] - the bench's jobs on PyTorch, eager or through torch.compile."""
import sys

import torch
from torch import nn

from jobs import batches, converse


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


def main(job, compiled):
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
    main(sys.argv[1], "compiled" in sys.argv[2:])
