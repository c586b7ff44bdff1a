"""The models of tf_sparse.py for PyTorch: tables with sparse gradients, with the optimizer that PyTorch has for them.

Its SparseAdam changes only the rows that a batch touches; TensorFlow's Adam changes all rows. So with Adam the losses of
the first steps agree and later ones drift apart.
"""
import torch
from torch import nn
from torch.nn import functional as F

from tf_models import FED
from tf_sparse import DENSE, batch_of
from torch_models import Model, fed, linear, load


def tables(s, name, dim_of):
    made = nn.ModuleList(nn.Embedding(s.rows, dim_of(column), sparse=True) for column in range(s.columns))
    for column, table in enumerate(made):
        load(table.weight, f"{name}{column}/table")
    return made


def lookups(found, ids):
    return [table(ids[:, column]) for column, table in enumerate(found)]


def layers(inputs, units, name, last=False):
    """last: a relu follows the last layer too."""
    made = []
    for i, n in enumerate(units):
        made.append(linear(inputs, n, f"{name}{i}"))
        if last or i + 1 < len(units):
            made.append(nn.ReLU())
        inputs = n
    return nn.Sequential(*made)


class Dlrm(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.tables = tables(s, "column", lambda column: s.dim)
        self.bottom = layers(DENSE, [512, 256, 64, s.dim], "bottom", last=True)
        n = s.columns + 1
        self.pairs = torch.tensor([i * n + j for i in range(n) for j in range(i)])
        self.top = layers(s.dim + len(self.pairs), [512, 256, 1], "top")

    def forward(self, dense, ids):
        bottom = self.bottom(dense)
        vectors = torch.stack([bottom, *lookups(self.tables, ids)], 1)
        dots = torch.bmm(vectors, vectors.transpose(1, 2)).flatten(1)
        return self.top(torch.cat([bottom, dots[:, self.pairs]], 1))


class DeepFm(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.linear = tables(s, "linear", lambda column: 1)
        self.tables = tables(s, "column", lambda column: s.dim)
        self.deep = layers(DENSE + s.columns * s.dim, [1024, 256, 32], "deep", last=True)
        self.final = layers(1 + s.dim + 32, [128, 64, 1], "final")

    def forward(self, dense, ids):
        linear_part = sum(lookups(self.linear, ids))
        found = lookups(self.tables, ids)
        vectors = torch.stack(found, 1)
        total = vectors.sum(1).square() - vectors.square().sum(1)
        deep = self.deep(torch.cat([dense, *found], 1))
        return self.final(torch.cat([linear_part, 0.5 * total, deep], 1))


class WideDeep(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.linear = tables(s, "linear", lambda column: 1)
        self.tables = tables(s, "column", lambda column: s.dim * (1 + column % 2))
        self.deep = layers(DENSE + sum(t.embedding_dim for t in self.tables), [1024, 512, 256, 1], "deep")

    def forward(self, dense, ids):
        return sum(lookups(self.linear, ids)) + self.deep(torch.cat([dense, *lookups(self.tables, ids)], 1))


def optimizers(s, net):
    if s.optimizer == "adagrad":
        return [torch.optim.Adagrad(net.parameters(), lr=0.01, initial_accumulator_value=0.1, eps=0)]
    sparse = [p for module in net.modules() if isinstance(module, nn.Embedding) for p in module.parameters()]
    known = set(map(id, sparse))
    rest = [p for p in net.parameters() if id(p) not in known]
    return [torch.optim.SparseAdam(sparse, lr=0.001), torch.optim.Adam(rest, lr=0.001, fused=True)]


def trainer(kind):
    def build(s):
        net = kind(s)
        return Model(lambda dense, ids, clicks: F.binary_cross_entropy_with_logits(net(dense, ids), clicks),
                     optimizers(s, net), [fed(*batch_of(s, i)) for i in range(FED)])
    return build


MODELS = {"dlrm": trainer(Dlrm), "deepfm": trainer(DeepFm), "wide-deep": trainer(WideDeep)}
