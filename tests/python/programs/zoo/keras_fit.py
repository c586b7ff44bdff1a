"""tf.keras as TF1 programs used it: a functional model, fit, callbacks, weights, a subclass of Layer, sessions."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras import layers

np.random.seed(0)
tf.set_random_seed(0)
rng = np.random.RandomState(1)
X = rng.randn(96, 8, 8, 1).astype(np.float32)
side = rng.randn(96, 3).astype(np.float32)
Y = (X.mean((1, 2, 3)) + side[:, 0] * 0.2 > 0).astype(np.int64)


class Scale(layers.Layer):
    def __init__(self, start, **kwargs):
        super(Scale, self).__init__(**kwargs)
        self.start = start

    def build(self, input_shape):
        self.gamma = self.add_weight(name="gamma", shape=(int(input_shape[-1]),),
                                     initializer=tf.keras.initializers.Constant(self.start), trainable=True)
        super(Scale, self).build(input_shape)

    def call(self, inputs):
        return inputs * self.gamma

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        config = super(Scale, self).get_config()
        config["start"] = self.start
        return config


def build():
    glorot = tf.keras.initializers.glorot_uniform
    image = layers.Input(shape=(8, 8, 1), name="image")
    other = layers.Input(shape=(3,), name="side")
    net = layers.Conv2D(4, 3, activation="relu", kernel_initializer=glorot(seed=1),
                        kernel_regularizer=tf.keras.regularizers.l2(1e-3), name="conv")(image)
    net = layers.BatchNormalization(name="norm")(net)
    net = layers.MaxPooling2D(2)(net)
    net = layers.Flatten()(net)
    net = layers.concatenate([net, layers.Dense(4, activation="tanh", kernel_initializer=glorot(seed=2))(other)])
    net = Scale(0.9, name="scale")(net)
    net = layers.Lambda(lambda t: t + 0.1, name="shift")(net)
    out = layers.Dense(2, activation="softmax", kernel_initializer=glorot(seed=3), name="out")(net)
    return tf.keras.models.Model(inputs=[image, other], outputs=out, name="two_inputs")


class Lines(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("epoch %d %s" % (epoch, " ".join("%s=%.4f" % (k, logs[k]) for k in sorted(logs))))


model = build()
model.compile(optimizer=tf.keras.optimizers.Adam(lr=0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
print("parameters", model.count_params(), [w.name for w in model.trainable_weights])
reduce_lr = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.01 * 0.5 ** epoch)
history = model.fit({"image": X, "side": side}, Y, batch_size=16, epochs=3, verbose=0, shuffle=False,
                    validation_data=([X[:32], side[:32]], Y[:32]), callbacks=[Lines(), reduce_lr])
print("history", sorted(history.history), len(history.epoch))
print("evaluate", ["%.4f" % v for v in model.evaluate([X, side], Y, batch_size=32, verbose=0)], model.metrics_names)
probabilities = model.predict([X[:3], side[:3]])
print("predict", np.round(probabilities, 4).tolist())
print("on batch", ["%.4f" % v for v in model.train_on_batch([X[:8], side[:8]], Y[:8])])
print("lr %.5f iterations %d" % (K.get_value(model.optimizer.lr), K.get_value(model.optimizer.iterations)))
model.save_weights("weights/ckpt")
again = build()
again.load_weights("weights/ckpt")
again.compile("sgd", "sparse_categorical_crossentropy")
print("restored", bool(np.allclose(model.predict([X[:3], side[:3]]), again.predict([X[:3], side[:3]]))))
copy = tf.keras.models.model_from_json(model.to_json(), custom_objects={"Scale": Scale})
print("from json", [l.__class__.__name__ for l in copy.layers])
features = tf.keras.models.Model(model.inputs, model.get_layer("scale").output)
print("features", features.predict([X[:1], side[:1]]).shape, "%.4f" % features.predict([X[:2], side[:2]]).sum())

simple = tf.keras.Sequential([
    layers.Dense(6, input_shape=(3,), activation=tf.nn.relu, kernel_initializer=tf.keras.initializers.he_normal(seed=4)),
    layers.Dropout(0.0), layers.Dense(1, activation="sigmoid", kernel_initializer=tf.keras.initializers.Ones())])
simple.compile(tf.train.GradientDescentOptimizer(0.1), loss=tf.keras.losses.binary_crossentropy, metrics=["mae"])
dataset = tf.data.Dataset.from_tensor_slices((side, Y[:, None].astype(np.float32))).batch(24).repeat()
for i in range(2):
    fit = simple.fit(dataset, epochs=1, steps_per_epoch=4, verbose=0)
    print("sequential", {k: round(float(v[0]), 4) for k, v in sorted(fit.history.items())})

x = tf.placeholder(tf.float32, [None, 3])
hidden = layers.Dense(5, activation="elu", kernel_initializer=tf.keras.initializers.glorot_uniform(seed=5))(x)
loss = tf.reduce_mean(tf.keras.losses.mean_squared_error(tf.reduce_sum(x, 1, keepdims=True), layers.Dense(
    1, kernel_initializer=tf.keras.initializers.glorot_uniform(seed=6))(hidden)))
train = tf.train.AdamOptimizer(0.05).minimize(loss)
sess = K.get_session()
sess.run(tf.global_variables_initializer())
for i in range(3):
    print("session loss %.5f" % sess.run([loss, train], {x: side})[0])
