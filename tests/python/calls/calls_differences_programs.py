"""Differences found by programs: empty pictures, glimpses of unknown batches, and folders of checkpoints."""
import os

from calls_differences_texts import text
from calls_differences_values import named
from machine import case


@case(nodes=False)
def pictures_without_pixels(tf):
    calls = (tf.image.rot90, tf.image.transpose_image, tf.image.flip_left_right, tf.image.per_image_standardization,
             lambda x: tf.image.random_flip_up_down(x, seed=1), lambda x: tf.image.central_crop(x, 0.5),
             lambda x: tf.image.resize_image_with_crop_or_pad(x, 2, 2))
    with tf.Session() as session:
        return [named(lambda: session.run(call(tf.placeholder_with_default(tf.zeros(have), known))).shape) for call in calls
                for have, known in (([2, 0, 3], [None, 0, None]), ([2, 0, 3], [None, None, 3]), ([1, 2, 3, 1], [None, None, None, 1]))]


@case(nodes=False)
def shapes_of_glimpses(tf):
    p = tf.placeholder
    pairs = [([None, 8, 8, 3], [4, 2]), ([5, 8, 8, 3], [None, 2]), ([5, 8, 8, 3], [4, 2]), ([5, 8, 8, None], [5, 3]), (None, None)]
    return [text(lambda: tf.image.extract_glimpse(p(tf.float32, x), [3, 2], p(tf.float32, o)).shape.as_list()) for x, o in pairs]


@case(nodes=False)
def folders_that_savers_make(tf):
    v, got = tf.Variable([1.0, 2.0], name="v"), []
    kinds = [{}, {"sharded": True}, {"write_version": tf.train.SaverDef.V1}]
    with tf.Session() as session:
        session.run(v.initializer)
        for i, kind in enumerate(kinds):
            for path in ("new%d/model" % i, "a%d/b/model" % i, "model%d" % i):
                got.append((text(lambda: tf.train.Saver(**kind).save(session, path)), os.path.isdir(os.path.dirname(path) or ".")))
    return got
