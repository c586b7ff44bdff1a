"""Matrices of checkpoints for another vocabulary."""
import numpy as np
import tensorflow as tf

from scenario import Fails, check

raw, v1 = tf.raw_ops, tf.compat.v1


def test_lines_are_found_in_the_other_vocabulary(tmp_path):
    files = {"new": "a\nb\nc\nd\n", "old": "b\nx\na", "twice": "b\nb\na\n", "empty": ""}
    for name, content in files.items():
        (tmp_path / name).write_text(content)

    def steps():
        def made(new="new", old="old", new_vocab_offset=0, num_new_vocab=4, **more):
            return list(raw.GenerateVocabRemapping(new_vocab_file=str(tmp_path / new), old_vocab_file=str(tmp_path / old),
                                                   new_vocab_offset=new_vocab_offset, num_new_vocab=num_new_vocab, **more))
        return [made(), made(new_vocab_offset=1, num_new_vocab=2), made(old_vocab_size=1), made(new_vocab_offset=4, num_new_vocab=0),
                made(new="twice", num_new_vocab=3), Fails(made(num_new_vocab=5)), Fails(made(old_vocab_size=9)),
                Fails(made(old="twice")), Fails(made(new_vocab_offset=3, num_new_vocab=2))]
    check(steps)


def test_rows_and_columns_of_a_matrix_are_moved(tmp_path):
    prefix = str(tmp_path / "m")
    with tf.Graph().as_default(), v1.Session() as sess:
        matrix = np.arange(12, dtype=np.float32).reshape(4, 3)
        parts = [v1.get_variable("part", [6, 2], initializer=tf.ones_initializer(), partitioner=v1.fixed_size_partitioner(3))]
        made = [v1.get_variable("m", initializer=matrix), v1.get_variable("wide", initializer=matrix.astype(np.float64)),
                v1.get_variable("flat", initializer=matrix[0])]
        sess.run(v1.global_variables_initializer())
        v1.train.Saver(v1.global_variables()).save(sess, prefix)
        assert len(made) == 3 and parts

    def load(name="m", rows=(2, 0), cols=(), values=(), num_rows=2, num_cols=3, path=prefix, **more):
        return raw.LoadAndRemapMatrix(ckpt_path=path, old_tensor_name=name, row_remapping=tf.constant(rows, tf.int64),
                                      col_remapping=tf.constant(cols, tf.int64), initializing_values=tf.constant(values, tf.float32),
                                      num_rows=num_rows, num_cols=num_cols, **more)

    def steps():
        three = dict(rows=(2, -1, 0), num_rows=3)
        return [load(), load(cols=(1, 2, 0)), load(values=(7.0, 8.0, 9.0), **three), load(max_rows_in_memory=1), load(rows=(), num_rows=0),
                load(cols=(1, -1), num_cols=2, values=(1.0, 2.0, 3.0, 4.0), **three), load("part", (5, 1), num_cols=2),
                Fails(load(values=(7.0,), **three)), Fails(load(values=(7.0,))), Fails(load(rows=(2, 2))), Fails(load(cols=(1, 1, 0))),
                Fails(load(rows=(2, 9))), Fails(load("none")), Fails(load("wide")), Fails(load("flat")), Fails(load(num_cols=2)),
                Fails(load(num_rows=3)), Fails(load(path=prefix + "x"))]
    check(steps)
