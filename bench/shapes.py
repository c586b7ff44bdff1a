"""The shapes of the bench's jobs, and the initial values that all systems share.

A shape is text of the form "units=512,batch=8". A job's first shape names all of its keys; a later one, or that of
--shape, names those that differ. The values may be others than those listed: a job runs at any shape.
"""
import zlib

import numpy as np

SHAPES = {
    "lstm": ["units=128,inputs=64,steps=20,batch=32,classes=10", "units=512"],
    "static-lstm": ["units=128,inputs=64,steps=20,batch=32,classes=10", "units=512"],
    "resnet": ["depth=20,batch=32,size=32,width=16", "depth=32,batch=64"],
    "attention": ["width=128,heads=4,length=64,batch=16,layers=2,norm=pre", "width=512,heads=8,length=128,batch=4,norm=post"],
    "word2vec": ["words=50000,width=128,batch=128,negatives=64"],
    "many-vars": ["layers=200,units=32,batch=16"],
    "while": ["iterations=200,units=16,batch=4,gradient=1", "iterations=1000,gradient=0"],
    "bn-cnn": ["layers=6,channels=64,size=32,batch=32", "batch=1"],
    "records": ["batch=128,bytes=784,records=20000,files=4,shuffle=1000"],
    "jpeg": ["batch=32,size=256,to=224,images=200"],
    "checkpoint": ["mib=1024,variables=32,folder=/dev/shm"],
    "graph": ["layers=60,units=32,batch=16"],
    "dlrm": ["rows=10000,batch=512,dim=16,columns=26,zipf=1.05", "batch=2048", "rows=732000,batch=2048"],
    "deepfm": ["rows=10000,batch=512,dim=16,columns=26,zipf=1.05", "batch=2048", "rows=732000,batch=2048"],
    "wide-deep": ["rows=10000,batch=512,dim=64,columns=26,zipf=1.05", "batch=2048"],
}
CLUSTER = "-2ps-2w"  # the end of the name of a job that runs on two ps and two workers


def base(job):
    """The job whose model and shapes a cluster job has."""
    return job[:-len(CLUSTER)] if job.endswith(CLUSTER) else job


def of(job):
    """The texts of a job's shapes; [None] for a job without shapes."""
    return SHAPES.get(base(job), [None])


def _value(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _pairs(text):
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"'{part}' of the shape '{text}' is not KEY=VALUE")
        yield key, _value(value)


class Shape:
    """The values of a shape as attributes."""

    def __init__(self, job, text=None, optimizer="adagrad"):
        if base(job) not in SHAPES:
            raise ValueError(f"the job {job} takes no shape")
        self.__dict__.update(_pairs(of(job)[0]))
        for key, value in _pairs(text or ""):
            if key not in self.__dict__:
                raise ValueError(f"the job {job} has no '{key}' in its shape; it has {', '.join(self.__dict__)}")
            if isinstance(value, str) != isinstance(self.__dict__[key], str):
                raise ValueError(f"the job {job} cannot have {key}={value} in its shape")
            self.__dict__[key] = value
        self.optimizer = optimizer


def _generator(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def draw(name, shape):
    """The initial value of the variable `name`, in the layout of TensorFlow."""
    last = name.rsplit("/", 1)[-1]
    if last in ("gamma", "moving_variance"):
        return np.ones(shape, np.float32)
    if last in ("bias", "beta", "moving_mean"):
        return np.zeros(shape, np.float32)
    limit = 0.05 if last == "table" else (3.0 / max(1, int(np.prod(shape[:-1])))) ** 0.5
    value = _generator(name).random(shape, np.float32)
    value *= 2 * limit
    value -= limit
    return value


def uniform(name, *shape):
    """Numbers in 0..1 that are fed, the same for every system."""
    return _generator(name).random(shape, np.float32)


def classes(name, n, *shape):
    """Numbers of classes that are fed."""
    return _generator(name).integers(0, n, shape)


def zipf(name, exponent, n, *shape):
    """Ids below n of which the small ones are frequent."""
    return (_generator(name).zipf(exponent, shape) - 1) % n
