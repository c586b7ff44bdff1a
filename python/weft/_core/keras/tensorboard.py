"""tf.keras.callbacks.TensorBoard: writes events of a training."""
import os

import weft as tf
from weft._core.keras import backend as K, callbacks
from weft._core.platform import logging


class TensorBoard(callbacks.Callback):
    """Writes the losses and metrics of epochs or batches as events, with the graph and histograms of weights."""

    def __init__(self, log_dir="./logs", histogram_freq=0, batch_size=32, write_graph=True, write_grads=False, write_images=False,
                 embeddings_freq=0, embeddings_layer_names=None, embeddings_metadata=None, embeddings_data=None, update_freq="epoch",
                 profile_batch=2):
        super().__init__()
        if embeddings_freq:
            raise NotImplementedError("tf.keras.callbacks.TensorBoard(embeddings_freq=...) is not in Weft: save the embedding with a "
                                      "tf.train.Saver in the folder")
        if embeddings_layer_names is not None or embeddings_metadata is not None or embeddings_data is not None:
            logging.warning("embeddings_layer_names, embeddings_metadata and embeddings_data have an effect only with embeddings_freq.")
        if profile_batch not in (0, 2):
            logging.warning("TensorBoard(profile_batch=%s): Weft writes no profile here; use tf.train.ProfilerHook or weft trace.",
                            profile_batch)
        self.log_dir, self.histogram_freq, self.batch_size = os.fspath(log_dir), histogram_freq, batch_size
        self.write_graph, self.write_grads, self.write_images = write_graph, write_grads, write_images
        self.update_freq, self.profile_batch = 1 if update_freq == "batch" else update_freq, profile_batch
        self._seen, self._seen_at_write, self._batches, self._checked, self.merged = 0, 0, 0, 0, None

    def set_model(self, model):
        super().set_model(model)
        self.sess = K.get_session()
        if self.histogram_freq and self.merged is None:
            self._make_histograms()
        self.writer = tf.summary.FileWriter(self.log_dir, self.sess.graph if self.write_graph else None)

    def _make_histograms(self):
        for layer in self.model.layers:
            for weight in layer.weights:
                name = weight.name.replace(":", "_")
                tf.summary.histogram(name, weight)
                if self.write_images:
                    tf.summary.image(name, _as_image(weight))
                if self.write_grads and any(weight is v for v in layer.trainable_weights):
                    grads = tf.gradients(self.model.total_loss, weight)[0]
                    if grads is not None:
                        tf.summary.histogram("%s_grad" % name, tf.convert_to_tensor(grads))
            try:
                outputs = layer.output
            except (AttributeError, RuntimeError):
                continue
            for i, output in enumerate(outputs if isinstance(outputs, list) else [outputs]):
                tf.summary.histogram("%s_out%s" % (layer.name, "_%d" % i if isinstance(outputs, list) else ""), output)
        self.merged = tf.summary.merge_all()

    def on_epoch_begin(self, epoch, logs=None):
        """Prepares the histograms, which are computed with the batches of the validation data."""
        if not self.histogram_freq or epoch % self.histogram_freq:
            return
        if not self.params.get("do_validation"):
            raise ValueError("If printing histograms, validation_data must be provided, and cannot be a generator.")
        function = self.model._make_test_function()
        if self.merged not in function.fetches:
            function.fetches.append(self.merged)
            function.fetch_callbacks[self.merged] = self._add_histograms

    def _add_histograms(self, summary):
        self.writer.add_summary(summary, self._checked)
        self._checked += 1

    def on_batch_end(self, batch, logs=None):
        logs = logs or {}
        self._seen += logs.get("size", 0)
        if self.update_freq != "epoch" and self._seen - self._seen_at_write >= self.update_freq:
            self._write({"batch_" + k: v for k, v in logs.items() if k not in ("batch", "size", "num_steps")}, self._batches)
            self._seen_at_write = self._seen
        self._batches += 1

    def on_epoch_end(self, epoch, logs=None):
        logs = {"epoch_" + k: v for k, v in (logs or {}).items() if k not in ("batch", "size", "num_steps")}
        self._write(logs, epoch if self.update_freq == "epoch" else self._seen)
        function = self.model._training_state.test
        if function is not None and self.merged in function.fetches:
            function.fetches.remove(self.merged)
            function.fetch_callbacks.pop(self.merged, None)

    def _write(self, logs, step):
        for name, value in logs.items():
            summary = tf.Summary()
            summary.value.add(tag=name, simple_value=float(value))
            self.writer.add_summary(summary, step)
        self.writer.flush()

    def on_train_end(self, logs=None):
        self.writer.close()


def _as_image(weight):
    """Returns a weight as a batch of images with one channel."""
    image = tf.squeeze(weight)
    shape = image.shape.as_list()
    if len(shape) == 1:
        return tf.reshape(image, [1, shape[0], 1, 1])
    if len(shape) == 2:
        image = tf.transpose(image) if shape[0] > shape[1] else image
        shape = image.shape.as_list()
        return tf.reshape(image, [1, shape[0], shape[1], 1])
    if len(shape) == 3:
        image = tf.transpose(image, [2, 0, 1])
        shape = image.shape.as_list()
        return tf.reshape(image, [shape[0], shape[1], shape[2], 1])
    return tf.reshape(image, [1, -1, 1, 1])
