"""The PTB language model: configs, a producer queue, stacked LSTMs, clipping, learning-rate decay, perplexity."""
from __future__ import absolute_import, division, print_function

import time

import numpy as np
import tensorflow as tf


class SmallConfig(object):
    init_scale, learning_rate, max_grad_norm, num_layers = 0.1, 1.0, 5, 2
    num_steps, hidden_size, max_epoch, max_max_epoch, keep_prob, lr_decay = 5, 16, 2, 4, 1.0, 0.5
    batch_size, vocab_size = 4, 11


def ptb_producer(raw_data, batch_size, num_steps, name=None):
    with tf.name_scope(name, "PTBProducer", [raw_data, batch_size, num_steps]):
        raw_data = tf.convert_to_tensor(raw_data, name="raw_data", dtype=tf.int32)
        batch_len = tf.size(raw_data) // batch_size
        data = tf.reshape(raw_data[0:batch_size * batch_len], [batch_size, batch_len])
        epoch_size = (batch_len - 1) // num_steps
        assertion = tf.assert_positive(epoch_size, message="epoch_size == 0, decrease batch_size or num_steps")
        with tf.control_dependencies([assertion]):
            epoch_size = tf.identity(epoch_size, name="epoch_size")
        i = tf.train.range_input_producer(epoch_size, shuffle=False).dequeue()
        x = tf.strided_slice(data, [0, i * num_steps], [batch_size, (i + 1) * num_steps])
        x.set_shape([batch_size, num_steps])
        y = tf.strided_slice(data, [0, i * num_steps + 1], [batch_size, (i + 1) * num_steps + 1])
        y.set_shape([batch_size, num_steps])
        return x, y


class PTBInput(object):
    def __init__(self, config, data, name=None):
        self.batch_size, self.num_steps = config.batch_size, config.num_steps
        self.epoch_size = ((len(data) // self.batch_size) - 1) // self.num_steps
        self.input_data, self.targets = ptb_producer(data, self.batch_size, self.num_steps, name=name)


class PTBModel(object):
    def __init__(self, is_training, config, input_):
        self.input = input_
        size, vocab = config.hidden_size, config.vocab_size

        def lstm_cell():
            return tf.nn.rnn_cell.BasicLSTMCell(size, forget_bias=0.0, state_is_tuple=True,
                                                reuse=tf.get_variable_scope().reuse)
        attn_cell = lstm_cell
        if is_training and config.keep_prob < 1:
            def attn_cell():
                return tf.nn.rnn_cell.DropoutWrapper(lstm_cell(), output_keep_prob=config.keep_prob)
        cell = tf.nn.rnn_cell.MultiRNNCell([attn_cell() for _ in range(config.num_layers)], state_is_tuple=True)
        self.initial_state = cell.zero_state(config.batch_size, tf.float32)
        with tf.device("/cpu:0"):
            embedding = tf.get_variable("embedding", [vocab, size], dtype=tf.float32)
            inputs = tf.nn.embedding_lookup(embedding, input_.input_data)
        outputs, state = [], self.initial_state
        with tf.variable_scope("RNN"):
            for time_step in range(input_.num_steps):
                if time_step > 0:
                    tf.get_variable_scope().reuse_variables()
                (cell_output, state) = cell(inputs[:, time_step, :], state)
                outputs.append(cell_output)
        output = tf.reshape(tf.stack(axis=1, values=outputs), [-1, size])
        softmax_w = tf.get_variable("softmax_w", [size, vocab], dtype=tf.float32)
        softmax_b = tf.get_variable("softmax_b", [vocab], dtype=tf.float32)
        logits = tf.matmul(output, softmax_w) + softmax_b
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=tf.reshape(input_.targets, [-1]))
        self.cost = tf.reduce_sum(loss) / config.batch_size
        self.final_state = state
        if not is_training:
            return
        self.lr = tf.Variable(0.0, trainable=False)
        tvars = tf.trainable_variables()
        grads, _ = tf.clip_by_global_norm(tf.gradients(self.cost, tvars), config.max_grad_norm)
        optimizer = tf.train.GradientDescentOptimizer(self.lr)
        self.train_op = optimizer.apply_gradients(zip(grads, tvars),
                                                  global_step=tf.train.get_or_create_global_step())
        self.new_lr = tf.placeholder(tf.float32, shape=[], name="new_learning_rate")
        self.lr_update = tf.assign(self.lr, self.new_lr)

    def assign_lr(self, session, value):
        session.run(self.lr_update, feed_dict={self.new_lr: value})


def run_epoch(session, model, eval_op=None):
    costs, iters, start = 0.0, 0, time.time()
    state = session.run(model.initial_state)
    fetches = {"cost": model.cost, "final_state": model.final_state}
    if eval_op is not None:
        fetches["eval_op"] = eval_op
    for _ in range(model.input.epoch_size):
        feed_dict = {}
        for i, (c, h) in enumerate(model.initial_state):
            feed_dict[c], feed_dict[h] = state[i].c, state[i].h
        vals = session.run(fetches, feed_dict)
        state = vals["final_state"]
        costs += vals["cost"]
        iters += model.input.num_steps
    assert time.time() >= start
    return np.exp(costs / iters)


def main(_):
    rng = np.random.RandomState(0)
    words = [0]
    for _ in range(600):
        words.append((words[-1] * 3 + 1 + rng.randint(0, 2)) % 11)
    train_data, valid_data = words[:480], words[480:]
    config = SmallConfig()
    with tf.Graph().as_default():
        initializer = tf.random_uniform_initializer(-config.init_scale, config.init_scale, seed=1)
        with tf.name_scope("Train"):
            train_input = PTBInput(config=config, data=train_data, name="TrainInput")
            with tf.variable_scope("Model", reuse=None, initializer=initializer):
                m = PTBModel(is_training=True, config=config, input_=train_input)
            tf.summary.scalar("Training Loss", m.cost)
        with tf.name_scope("Valid"):
            valid_input = PTBInput(config=config, data=valid_data, name="ValidInput")
            with tf.variable_scope("Model", reuse=True, initializer=initializer):
                mvalid = PTBModel(is_training=False, config=config, input_=valid_input)
        sv = tf.train.Supervisor(logdir="ptb_logs", save_summaries_secs=0)
        with sv.managed_session() as session:
            for i in range(config.max_max_epoch):
                lr_decay = config.lr_decay ** max(i + 1 - config.max_epoch, 0.0)
                m.assign_lr(session, config.learning_rate * lr_decay)
                print("Epoch: %d Learning rate: %.3f" % (i + 1, session.run(m.lr)))
                print("Epoch: %d Train Perplexity: %.3f" % (i + 1, run_epoch(session, m, eval_op=m.train_op)))
                print("Epoch: %d Valid Perplexity: %.3f" % (i + 1, run_epoch(session, mvalid)))
            sv.saver.save(session, "ptb_logs/final", global_step=sv.global_step)
        print(", ".join(v.name for v in tf.trainable_variables()))


if __name__ == "__main__":
    tf.app.run()
