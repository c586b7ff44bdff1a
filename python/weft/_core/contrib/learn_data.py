"""tf.contrib.learn's data: CSV tables, vocabularies, batches of records, and monitors."""
import collections
import csv
import pickle
import re

import numpy as np

import weft as tf
from weft._core.estimator import inputs
from weft._core.framework.absent import Named

Dataset = collections.namedtuple("Dataset", ["data", "target"])
Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])


def load_csv_with_header(filename, target_dtype, features_dtype, target_column=-1):
    """Returns the rows of a file whose first line has the numbers of rows and columns."""
    with tf.gfile.Open(filename) as f:
        rows = csv.reader(f)
        header = next(rows)
        count, width = int(header[0]), int(header[1])
        data, target = np.zeros((count, width), dtype=features_dtype), np.zeros((count,), dtype=target_dtype)
        for i, row in enumerate(rows):
            target[i] = np.asarray(row.pop(target_column), dtype=target_dtype)
            data[i] = np.asarray(row, dtype=features_dtype)
    return Dataset(data=data, target=target)


def load_csv_without_header(filename, target_dtype, features_dtype, target_column=-1):
    """Returns the rows of a file."""
    data, target = [], []
    with tf.gfile.Open(filename) as f:
        for row in csv.reader(f):
            target.append(row.pop(target_column))
            data.append(np.asarray(row, dtype=features_dtype))
    return Dataset(data=np.array(data), target=np.array(target, dtype=target_dtype).astype(target_dtype))


def shrink_csv(filename, ratio):
    """Writes every ratio-th row of a file to another, whose name ends in _small."""
    small = filename.replace(".", "_small.")
    with tf.gfile.Open(small, "w") as out, tf.gfile.Open(filename) as f:
        writer = csv.writer(out)
        for i, row in enumerate(csv.reader(f)):
            if i % ratio == 0:
                writer.writerow(row)


def maybe_download(filename, work_directory, source_url):
    """Returns the path of a file, which must exist, because Weft does not download it."""
    import os
    path = os.path.join(work_directory, filename)
    if not tf.gfile.Exists(path):
        raise IOError("%s is not there: download it from %s" % (path, source_url))
    return path


# ---- vocabularies ----

_TOKENS = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator):
    """Yields the words of each text."""
    for value in iterator:
        yield _TOKENS.findall(value)


class CategoricalVocabulary(metaclass=Named):
    """Numbers words in the order in which they occur first; 0 means an unknown word."""

    def __init__(self, unknown_token="<UNK>", support_reverse=True):
        self._unknown_token, self._mapping, self._freeze = unknown_token, {unknown_token: 0}, False
        self._support_reverse, self._reverse_mapping = support_reverse, [unknown_token]
        self._freq = collections.defaultdict(int)

    def __len__(self):
        return len(self._mapping)

    def freeze(self, freeze=True):
        """Makes all new words unknown from now on."""
        self._freeze = freeze

    def get(self, category):
        """Returns the number of a word, which is added if it is new."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category, count=1):
        """Counts a word."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency, max_frequency=-1):
        """Removes words that are too rare or too frequent, and renumbers the others from the most frequent."""
        kept = sorted(sorted(self._freq.items(), key=lambda p: (type(p[0]).__name__, p[0])), key=lambda p: p[1], reverse=True)
        self._mapping, reverse = {self._unknown_token: 0}, [self._unknown_token]
        for category, count in kept:
            if 0 < max_frequency <= count:
                continue
            if count <= min_frequency:
                break
            self._mapping[category] = len(self._mapping)
            reverse.append(category)
        self._freq = {k: v for k, v in kept[:len(self._mapping) - 1]}
        if self._support_reverse:
            self._reverse_mapping = reverse

    def reverse(self, class_id):
        """Returns the word of a number."""
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]


class VocabularyProcessor(metaclass=Named):
    """Converts texts to rows of word numbers."""

    def __init__(self, max_document_length, min_frequency=0, vocabulary=None, tokenizer_fn=None):
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents, unused_y=None):
        """Learns the words of texts."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents, unused_y=None):
        """Learns the words of texts, and yields their numbers."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents):
        """Yields the numbers of the words of each text, padded with 0."""
        for tokens in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for i, token in enumerate(tokens[:self.max_document_length]):
                row[i] = self.vocabulary_.get(token)
            yield row

    def reverse(self, documents):
        """Yields the words of rows of numbers."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(int(i)) for i in row)

    def save(self, filename):
        """Writes the processor to a file."""
        with tf.gfile.Open(filename, "wb") as f:
            f.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename):
        """Reads a processor from a file that save() wrote."""
        with tf.gfile.Open(filename, "rb") as f:
            return pickle.loads(f.read())


# ---- batches of records ----

def _batched(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, name):
    names = [n for p in (file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]) for n in sorted(tf.gfile.Glob(p))]
    if not names:
        raise ValueError("No files match %s." % (file_pattern,))
    with tf.name_scope(name, "read_batch_examples"):
        files = tf.train.string_input_producer(names, num_epochs=num_epochs, shuffle=randomize_input)
        _, example = reader().read(files)
        if randomize_input:
            return tf.train.shuffle_batch([example], batch_size, queue_capacity, max(queue_capacity - 3 * batch_size, batch_size),
                                          num_threads=num_threads, allow_smaller_final_batch=num_epochs is not None)
        return tf.train.batch([example], batch_size, num_threads, queue_capacity, allow_smaller_final_batch=num_epochs is not None)


def read_batch_examples(file_pattern, batch_size, reader, randomize_input=True, num_epochs=None, queue_capacity=10000, num_threads=1,
                        read_batch_size=1, parse_fn=None, name=None, seed=None):
    """Returns batches of the records of files."""
    for key, value in (("parse_fn", parse_fn), ("seed", seed)):
        if value is not None:
            raise NotImplementedError("tf.contrib.learn.read_batch_examples(%s=...) is not in Weft: use tf.data.TFRecordDataset" % key)
    if read_batch_size < 1:
        raise ValueError("Invalid read_batch_size %s" % read_batch_size)
    return _batched(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, name)


def read_batch_features(file_pattern, batch_size, features, reader, randomize_input=True, num_epochs=None, queue_capacity=10000,
                        feature_queue_capacity=100, reader_num_threads=1, num_enqueue_threads=2, parse_fn=None, name=None,
                        read_batch_size=None):
    """Returns batches of the features of tf.train.Example records."""
    if parse_fn is not None:
        raise NotImplementedError("tf.contrib.learn.read_batch_features(parse_fn=...) is not in Weft: use tf.data.TFRecordDataset")
    found = _batched(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads, name)
    return tf.parse_example(found, features)


def read_batch_record_features(file_pattern, batch_size, features, randomize_input=True, num_epochs=None, queue_capacity=10000,
                               reader_num_threads=1, name="dequeue_record_examples"):
    """Returns batches of the features of tf.train.Example records in TFRecord files."""
    return read_batch_features(file_pattern, batch_size, features, tf.TFRecordReader, randomize_input, num_epochs, queue_capacity,
                               reader_num_threads=reader_num_threads, name=name)


# ---- monitors ----

class ValidationMonitor(tf.train.SessionRunHook):
    """Evaluates the latest checkpoint during training, and can stop the training when the result gets worse."""

    def __init__(self, x=None, y=None, input_fn=None, batch_size=None, eval_steps=None, every_n_steps=100, metrics=None, hooks=None,
                 early_stopping_rounds=None, early_stopping_metric="loss", early_stopping_metric_minimize=True, name=None):
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._given = dict(x=x, y=y, input_fn=input_fn, batch_size=batch_size, steps=eval_steps, metrics=metrics, hooks=hooks, name=name)
        self._every, self._rounds = every_n_steps, early_stopping_rounds
        self._metric, self._minimize = early_stopping_metric, early_stopping_metric_minimize
        self._estimator, self._last_path, self._best, self._best_step, self._best_metrics = None, None, None, None, None
        self._stopped = False

    best_step = property(lambda self: self._best_step)
    best_value = property(lambda self: self._best)
    best_metrics = property(lambda self: self._best_metrics)
    early_stopped = property(lambda self: self._stopped)

    def set_estimator(self, estimator):
        """Sets the estimator that is trained; fit() calls this."""
        self._estimator = estimator

    def begin(self):
        self._step, self._next = tf.train.get_or_create_global_step(), self._every

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        step = int(run_values.results)
        if step < self._next:
            return
        self._next = step + self._every
        path = tf.train.latest_checkpoint(self._estimator.model_dir)
        if path is None or path == self._last_path:
            return
        self._last_path = path
        found = self._estimator.evaluate(checkpoint_path=path, **self._given)
        tf.logging.info("Validation (step %d): %s", step, ", ".join("%s = %s" % p for p in sorted(found.items())))
        value = found[self._metric]
        if self._best is None or (value < self._best if self._minimize else value > self._best):
            self._best, self._best_step, self._best_metrics = value, step, found
        if self._rounds is not None and step - self._best_step >= self._rounds:
            tf.logging.info("Stopping. Best step: %s with %s = %s.", self._best_step, self._metric, self._best)
            self._stopped = True
            run_context.request_stop()


def PrintTensor(tensor_names, every_n=100, first_n=1):
    """Returns a hook that logs tensors at regular intervals of steps."""
    if first_n != 1:
        raise NotImplementedError("tf.contrib.learn.monitors.PrintTensor(first_n=%s) is not in Weft: use tf.train.LoggingTensorHook"
                                  % first_n)
    return tf.train.LoggingTensorHook(tensor_names, every_n_iter=every_n)


def StopAtStep(num_steps=None, last_step=None):
    """Returns a hook that ends the training at a step."""
    return tf.train.StopAtStepHook(num_steps, last_step)


def NanLoss(loss_tensor, every_n_steps=100, fail_on_nan_loss=True):
    """Returns a hook that ends the training when the loss is NaN. It checks every step."""
    return tf.train.NanTensorHook(loss_tensor, fail_on_nan_loss)


def CheckpointSaver(checkpoint_dir, save_secs=None, save_steps=None, saver=None, checkpoint_basename="model.ckpt", scaffold=None):
    """Returns a hook that writes checkpoints at regular intervals of steps or seconds."""
    return tf.train.CheckpointSaverHook(checkpoint_dir, save_secs, save_steps, saver, checkpoint_basename, scaffold)


def SummarySaver(summary_op, save_steps=100, output_dir=None, summary_writer=None, scaffold=None):
    """Returns a hook that writes summaries at regular intervals of steps."""
    return tf.train.SummarySaverHook(save_steps, None, output_dir, summary_writer, scaffold, summary_op)


def replace_monitors_with_hooks(monitors_or_hooks, estimator):
    """Returns the hooks for a list of monitors and hooks, which then know the estimator."""
    for hook in monitors_or_hooks or []:
        if hasattr(hook, "set_estimator"):
            hook.set_estimator(estimator)
    return list(monitors_or_hooks or [])


def numpy_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=True, queue_capacity=1000, num_threads=1):
    """Returns an input_fn for batches of a dict of arrays, with y as labels. It shuffles by default."""
    return inputs.numpy_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)


def pandas_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=True, queue_capacity=1000, num_threads=1,
                    target_column="target"):
    """Returns an input_fn for batches of the columns of a DataFrame, with a Series as labels. It shuffles by default.
    """
    return inputs.pandas_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads, target_column)
