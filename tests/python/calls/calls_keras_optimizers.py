"""tf.keras.optimizers: variables, slots, names and values after steps, dense and sparse, and their weights."""
import numpy as np

from machine import case

START = np.float32([[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]])


def stepped(tf, optimizers, sparse=False, steps=3):
    """Names and values of all variables after steps of each optimizer on a variable of its own."""
    K, trains = tf.keras.backend, []
    for i, optimizer in enumerate(optimizers):
        v = K.variable(START, name="v%d" % i)
        used = tf.gather(v, [1, 1, 0]) if sparse else v
        trains += optimizer.get_updates(tf.reduce_sum(used * used), [v])
    session = K.get_session()
    for _ in range(steps):
        session.run(trains)
    names = [v.name for v in tf.global_variables()]
    return names, session.run(tf.global_variables()), [[w.name for w in o.weights] for o in optimizers], [
        o.get_config() for o in optimizers]


def kinds(tf):
    o = tf.keras.optimizers
    return [o.SGD(), o.SGD(0.1, momentum=0.9), o.SGD(0.1, momentum=0.9, nesterov=True), o.SGD(0.1, decay=0.5), o.Adam(0.1),
            o.Adam(0.1, amsgrad=True, beta_1=0.8, beta_2=0.9, epsilon=0.1), o.Adamax(0.1), o.Nadam(0.1, epsilon=0.01), o.RMSprop(0.1),
            o.RMSprop(0.1, centered=True, rho=0.8), o.RMSprop(0.1, momentum=0.9), o.RMSprop(0.1, momentum=0.9, centered=True),
            o.Adagrad(0.1, 0.3, epsilon=0.1), o.Adadelta(0.1, rho=0.8, epsilon=0.01), o.Ftrl(0.1, -0.7, 0.2, 0.01, 0.02),
            o.Ftrl(0.1, l2_shrinkage_regularization_strength=0.1, beta=0.3)]


@case(nodes=False, tolerance=1e-4)
def dense_steps(tf):
    return stepped(tf, kinds(tf))


@case(nodes=False, tolerance=1e-4)
def sparse_steps(tf):
    return stepped(tf, kinds(tf), sparse=True)


@case(nodes=False, tolerance=1e-4)
def rates_and_clips(tf):
    o = tf.keras.optimizers
    made = [o.SGD(o.schedules.ExponentialDecay(0.5, 2, 0.5)), o.Adam(o.schedules.PolynomialDecay(0.5, 2)), o.SGD(0.1, clipnorm=1.0),
            o.SGD(0.1, clipvalue=0.5), o.SGD(0.1, global_clipnorm=1.0), o.SGD(lambda: 0.25), o.SGD(lr=0.3, name="own"),
            tf.keras.optimizers.Adagrad(learning_rate=0.1)]
    return stepped(tf, made)


@case(nodes=False, tolerance=1e-4)
def minimized_in_a_session(tf):
    v = tf.keras.backend.variable(START, name="v")
    optimizer = tf.keras.optimizers.Adam(0.1)
    train = optimizer.minimize(lambda: tf.reduce_sum(v * v), [v])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        values = sess.run([v, optimizer.iterations, optimizer.get_slot(v, "m"), optimizer.lr])
        tf.keras.backend.set_value(optimizer.lr, 0.5)
        sess.run(train)
        values += sess.run([v, optimizer.learning_rate])
        optimizer.lr = 0.25
        return values + sess.run([optimizer.lr]) + optimizer.get_weights(), optimizer.get_slot_names(), [
            x.name for x in tf.global_variables()]


@case(nodes=False, tolerance=1e-4)
def weights_of_an_optimizer(tf):
    K = tf.keras.backend
    v = K.variable(START, name="v")
    optimizer = tf.keras.optimizers.RMSprop(0.1)
    train = optimizer.get_updates(tf.reduce_sum(v * v), [v])
    K.get_session().run(train)
    kept = optimizer.get_weights()
    K.get_session().run(train)
    optimizer.set_weights(kept)
    return optimizer.get_weights(), K.get_value(optimizer.iterations), K.get_value(v)


@case(nodes=False, tolerance=1e-4)
def constrained(tf):
    v = tf.keras.backend.variable(START, name="v", constraint=lambda x: tf.clip_by_value(x, 0.0, 1.0))
    return stepped_one(tf, tf.keras.optimizers.SGD(0.1), v)


def stepped_one(tf, optimizer, v):
    train = optimizer.get_updates(tf.reduce_sum(v * v), [v])
    tf.keras.backend.get_session().run(train)
    return tf.keras.backend.get_value(v)
