"""torch_cluster.py JOB RANK RANKS HOST PORT - one process of a cluster job of the bench, on PyTorch over gloo.

null: all_reduce of one float. mlp-sync, mlp-ring: DistributedDataParallel. mlp-async: a parameter server behind RPC (rank 0), from
which a trainer gets the new weights in the same call that brings its gradients.
"""
import os
import sys
import threading

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import rpc

from jobs import batches, converse
from torch_jobs import mlp

model = None  # of the parameter server, or of this trainer
optimizer = None
lock = threading.Lock()


def make_model():
    global model, optimizer
    model, kind, rate = mlp()
    optimizer = kind(model.parameters(), lr=rate)


def gradients_of(net, data, i):
    images, labels = data[i % len(data)]
    nn.functional.cross_entropy(net(torch.from_numpy(images)), torch.from_numpy(labels)).backward()


def null(rank, ranks):
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    one = torch.ones(1)
    converse(lambda i: dist.all_reduce(one), 20)


def mlp_sync(rank, ranks):
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    make_model()
    net, data = nn.parallel.DistributedDataParallel(model), batches()

    def step(i):
        optimizer.zero_grad(set_to_none=True)
        gradients_of(net, data, i)
        optimizer.step()

    converse(step, 20)


def exchange(gradients):
    """On the parameter server: applies what a trainer brings and hands out the weights."""
    with lock:
        for p, gradient in zip(model.parameters(), gradients):
            p.grad = gradient
        optimizer.step()
        return [p.detach().clone() for p in model.parameters()]


def mlp_async(rank, ranks):
    make_model()
    rpc.init_rpc(f"task{rank}", rank=rank, world_size=ranks)
    if rank > 0:
        data = batches()

        def step(i):
            model.zero_grad(set_to_none=True)
            gradients_of(model, data, i)
            weights = rpc.rpc_sync("task0", exchange, args=([p.grad for p in model.parameters()],))
            with torch.no_grad():
                for p, value in zip(model.parameters(), weights):
                    p.copy_(value)

        converse(step, 20)
    rpc.shutdown()


if __name__ == "__main__":
    os.environ.update(MASTER_ADDR=sys.argv[4], MASTER_PORT=sys.argv[5])
    if sys.argv[4] != "localhost":
        os.environ.update(GLOO_SOCKET_IFNAME="eth0", TP_SOCKET_IFNAME="eth0")  # of the namespace (net.py)
    jobs = {"null": null, "mlp-sync-2w": mlp_sync, "mlp-ring-2w": mlp_sync, "mlp-async-2w": mlp_async}
    jobs[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))
