"""tf.keras.preprocessing.sequence: padding of sequences, windows of series, and pairs of words."""
import json
import random

import numpy as np

from weft._core.keras.generators import Sequence


def pad_sequences(sequences, maxlen=None, dtype="int32", padding="pre", truncating="pre", value=0.0):
    """Returns lists as the rows of an array: short ones are padded, long ones are truncated."""
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    lengths, sample_shape, first = [], (), True
    for x in sequences:
        try:
            lengths.append(len(x))
        except TypeError as e:
            raise ValueError("`sequences` must be a list of iterables. Found non-iterable: %s" % (x,)) from e
        if first and len(x):
            sample_shape, first = np.asarray(x).shape[1:], False
    maxlen = np.max(lengths) if maxlen is None else maxlen
    text = np.issubdtype(dtype, np.str_) or np.issubdtype(dtype, np.unicode_)
    if isinstance(value, str) and np.dtype(dtype) != np.dtype("O") and not text:
        raise ValueError("`dtype` %s is not compatible with `value`'s type: %s\nYou should set `dtype=object` for variable length "
                         "strings." % (dtype, type(value)))
    made = np.full((len(lengths), maxlen) + sample_shape, value, dtype=dtype)
    for i, s in enumerate(sequences):
        if not len(s):
            continue
        if truncating not in ("pre", "post"):
            raise ValueError('Truncating type "%s" not understood' % truncating)
        cut = np.asarray(s[-maxlen:] if truncating == "pre" else s[:maxlen], dtype=dtype)
        if cut.shape[1:] != sample_shape:
            raise ValueError("Shape of sample %s of sequence at position %s is different from expected shape %s" % (
                cut.shape[1:], i, sample_shape))
        if padding == "post":
            made[i, :len(cut)] = cut
        elif padding == "pre":
            made[i, -len(cut):] = cut
        else:
            raise ValueError('Padding type "%s" not understood' % padding)
    return made


def make_sampling_table(size, sampling_factor=1e-5):
    """Returns the probability with which the word of each rank is kept, by Zipf's law."""
    gamma = 0.577
    rank = np.arange(size)
    rank[0] = 1
    inverse = rank * (np.log(rank) + gamma) + 0.5 - 1.0 / (12.0 * rank)
    f = sampling_factor * inverse
    return np.minimum(1.0, f / np.sqrt(f))


def skipgrams(sequence, vocabulary_size, window_size=4, negative_samples=1.0, shuffle=True, categorical=False, sampling_table=None,
              seed=None):
    """Returns (pairs of words, labels): words that are near each other, and random pairs."""
    couples, labels = [], []
    for i, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        for j in range(max(0, i - window_size), min(len(sequence), i + window_size + 1)):
            if j != i and sequence[j]:
                couples.append([word, sequence[j]])
                labels.append([0, 1] if categorical else 1)
    if negative_samples > 0:
        count = int(len(labels) * negative_samples)
        words = [c[0] for c in couples]
        random.shuffle(words)
        couples += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)]
        labels += [[1, 0]] * count if categorical else [0] * count
    if shuffle:
        seed = random.randint(0, int(10e6)) if seed is None else seed
        for values in (couples, labels):
            random.seed(seed)
            random.shuffle(values)
    return couples, labels


class TimeseriesGenerator(Sequence):
    """Yields batches of windows of a series, each with the value that follows."""

    def __init__(self, data, targets, length, sampling_rate=1, stride=1, start_index=0, end_index=None, shuffle=False, reverse=False,
                 batch_size=128):
        if len(data) != len(targets):
            raise ValueError("Data and targets have to be of same length. Data length is %d while target length is %d" % (
                len(data), len(targets)))
        self.data, self.targets, self.length, self.sampling_rate, self.stride = data, targets, length, sampling_rate, stride
        self.start_index, self.end_index = start_index + length, len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse, self.batch_size = shuffle, reverse, batch_size
        if self.start_index > self.end_index:
            raise ValueError("`start_index+length=%i > end_index=%i` is disallowed, as no part of the sequence would be left to be used as "
                             "current step." % (self.start_index, self.end_index))

    def __len__(self):
        return (self.end_index - self.start_index + self.batch_size * self.stride) // (self.batch_size * self.stride)

    def __getitem__(self, index):
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            i = self.start_index + self.batch_size * self.stride * index
            rows = np.arange(i, min(i + self.batch_size * self.stride, self.end_index + 1), self.stride)
        samples = np.array([self.data[row - self.length:row:self.sampling_rate] for row in rows])
        targets = np.array([self.targets[row] for row in rows])
        return (samples[:, ::-1, ...], targets) if self.reverse else (samples, targets)

    def get_config(self):
        def plain(name, given):
            found = given.tolist() if type(given).__module__ == np.__name__ else given
            try:
                return json.dumps(found)
            except TypeError as e:
                raise TypeError("%s not JSON Serializable: %s" % (name, given)) from e
        return {"data": plain("Data", self.data), "targets": plain("Targets", self.targets), "length": self.length,
                "sampling_rate": self.sampling_rate, "stride": self.stride, "start_index": self.start_index, "end_index": self.end_index,
                "shuffle": self.shuffle, "reverse": self.reverse, "batch_size": self.batch_size}

    def to_json(self, **kwargs):
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)
