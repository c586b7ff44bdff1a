"""Asynchronous advantage actor-critic on a windy corridor: threads with networks of their own that train a shared one."""
import threading

import numpy as np
import tensorflow as tf

tf.app.flags.DEFINE_integer("workers", 3, "Threads that play.")
tf.app.flags.DEFINE_integer("episodes", 600, "Episodes of all threads together.")
tf.app.flags.DEFINE_float("gamma", 0.95, "Discount of the reward one step later.")
tf.app.flags.DEFINE_float("beta", 0.01, "Weight of the entropy.")
tf.app.flags.DEFINE_float("learning_rate", 0.02, "Learning rate of RMSProp.")
FLAGS = tf.app.flags.FLAGS
CELLS, ACTIONS, LONGEST = 8, 3, 30


class Corridor(object):
    """Eight cells; the goal is at the right end. Wind pushes to the left. Each step costs a little."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.cell, self.time = 0, 0
        return self.observe()

    def observe(self):
        return np.eye(CELLS, dtype=np.float32)[self.cell]

    def step(self, action):
        move = action - 1 - int(self.rng.uniform() < 0.2)
        self.cell = min(max(self.cell + move, 0), CELLS - 1)
        self.time += 1
        won = self.cell == CELLS - 1
        return self.observe(), 1.0 if won else -0.02, won or self.time >= LONGEST


class Network(object):
    def __init__(self, scope, optimizer=None):
        with tf.variable_scope(scope):
            self.state = tf.placeholder(tf.float32, [None, CELLS], "state")
            hidden = tf.layers.dense(self.state, 24, tf.nn.relu6, kernel_initializer=tf.random_normal_initializer(0., .1, seed=1),
                                     name="hidden")
            self.policy = tf.layers.dense(hidden, ACTIONS, tf.nn.softmax, name="policy",
                                          kernel_initializer=tf.random_normal_initializer(0., .1, seed=2))
            self.value = tf.squeeze(tf.layers.dense(hidden, 1, name="value",
                                                    kernel_initializer=tf.random_normal_initializer(0., .1, seed=3)), axis=1)
        self.variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope)
        if optimizer is not None:
            self.add_loss(scope, optimizer)

    def add_loss(self, scope, optimizer):
        with tf.name_scope(scope + "_loss"):
            self.action = tf.placeholder(tf.int32, [None], "action")
            self.target = tf.placeholder(tf.float32, [None], "target")
            advantage = self.target - self.value
            chosen = tf.reduce_sum(self.policy * tf.one_hot(self.action, ACTIONS), axis=1)
            entropy = -tf.reduce_sum(self.policy * tf.log(self.policy + 1e-5), axis=1)
            actor = tf.reduce_mean(-tf.log(chosen + 1e-5) * tf.stop_gradient(advantage) - FLAGS.beta * entropy)
            self.loss = actor + 0.5 * tf.reduce_mean(tf.square(advantage))
            grads, self.norm = tf.clip_by_global_norm(tf.gradients(self.loss, self.variables), 5.0)
        shared = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "global")
        self.push = optimizer.apply_gradients(zip(grads, shared), global_step=tf.train.get_global_step())
        self.pull = tf.group(*[mine.assign(theirs) for mine, theirs in zip(self.variables, shared)])


class Worker(object):
    def __init__(self, number, optimizer, results):
        self.net, self.env = Network("worker_%d" % number, optimizer), Corridor(number)
        self.rng, self.results = np.random.RandomState(100 + number), results

    def play(self, sess):
        """One episode with the thread's own network."""
        state, done, seen = self.env.reset(), False, []
        while not done:
            p = sess.run(self.net.policy, {self.net.state: state[None]})[0]
            action = self.rng.choice(ACTIONS, p=p / p.sum())
            after, reward, done = self.env.step(action)
            seen.append((state, action, reward))
            state = after
        return seen

    def work(self, sess, coord):
        with coord.stop_on_exception():
            while not coord.should_stop():
                sess.run(self.net.pull)
                states, actions, rewards = zip(*self.play(sess))
                targets, total = np.zeros(len(rewards)), 0.0
                for i in reversed(range(len(rewards))):
                    total = rewards[i] + FLAGS.gamma * total
                    targets[i] = total
                sess.run(self.net.push, {self.net.state: states, self.net.action: actions, self.net.target: targets})
                self.results.append(sum(rewards))
                if len(self.results) >= FLAGS.episodes:
                    coord.request_stop()


def main(_):
    tf.set_random_seed(1)
    step, results = tf.train.get_or_create_global_step(), []
    shared = Network("global")
    optimizer = tf.train.RMSPropOptimizer(FLAGS.learning_rate, name="shared")
    workers = [Worker(i, optimizer, results) for i in range(FLAGS.workers)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = [threading.Thread(target=w.work, args=(sess, coord)) for w in workers]
        for t in threads:
            t.start()
        coord.join(threads)
        policy, steps = sess.run([shared.policy, step], {shared.state: np.eye(CELLS)})
    print("updates as episodes %s" % (steps == len(results)))
    print("first return %.3f" % np.mean(results[:20]))
    print("last return %.3f" % np.mean(results[-100:]))
    print("goes right in %d of %d cells" % (np.sum(np.argmax(policy[:-1], axis=1) == 2), CELLS - 1))


if __name__ == "__main__":
    tf.app.run()
