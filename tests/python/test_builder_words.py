"""What SavedModelBuilder takes and refuses, and the devices that strategies name: both as in TensorFlow."""
import json
import os

import pytest
import tensorflow.compat.v1 as oracle

import both
import weft

KEEP = ("__saved_model_init_op", "__saved_model_train_op")
USES = {
    "no tags": lambda tf, builder, session: (builder.add_meta_graph_and_variables(session, []), builder.save() and None),
    "a second graph without tags": lambda tf, builder, session: (builder.add_meta_graph_and_variables(session, ["a"]),
                                                                 builder.add_meta_graph([])),
    "a graph before the variables": lambda tf, builder, session: builder.add_meta_graph(["a"]),
    "variables twice": lambda tf, builder, session: [builder.add_meta_graph_and_variables(session, ["a"]) for _ in range(2)],
    "an asset that is no tensor": lambda tf, builder, session: builder.add_meta_graph_and_variables(
        session, ["a"], assets_collection=["x"]),
    "reserved keys": lambda tf, builder, session: [both.outcome(lambda k=k: builder.add_meta_graph_and_variables(
        session, ["a"], {k: tf.saved_model.signature_def_utils.build_signature_def({})})) for k in KEEP],
}


@pytest.mark.parametrize("what", USES)
def test_a_builder_refuses_what_tensorflow_refuses(what, tmp_path):
    said = []
    for tf in (weft, oracle):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.get_variable("v", [1])
            session.run(tf.global_variables_initializer())
            folder = str(tmp_path / tf.__name__)
            builder = tf.saved_model.builder.SavedModelBuilder(folder)
            assert os.listdir(folder) == []
            said.append(both.outcome(lambda: USES[what](tf, builder, session)))
    assert said[0] == said[1]


STRATEGIES = {
    "central storage": ({}, lambda tf: tf.distribute.experimental.CentralStorageStrategy()),
    "parameter servers, alone": ({}, lambda tf: tf.distribute.experimental.ParameterServerStrategy()),
    "parameter servers": ({"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}, "task": {"type": "worker", "index": 1}},
                          lambda tf: tf.distribute.experimental.ParameterServerStrategy()),
}


@pytest.mark.parametrize("what", STRATEGIES)
def test_strategies_name_their_devices(what, monkeypatch):
    config, make = STRATEGIES[what]
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    found = []
    for tf in (weft, oracle):
        extended = make(tf).extended
        found.append([extended.worker_devices, extended.parameter_devices, extended.experimental_between_graph])
    assert found[0] == found[1]
