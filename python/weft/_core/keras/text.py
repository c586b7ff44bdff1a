"""tf.keras.preprocessing.text: splits texts into words and numbers them."""
import collections
import hashlib
import json
import warnings

import numpy as np

from weft._core.framework.absent import Named

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(input_text, filters=_FILTERS, lower=True, split=" "):
    """Returns the words of a text."""
    if lower:
        input_text = input_text.lower()
    words = input_text.translate(str.maketrans({c: split for c in filters})).split(split)
    return [w for w in words if w]


def one_hot(input_text, n, filters=_FILTERS, lower=True, split=" ", analyzer=None):
    """Returns the words of a text as numbers made by a hash."""
    return hashing_trick(input_text, n, hash_function=hash, filters=filters, lower=lower, split=split, analyzer=analyzer)


def hashing_trick(text, n, hash_function=None, filters=_FILTERS, lower=True, split=" ", analyzer=None):
    """Returns the words of a text as numbers below n made by a hash."""
    if hash_function is None:
        hash_function = hash
    elif hash_function == "md5":
        def hash_function(word):
            return int(hashlib.md5(word.encode()).hexdigest(), 16)
    words = text_to_word_sequence(text, filters=filters, lower=lower, split=split) if analyzer is None else analyzer(text)
    return [hash_function(w) % (n - 1) + 1 for w in words]


class Tokenizer(metaclass=Named):
    """Numbers the words of texts, the most frequent words first."""

    def __init__(self, num_words=None, filters=_FILTERS, lower=True, split=" ", char_level=False, oov_token=None, analyzer=None, **kwargs):
        if "nb_words" in kwargs:
            warnings.warn("The `nb_words` argument in `Tokenizer` has been renamed `num_words`.", stacklevel=2)
            num_words = kwargs.pop("nb_words")
        self.document_count = kwargs.pop("document_count", 0)
        if kwargs:
            raise TypeError("Unrecognized keyword arguments: " + str(kwargs))
        self.word_counts, self.word_docs, self.index_docs = collections.OrderedDict(), collections.defaultdict(int), {}
        self.index_docs = collections.defaultdict(int)
        self.filters, self.split, self.lower, self.num_words = filters, split, lower, num_words
        self.char_level, self.oov_token, self.analyzer = char_level, oov_token, analyzer
        self.word_index, self.index_word = {}, {}

    def _words(self, text):
        if self.char_level or isinstance(text, list):
            if self.lower:
                text = [w.lower() for w in text] if isinstance(text, list) else text.lower()
            return text
        if self.analyzer is None:
            return text_to_word_sequence(text, filters=self.filters, lower=self.lower, split=self.split)
        return self.analyzer(text)

    def fit_on_texts(self, texts):
        """Counts the words, and numbers them."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for w in words:
                self.word_counts[w] = self.word_counts.get(w, 0) + 1
            for w in set(words):
                self.word_docs[w] += 1
        counts = sorted(self.word_counts.items(), key=lambda x: x[1], reverse=True)
        found = ([] if self.oov_token is None else [self.oov_token]) + [w for w, _ in counts]
        self.word_index = dict(zip(found, range(1, len(found) + 1)))
        self.index_word = {i: w for w, i in self.word_index.items()}
        for w, count in self.word_docs.items():
            self.index_docs[self.word_index[w]] = count

    def fit_on_sequences(self, sequences):
        self.document_count += len(sequences)
        for sequence in sequences:
            for i in set(sequence):
                self.index_docs[i] += 1

    def texts_to_sequences(self, texts):
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts):
        unknown = self.word_index.get(self.oov_token)
        for text in texts:
            found = []
            for w in self._words(text):
                i = self.word_index.get(w)
                if i is not None and not (self.num_words and i >= self.num_words):
                    found.append(i)
                elif self.oov_token is not None:
                    found.append(unknown)
            yield found

    def sequences_to_texts(self, sequences):
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences):
        unknown = self.word_index.get(self.oov_token)
        for sequence in sequences:
            found = []
            for i in sequence:
                w = self.index_word.get(i)
                if w is not None and not (self.num_words and i >= self.num_words):
                    found.append(w)
                elif self.oov_token is not None:
                    found.append(self.index_word[unknown])
            yield " ".join(found)

    def texts_to_matrix(self, texts, mode="binary"):
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences, mode="binary"):
        """Returns sequences as rows with a column for each word: binary, count, freq or tfidf."""
        if not self.num_words and not self.word_index:
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        width = self.num_words or len(self.word_index) + 1
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        made = np.zeros((len(sequences), width))
        for i, sequence in enumerate(sequences):
            counts = collections.Counter(j for j in sequence if j < width)
            for j, c in counts.items():
                made[i][j] = self._cell(mode, j, c, len(sequence))
        return made

    def _cell(self, mode, j, c, length):
        if mode == "count":
            return c
        if mode == "freq":
            return c / length
        if mode == "binary":
            return 1
        if mode == "tfidf":
            return (1 + np.log(c)) * np.log(1 + self.document_count / (1 + self.index_docs.get(j, 0)))
        raise ValueError("Unknown vectorization mode: %s" % mode)

    def get_config(self):
        return {"num_words": self.num_words, "filters": self.filters, "lower": self.lower, "split": self.split,
                "char_level": self.char_level, "oov_token": self.oov_token, "document_count": self.document_count,
                "word_counts": json.dumps(self.word_counts), "word_docs": json.dumps(self.word_docs),
                "index_docs": json.dumps(self.index_docs), "index_word": json.dumps(self.index_word),
                "word_index": json.dumps(self.word_index)}

    def to_json(self, **kwargs):
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


def tokenizer_from_json(json_string):
    """Returns the tokenizer that to_json wrote."""
    config = json.loads(json_string).get("config")
    tables = {k: json.loads(config.pop(k)) for k in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")}
    for key in ("index_docs", "index_word"):
        tables[key] = {int(k): v for k, v in tables[key].items()}
    made = Tokenizer(**config)
    made.__dict__.update(tables)
    return made
