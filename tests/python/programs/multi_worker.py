"""A model that workers train together, each with its batches: an Estimator with tf.distribute's MultiWorkerMirroredStrategy.

The workers' initial values differ, so that it shows whose are taken.  Batches have 8 and 5 rows by turns, so that the
gradients of the embedding have different numbers of rows on the workers.
"""
import json
import os
import sys


def batches(tf, context):
    def batch(i):
        size = 8 - 3 * (i % 2)
        row = tf.range(i * 8, i * 8 + size)
        x = tf.stack([tf.sin(tf.cast(row * k, tf.float32)) for k in (1, 2, 3)], 1)
        y = tf.reduce_sum(x * [1.0, 2.0, -1.0], 1, keepdims=True) + 0.5
        return {"x": x, "id": tf.cast(row % 5, tf.int32)}, y
    return tf.data.Dataset.range(400).shard(context.num_input_pipelines, context.input_pipeline_id).map(batch)


def model(tf, number):
    def model_fn(features, labels, mode):
        normal = tf.random_normal_initializer(seed=3 + number)
        table = tf.get_variable("table", [5, 2], initializer=normal)
        x = tf.concat([features["x"], tf.nn.embedding_lookup(table, features["id"])], 1)
        hidden = tf.layers.dense(x, 4, tf.nn.tanh, kernel_initializer=normal)
        hidden = tf.layers.batch_normalization(hidden, momentum=0.9, training=mode == tf.estimator.ModeKeys.TRAIN)
        out = tf.layers.dense(hidden, 1, kernel_initializer=normal)
        loss = tf.losses.mean_squared_error(labels, out)
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(mode, loss=loss)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train = tf.train.AdamOptimizer(0.02).minimize(loss, tf.train.get_or_create_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)
    return model_fn


def estimator(tf, strategy, folder, number=0, **more):
    config = tf.estimator.RunConfig(train_distribute=strategy, save_checkpoints_steps=6, log_step_count_steps=4, tf_random_seed=1,
                                    **more)
    return tf.estimator.Estimator(model(tf, number), model_dir=folder, config=config)


def main(tf, folder, steps):
    tf.logging.set_verbosity(tf.logging.INFO)
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    extended = strategy.extended
    print("strategy", strategy.num_replicas_in_sync, extended.worker_devices, extended.should_checkpoint, extended.should_save_summary,
          extended.experimental_should_init, extended.experimental_between_graph, flush=True)

    def input_fn(input_context):
        print("input", input_context.num_input_pipelines, input_context.input_pipeline_id, input_context.num_replicas_in_sync)
        return batches(tf, input_context)

    def eval_fn():
        return batches(tf, tf.distribute.InputContext()).take(4)
    task = json.loads(os.environ["TF_CONFIG"])["task"]
    made = estimator(tf, strategy, folder, 0 if task["type"] == "chief" else 10 + task["index"])
    tf.estimator.train_and_evaluate(made, tf.estimator.TrainSpec(input_fn, max_steps=steps),
                                    tf.estimator.EvalSpec(eval_fn, steps=None, start_delay_secs=0, throttle_secs=0))
    print("ended", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "tensorflow":
        import tensorflow.compat.v1 as tensorflow
        tensorflow.disable_v2_behavior()
    else:
        import tensorflow
    main(tensorflow, sys.argv[2], int(sys.argv[3]))
