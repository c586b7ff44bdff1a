"""gpu_rivals_jax.py [SECONDS] [MODEL...] - models of gpu_jobs.c and gpu_loops.py on JAX, through jit: steps a second.

Data on the device; tf32 allowed.  Written without a library of layers, as the models are few.
"""
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 2
rng = np.random.RandomState(1)


def show(name, step, state, *data, images=0, flop=0, steps=1):
    """Times a call that takes a state and data, trains for `steps` steps and gives the next state."""
    step = jax.jit(step, donate_argnums=0)
    for _ in range(10):
        state = jax.block_until_ready(step(state, *data))
    start, n = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        state = jax.block_until_ready(step(state, *data))
        n += 1
    rate = n * steps / (time.perf_counter() - start)
    more = "  %6.0f images/s" % (rate * images) if images else "  %6.1f TFLOP/s" % (rate * flop * 1e-12) if flop else ""
    print("%-22s %9.1f steps/s%s" % ("jax jit " + name, rate, more), flush=True)


def weights(*shape):
    return jnp.asarray(rng.normal(0, 0.05, shape), jnp.float32)


def dense(p, i, x):
    return x @ p[i] + p[i + 1]


def entropy(logits, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))


def data(batch, *shape):
    return jnp.asarray(rng.rand(batch, *shape), jnp.float32), jnp.asarray(rng.randint(0, 10, batch))


def zeros(p):
    return [jnp.zeros_like(v) for v in p]


def mlp():
    x, y = data(100, 784)
    p = [weights(784, 500), weights(500), weights(500, 10), weights(10)]

    def loss(p, x, y):
        logits = dense(p, 2, jax.nn.relu(dense(p, 0, x)))
        return entropy(logits, y) + 1e-4 * ((p[0] ** 2).sum() + (p[2] ** 2).sum()) / 2

    def step(state, x, y):
        p = [v - 0.01 * d for v, d in zip(state[0], jax.grad(loss)(state[0], x, y))]
        return [p, [m - 0.01 * (m - v) for m, v in zip(state[1], p)]]

    show("mlp", step, [p, zeros(p)], x, y)


def convolve(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pool(x, size, stride):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, stride, stride, 1), "SAME")


def cnn():
    x, y = data(100, 28, 28, 1)
    p = [weights(5, 5, 1, 32), weights(32), weights(5, 5, 32, 64), weights(64), weights(7 * 7 * 64, 1024), weights(1024),
         weights(1024, 10), weights(10)]

    def loss(p, h, y):
        for i in (0, 2):
            h = pool(jax.nn.relu(convolve(h, p[i]) + p[i + 1]), 2, 2)
        return entropy(dense(p, 6, jax.nn.relu(dense(p, 4, h.reshape(100, -1)))), y)

    def step(state, x, y):
        p, m, v, at = state
        at = at + 1
        d = jax.grad(loss)(p, x, y)
        m = [0.9 * a + 0.1 * b for a, b in zip(m, d)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(v, d)]
        rate = 1e-4 * jnp.sqrt(1 - 0.999 ** at) / (1 - 0.9 ** at)
        return [[a - rate * b / (jnp.sqrt(c) + 1e-8) for a, b, c in zip(p, m, v)], m, v, at]

    show("cnn", step, [p, zeros(p), zeros(p), jnp.float32(0)], x, y)


def wide():
    x, _ = data(4096, 4096)
    p = [q for _ in range(3) for q in (weights(4096, 4096), weights(4096))]

    def loss(p, h):
        for i in (0, 2, 4):
            h = jax.nn.relu(dense(p, i, h))
        return jnp.mean(h ** 2)

    def step(p, x):
        return [v - 0.01 * d for v, d in zip(p, jax.grad(loss)(p, x))]

    show("wide", step, p, x, flop=8.0 * 2 * 4096 ** 3)


BLOCKS = [(64, 3), (128, 4), (256, 6), (512, 3)]


def resnet_layers():
    """(inputs, filters, size, stride) of each convolution, in the order in which resnet_logits meets them."""
    layers, inputs = [(3, 64, 7, 2)], 64
    for stage, (filters, blocks) in enumerate(BLOCKS):
        for block in range(blocks):
            stride = 2 if stage and block == 0 else 1
            layers += [(inputs, filters, 1, 1), (filters, filters, 3, stride), (filters, 4 * filters, 1, 1)]
            if block == 0:
                layers.append((inputs, 4 * filters, 1, stride))
            inputs = 4 * filters
    return layers


def resnet_logits(p, x, kind):
    now, strides = [], [layer[3] for layer in resnet_layers()]

    def layer(h):
        i = len(now) // 2
        h = convolve(h, p[3 * i].astype(kind), strides[i])
        wide_h = h.astype(jnp.float32)
        mean = wide_h.mean((0, 1, 2))
        variance = (wide_h ** 2).mean((0, 1, 2)) - mean ** 2
        now.extend([mean, variance])
        return ((wide_h - mean) * (lax.rsqrt(variance + 1e-3) * p[3 * i + 1]) + p[3 * i + 2]).astype(kind)

    h = pool(jax.nn.relu(layer(x.astype(kind))), 3, 2)
    for _, blocks in BLOCKS:
        for block in range(blocks):
            inner = layer(jax.nn.relu(layer(jax.nn.relu(layer(h)))))
            h = jax.nn.relu(inner + (layer(h) if block == 0 else h))
    return dense(p, len(p) - 2, h.mean((1, 2)).astype(jnp.float32)), now


def resnet(name, kind, batch=64, side=224):
    x, y = data(batch, side, side, 3)
    p = [q for n, m, size, _ in resnet_layers() for q in (weights(size, size, n, m), jnp.ones(m), jnp.zeros(m))]
    p += [weights(2048, 1000), weights(1000)]
    moving = [jnp.zeros(m) for _, m, _, _ in resnet_layers() for _ in range(2)]

    def loss(p, x, y):
        logits, now = resnet_logits(p, x, kind)
        return entropy(logits, y), now

    def step(state, x, y):
        p, speed, moving = state
        d, now = jax.grad(loss, has_aux=True)(p, x, y)
        speed = [0.9 * a + b for a, b in zip(speed, d)]
        return [[a - 0.01 * b for a, b in zip(p, speed)], speed, [a - 0.1 * (a - b) for a, b in zip(moving, now)]]

    show(name, step, [p, zeros(p), moving], x, y, images=batch)


def train_in_loop(rounds=100):
    x, y = data(100, 784)

    def loss(w):
        return entropy(jax.nn.relu(x @ w[0]) @ w[1], y)

    def step(w):
        return lax.fori_loop(0, rounds, lambda i, v: [a - 0.1 * b for a, b in zip(v, jax.grad(loss)(v))], w)

    show("train_in_loop", step, [weights(784, 50), weights(50, 10)], steps=rounds)


def lstm(units=650, words=10000, batch=20, length=35):
    x, y = (jnp.asarray(rng.randint(0, words, (batch, length))) for _ in range(2))
    p = {"words": weights(words, units), "last": [weights(units, words), weights(words)],
         "cells": [[weights(2 * units, 4 * units), weights(4 * units)] for _ in range(2)]}

    def cell(state, x, w):
        c, h = state
        i, j, f, o = jnp.split(jnp.concatenate([x, h], 1) @ w[0] + w[1], 4, 1)
        c = c * jax.nn.sigmoid(f + 1.0) + jax.nn.sigmoid(i) * jnp.tanh(j)
        return c, jnp.tanh(c) * jax.nn.sigmoid(o)

    def loss(p):
        def word(states, x):
            first = cell(states[0], x, p["cells"][0])
            second = cell(states[1], first[1], p["cells"][1])
            return (first, second), second[1]

        start = jnp.zeros((batch, units))
        _, h = lax.scan(word, ((start, start), (start, start)), p["words"][x].swapaxes(0, 1))
        return entropy(dense(p["last"], 0, h.reshape(-1, units)), y.swapaxes(0, 1).reshape(-1))

    def step(p):
        d = jax.grad(loss)(p)
        norm = jnp.sqrt(sum((v ** 2).sum() for v in jax.tree.leaves(d)))
        return jax.tree.map(lambda a, b: a - b * 5.0 / jnp.maximum(norm, 5.0), p, d)

    show("lstm", step, p)


def main():
    jax.config.update("jax_default_matmul_precision", "tensorfloat32")
    jobs = {"mlp": mlp, "cnn": cnn, "wide": wide, "train_in_loop": train_in_loop, "lstm": lstm,
            "resnet": lambda: resnet("resnet", jnp.float32), "resnet_bf16": lambda: resnet("resnet_bf16", jnp.bfloat16)}
    for name in sys.argv[2:] or jobs:
        jobs[name]()


if __name__ == "__main__":
    main()
