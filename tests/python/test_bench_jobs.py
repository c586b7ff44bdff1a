"""The models of scripts/bench compute the same with Weft and with TensorFlow, at shapes that the bench does not list."""
import pathlib
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as oracle

import weft

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import shapes  # noqa: E402
import tf_models  # noqa: E402
import tf_pipelines  # noqa: E402
import tf_sparse  # noqa: E402

oracle.disable_v2_behavior()
MODELS = {**tf_models.MODELS, **tf_sparse.MODELS}
SMALL = {
    "lstm": "units=7,inputs=5,steps=3,batch=3",
    "static-lstm": "units=6,inputs=5,steps=3,batch=2",
    "resnet": "depth=8,batch=3,size=8,width=4",
    "attention": "width=12,heads=3,length=5,batch=2,layers=1,norm=post",
    "word2vec": "words=100,width=6,batch=9,negatives=5",
    "many-vars": "layers=5,units=6,batch=3",
    "while": "iterations=4,units=5,batch=2",
    "bn-cnn": "layers=2,channels=5,size=7,batch=2",
    "records": "batch=5,bytes=30,records=40,files=2,shuffle=7",
    "jpeg": "batch=3,size=40,to=30,images=7",
    "checkpoint": "mib=1,variables=3,folder=",
    "graph": "layers=4,units=5,batch=3",
    **dict.fromkeys(tf_sparse.MODELS, "rows=50,batch=64,dim=4,columns=5"),
}


def losses(tf, job, optimizer):
    """Of three steps."""
    shape = shapes.Shape(job, SMALL[job], optimizer)
    with tf.Graph().as_default():
        if job in tf_pipelines.JOBS:
            with tf_pipelines.JOBS[job](tf, shape) as (step, check):
                return [check(i) for i in range(3)], step(3) is None
        model = MODELS[job](tf, shape)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf_models.load_shared(tf, session)
            return [session.run([model.check, model.step], model.feed(i))[0] for i in range(3)], None


@pytest.mark.parametrize("job", shapes.SHAPES)
def test_a_job_computes_the_same_as_in_tensorflow(job):
    for optimizer in ("adagrad", "adam") if job in tf_sparse.MODELS else (None,):
        ours, theirs = losses(weft, job, optimizer), losses(oracle, job, optimizer)
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-4)
        assert ours[1] == theirs[1]


def test_a_shape_names_keys_of_its_job():
    assert shapes.Shape("lstm", "units=9").units == 9
    assert shapes.Shape("lstm-2ps-2w").units == shapes.Shape("lstm").units
    for text, what in (("unit=9", "no 'unit'"), ("units", "not KEY=VALUE"), ("units=many", "cannot have units=many")):
        with pytest.raises(ValueError, match=what):
            shapes.Shape("lstm", text)
    with pytest.raises(ValueError, match="takes no shape"):
        shapes.Shape("mlp", "batch=1")
