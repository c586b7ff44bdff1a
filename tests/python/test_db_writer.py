"""tf.contrib.summary.create_db_writer: the names of a run, and what a session writes."""
import sqlite3

import pytest

import weft as tf


def test_a_database_writer_names_what_cannot_be_a_name():
    create = tf.contrib.summary.create_db_writer
    for given, name in ((dict(experiment_name="a<b"), "experiment_name"), (dict(run_name="r" * 513), "run_name"),
                        (dict(user_name="a b"), "user_name")):
        with tf.Graph().as_default(), pytest.raises(ValueError, match=name):
            create("x.db", **{"user_name": "u", **given})


def test_a_database_writer_has_names_of_its_own(tmp_path):
    path = str(tmp_path / "x.db")
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.get_or_create_global_step()
        with tf.contrib.summary.create_db_writer(path, user_name="u").as_default(), tf.contrib.summary.always_record_summaries():
            tf.contrib.summary.scalar("loss", 2.5, step=3)
            sess.run(tf.global_variables_initializer())
            tf.contrib.summary.initialize(graph=tf.get_default_graph())
            sess.run(tf.contrib.summary.all_summary_ops())
    db = sqlite3.connect(path)
    assert db.execute("SELECT tag_name, step, user_name, length(experiment_name), length(run_name) FROM Tensors JOIN Tags ON "
                      "series = tag_id, Runs, Experiments, Users").fetchall() == [("loss", 3, "u", 10, 8)]
    assert ("global_step",) in db.execute("SELECT node_name FROM Nodes").fetchall()
