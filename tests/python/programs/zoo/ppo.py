"""Proximal policy optimization of a pole on a cart, in the form of its many tutorials; the simulation is below."""
import numpy as np
import tensorflow as tf

EPISODES, LENGTH, BATCH, UPDATES = 12, 60, 32, 5
GAMMA, LAMBDA, CLIP = 0.97, 0.95, 0.2


class Cart(object):
    """A pole that falls unless the cart below it moves."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.state, self.time = self.rng.uniform(-0.05, 0.05, size=4), 0
        return self.state.copy()

    def step(self, action):
        x, x_dot, theta, theta_dot = self.state
        force = 10.0 if action == 1 else -10.0
        cos, sin = np.cos(theta), np.sin(theta)
        temp = (force + 0.05 * theta_dot ** 2 * sin) / 1.1
        theta_acc = (9.8 * sin - cos * temp) / (0.5 * (4.0 / 3.0 - 0.1 * cos ** 2 / 1.1))
        x_acc = temp - 0.05 * theta_acc * cos / 1.1
        self.state = self.state + 0.02 * np.array([x_dot, x_acc, theta_dot, theta_acc])
        self.time += 1
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21 or self.time >= LENGTH
        return self.state.copy(), 1.0, done


class PPO(object):
    def __init__(self, sess, states, actions):
        self.sess = sess
        self.obs = tf.placeholder(tf.float32, [None, states], "obs")
        self.action = tf.placeholder(tf.int32, [None], "action")
        self.advantage = tf.placeholder(tf.float32, [None], "advantage")
        self.returns = tf.placeholder(tf.float32, [None], "returns")
        with tf.variable_scope("critic"):
            hidden = tf.layers.dense(self.obs, 32, tf.nn.tanh, kernel_initializer=tf.glorot_uniform_initializer(seed=1))
            self.value = tf.squeeze(tf.layers.dense(hidden, 1, kernel_initializer=tf.glorot_uniform_initializer(seed=2)), 1)
        self.pi, self.pi_params = self._build("pi", actions, True)
        self.old_pi, old_params = self._build("old_pi", actions, False)
        self.sync = [old.assign(new) for new, old in zip(self.pi_params, old_params)]
        rows = tf.stack([tf.range(tf.shape(self.action)[0]), self.action], axis=1)
        ratio = tf.gather_nd(self.pi, rows) / (tf.gather_nd(self.old_pi, rows) + 1e-8)
        surrogate = tf.minimum(ratio * self.advantage, tf.clip_by_value(ratio, 1 - CLIP, 1 + CLIP) * self.advantage)
        entropy = -tf.reduce_mean(tf.reduce_sum(self.pi * tf.log(self.pi + 1e-8), axis=1))
        self.actor_loss = -tf.reduce_mean(surrogate) - 0.01 * entropy
        self.critic_loss = tf.losses.mean_squared_error(self.returns, self.value)
        optimizer = tf.train.AdamOptimizer(0.01)
        grads, variables = zip(*optimizer.compute_gradients(self.actor_loss, self.pi_params))
        grads, self.norm = tf.clip_by_global_norm(grads, 0.5)
        self.train_actor = optimizer.apply_gradients(zip(grads, variables))
        self.train_critic = tf.train.AdamOptimizer(0.02).minimize(
            self.critic_loss, var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="critic"))

    def _build(self, name, actions, trainable):
        with tf.variable_scope(name):
            hidden = tf.layers.dense(self.obs, 32, tf.nn.tanh, trainable=trainable,
                                     kernel_initializer=tf.glorot_uniform_initializer(seed=3))
            probabilities = tf.layers.dense(hidden, actions, tf.nn.softmax, trainable=trainable,
                                            kernel_initializer=tf.random_normal_initializer(0.0, 0.01, seed=4))
        return probabilities, tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope=name)

    def act(self, state, rng):
        p, value = self.sess.run([self.pi, self.value], {self.obs: state[None]})
        return int(rng.uniform() > p[0, 0]), value[0]

    def update(self, obs, action, advantage, returns, rng):
        self.sess.run(self.sync)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        for _ in range(UPDATES):
            order = rng.permutation(len(obs))
            for i in range(0, len(obs), BATCH):
                rows = order[i:i + BATCH]
                feed = {self.obs: obs[rows], self.action: action[rows], self.advantage: advantage[rows], self.returns: returns[rows]}
                self.sess.run([self.train_actor, self.train_critic], feed)
        feed = {self.obs: obs, self.action: action, self.advantage: advantage, self.returns: returns}
        return self.sess.run([self.actor_loss, self.critic_loss], feed)


def estimate(rewards, values, last):
    """Generalized advantages and returns."""
    values = np.append(values, last)
    advantage, total = np.zeros(len(rewards)), 0.0
    for i in reversed(range(len(rewards))):
        delta = rewards[i] + GAMMA * values[i + 1] - values[i]
        total = delta + GAMMA * LAMBDA * total
        advantage[i] = total
    return advantage, advantage + values[:-1]


def main():
    tf.set_random_seed(5)
    rng, env = np.random.RandomState(11), Cart(3)
    with tf.Session() as sess:
        agent = PPO(sess, 4, 2)
        sess.run(tf.global_variables_initializer())
        for episode in range(EPISODES):
            rows = {k: [] for k in ("obs", "action", "advantage", "returns")}
            lengths = []
            for _ in range(3):
                state, done, seen = env.reset(), False, []
                while not done:
                    action, value = agent.act(state, rng)
                    after, reward, done = env.step(action)
                    seen.append((state, action, reward, value))
                    state = after
                states, actions, rewards, values = zip(*seen)
                advantage, returns = estimate(rewards, values, 0.0)
                for key, value in zip(("obs", "action", "advantage", "returns"), (states, actions, advantage, returns)):
                    rows[key].extend(value)
                lengths.append(len(seen))
            losses = agent.update(*[np.array(rows[k]) for k in ("obs", "action", "advantage", "returns")], rng=rng)
            print("episode %2d length %5.1f actor %+.4f critic %.3f" % (episode, np.mean(lengths), losses[0], losses[1]))


if __name__ == "__main__":
    main()
