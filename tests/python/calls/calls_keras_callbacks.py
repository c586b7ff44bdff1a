"""tf.keras.callbacks: which methods are called with what, what is printed, stopped, written and set."""
import glob
import os

import numpy as np

from calls_keras_models import X, Y, printed
from machine import case


def model_of(tf, rate=0.1):
    k = tf.keras
    model = k.Sequential([k.layers.Dense(2, input_shape=(3,), kernel_initializer="ones"), k.layers.Dense(1, kernel_initializer="ones")])
    model.compile(k.optimizers.SGD(rate), "mse", metrics=["mae"])
    return model


def fitted(model, *callbacks, **kwargs):
    given = dict(epochs=4, batch_size=8, shuffle=False, validation_data=(X[:5], Y[:5]), verbose=0)
    history, lines = printed(lambda: model.fit(X, Y, callbacks=list(callbacks), **{**given, **kwargs}))
    return history.history, history.epoch, lines, model.get_weights()


@case(nodes=False, tolerance=1e-4)
def calls_in_order(tf):
    said = []

    class Told(tf.keras.callbacks.Callback):
        pass
    for name in [n for n in dir(tf.keras.callbacks.Callback) if n.startswith("on_")]:
        def method(self, *args, logs=None, name=name):
            args = [a for a in args if not isinstance(a, dict) or logs is None]
            given = next((a for a in args if isinstance(a, dict)), logs) or {}
            said.append((name, [a for a in args if not isinstance(a, dict)], {k: float(v) for k, v in given.items() if k != "outputs"}))
        setattr(Told, name, method)
    model = model_of(tf)
    fitted(model, Told(), epochs=2)
    model.evaluate(X, Y, batch_size=10, callbacks=[Told()], verbose=0)
    model.predict(X, batch_size=10, callbacks=[Told()])
    return said


@case(nodes=False, tolerance=1e-4)
def stopping(tf):
    c = tf.keras.callbacks
    kinds = [c.EarlyStopping(monitor="loss", min_delta=0.5), c.EarlyStopping(monitor="val_loss", patience=1, mode="max", verbose=1),
             c.EarlyStopping(monitor="val_mean_absolute_error", min_delta=10.0, patience=2, verbose=1, restore_best_weights=True),
             c.EarlyStopping(monitor="val_loss", baseline=0.01, patience=1), c.TerminateOnNaN()]
    found = [fitted(model_of(tf), kind) for kind in kinds]
    return found + [fitted(model_of(tf, 1e30), c.TerminateOnNaN())[1:3]]


@case(nodes=False, tolerance=1e-4)
def rates(tf):
    c, K = tf.keras.callbacks, tf.keras.backend
    kinds = [c.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1), verbose=1),
             c.LearningRateScheduler(lambda epoch, rate: rate * 0.5),
             c.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_delta=5.0, verbose=1),
             c.ReduceLROnPlateau(monitor="val_loss", factor=0.1, patience=1, mode="max", cooldown=1, min_lr=0.005)]
    found = []
    for kind in kinds:
        model = model_of(tf)
        found.append([fitted(model, kind), K.get_value(model.optimizer.lr)])
    return found


@case(nodes=False, tolerance=1e-4)
def functions_and_files(tf):
    c, said = tf.keras.callbacks, []
    call = c.LambdaCallback(on_epoch_end=lambda epoch, logs: said.append((epoch, sorted(logs))),
                            on_batch_begin=lambda batch, logs: said.append(batch), on_train_end=lambda logs: said.append("end"))
    model = model_of(tf)
    fitted(model, call, c.CSVLogger("log.csv"), epochs=2)
    fitted(model, c.CSVLogger("log.csv", append=True), c.CSVLogger("other.csv", separator=";"), epochs=1)
    lines = [[line.split(s)[0] for line in open(name)] for name, s in (("log.csv", ","), ("other.csv", ";"))]
    return said, lines, open("log.csv").readline(), open("other.csv").readline()


@case(nodes=False, tolerance=1e-4)
def checkpoints(tf):
    c = tf.keras.callbacks
    kinds = [c.ModelCheckpoint("all/w-{epoch:02d}-{val_loss:.1f}", save_weights_only=True, verbose=1),
             c.ModelCheckpoint("best/w", monitor="val_loss", save_best_only=True, save_weights_only=True, mode="max", verbose=1),
             c.ModelCheckpoint("batch/w-{epoch}", save_freq=4, save_weights_only=True), c.ModelCheckpoint("model-{epoch}.h5", period=2),
             c.ModelCheckpoint("none/w", monitor="other", save_best_only=True)]
    found = [fitted(model_of(tf), kind)[2] for kind in kinds]
    model = model_of(tf)
    model.load_weights(sorted(glob.glob("all/w-04*.index"))[0][:-len(".index")])
    again = tf.keras.models.load_model("model-4.h5")
    return found, sorted(os.path.join(a, f) for a, _, names in os.walk(".") for f in names), model.get_weights(), again.predict(X)


@case(nodes=False, tolerance=1e-4)
def events(tf):
    board = tf.keras.callbacks.TensorBoard
    model = model_of(tf)
    for callback in (board("a", profile_batch=0), board("b", update_freq="batch", profile_batch=0, write_graph=False),
                     board("c", histogram_freq=2, profile_batch=0)):
        fitted(model, callback, epochs=2)
    found = []
    for folder in "abc":
        for name in glob.glob(folder + "/*"):
            for event in tf.train.summary_iterator(name):
                found += [(folder, event.step, v.tag, v.WhichOneof("value"), np.float32(v.simple_value)) for v in event.summary.value]
    return found


@case(nodes=False)
def bars(tf):
    def shown():
        bar = tf.keras.utils.Progbar(12, width=10, interval=0)
        for i in range(0, 13, 4):
            bar.update(i, [("loss", i * 0.001), ("acc", 0.5 * i)])
        other = tf.keras.utils.Progbar(None, stateful_metrics=["acc"], unit_name="sample")
        other.add(3, [("acc", 2.0)])
        other.add(3, [("acc", 4.0)])
    return printed(shown)[1]
