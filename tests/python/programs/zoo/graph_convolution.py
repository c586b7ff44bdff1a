"""Graph convolutional network of 2017: sparse placeholders, layers with a uid dictionary, masked metrics."""
from __future__ import print_function
import time
import numpy as np
import tensorflow as tf

seed = 123
np.random.seed(seed)
tf.set_random_seed(seed)
flags = tf.app.flags
FLAGS = flags.FLAGS
flags.DEFINE_string('dataset', 'cora', 'Dataset string.')
flags.DEFINE_float('learning_rate', 0.01, 'Initial learning rate.')
flags.DEFINE_integer('epochs', 30, 'Number of epochs to train.')
flags.DEFINE_float('dropout', 0.5, 'Dropout rate (1 - keep probability).')
flags.DEFINE_float('weight_decay', 5e-4, 'Weight for L2 loss on embedding matrix.')
_LAYER_UIDS = {}


def get_layer_uid(layer_name=''):
    _LAYER_UIDS[layer_name] = _LAYER_UIDS.get(layer_name, 0) + 1
    return _LAYER_UIDS[layer_name]


def sparse_dropout(x, keep_prob, noise_shape):
    random_tensor = keep_prob
    random_tensor += tf.random_uniform(noise_shape)
    dropout_mask = tf.cast(tf.floor(random_tensor), dtype=tf.bool)
    pre_out = tf.sparse_retain(x, dropout_mask)
    return pre_out * (1. / keep_prob)


def dot(x, y, sparse=False):
    return tf.sparse_tensor_dense_matmul(x, y) if sparse else tf.matmul(x, y)


def glorot(shape, name=None):
    init_range = np.sqrt(6.0 / (shape[0] + shape[1]))
    return tf.Variable(tf.random_uniform(shape, minval=-init_range, maxval=init_range, dtype=tf.float32), name=name)


class Layer(object):
    def __init__(self, **kwargs):
        layer = self.__class__.__name__.lower()
        self.name = kwargs.get('name') or layer + '_' + str(get_layer_uid(layer))
        self.vars = {}

    def __call__(self, inputs):
        with tf.name_scope(self.name):
            tf.summary.histogram(self.name + '/inputs', inputs) if not isinstance(inputs, tf.SparseTensor) else None
            outputs = self._call(inputs)
            tf.summary.histogram(self.name + '/outputs', outputs)
            return outputs


class GraphConvolution(Layer):
    def __init__(self, input_dim, output_dim, ph, dropout=True, sparse_inputs=False, act=tf.nn.relu, **kwargs):
        super(GraphConvolution, self).__init__(**kwargs)
        self.dropout, self.act, self.support = ph['dropout'] if dropout else 0., act, ph['support']
        self.sparse_inputs, self.nnz = sparse_inputs, ph['nnz']
        with tf.variable_scope(self.name + '_vars'):
            for i in range(len(self.support)):
                self.vars['weights_' + str(i)] = glorot([input_dim, output_dim], name='weights_' + str(i))

    def _call(self, x):
        x = sparse_dropout(x, 1 - self.dropout, self.nnz) if self.sparse_inputs else tf.nn.dropout(x, 1 - self.dropout)
        supports = [dot(s, dot(x, self.vars['weights_' + str(i)], sparse=self.sparse_inputs), sparse=True)
                    for i, s in enumerate(self.support)]
        return self.act(tf.add_n(supports))


def masked_softmax_cross_entropy(preds, labels, mask):
    loss = tf.nn.softmax_cross_entropy_with_logits(logits=preds, labels=labels)
    mask = tf.cast(mask, dtype=tf.float32)
    mask /= tf.reduce_mean(mask)
    return tf.reduce_mean(loss * mask)


n, f, c = 40, 12, 3
labels = np.random.randint(0, c, n)
adj = (np.random.rand(n, n) < np.where(labels[:, None] == labels[None], 0.3, 0.03)).astype(np.float32)
adj = np.maximum(adj, adj.T) + np.eye(n, dtype=np.float32)
norm = adj / np.sqrt(adj.sum(1)[:, None] * adj.sum(0)[None])
feats = (np.random.rand(n, f) < 0.3).astype(np.float32)
onehot = np.eye(c)[labels]
mask = np.arange(n) < 15


def sparse_to_tuple(m):
    coords = np.stack(np.nonzero(m), 1)
    return coords, m[tuple(coords.T)], m.shape


support = [sparse_to_tuple(norm)]
features = sparse_to_tuple(feats)
placeholders = {
    'support': [tf.sparse_placeholder(tf.float32) for _ in support],
    'features': tf.sparse_placeholder(tf.float32, shape=tf.constant(features[2], dtype=tf.int64)),
    'labels': tf.placeholder(tf.float32, shape=(None, c)), 'labels_mask': tf.placeholder(tf.int32),
    'dropout': tf.placeholder_with_default(0., shape=()), 'nnz': tf.placeholder(tf.int32)}
l1 = GraphConvolution(f, 8, placeholders, sparse_inputs=True)
l2 = GraphConvolution(8, c, placeholders, act=lambda x: x)
hidden = l1(placeholders['features'])
logits = l2(hidden)
loss = sum(FLAGS.weight_decay * tf.nn.l2_loss(v) for v in l1.vars.values())
loss += masked_softmax_cross_entropy(logits, placeholders['labels'], placeholders['labels_mask'])
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(placeholders['labels'], 1)), tf.float32))
train_op = tf.train.AdamOptimizer(learning_rate=FLAGS.learning_rate).minimize(loss)
merged = tf.summary.merge_all()
sess = tf.Session()
sess.run(tf.global_variables_initializer())
fd = {placeholders['labels']: onehot, placeholders['labels_mask']: mask, placeholders['features']: features,
      placeholders['nnz']: features[1].shape}
fd.update({placeholders['support'][i]: support[i] for i in range(len(support))})
for epoch in range(FLAGS.epochs):
    t = time.time()
    fd.update({placeholders['dropout']: FLAGS.dropout})
    outs = sess.run([train_op, loss, accuracy, merged], feed_dict=fd)
    if epoch % 10 == 0:
        print("Epoch:", '%04d' % (epoch + 1), "train_loss=", "{:.5f}".format(outs[1]), "train_acc=", "{:.5f}".format(outs[2]))
fd[placeholders['dropout']] = 0.
print("test loss= {:.4f} acc= {:.4f}".format(*sess.run([loss, accuracy], fd)))
s = tf.Summary.FromString(outs[3])
print([(v.tag, v.histo.num) for v in s.value])
st = tf.sparse_placeholder(tf.float32, [3, 4])
tv = tf.SparseTensorValue([[0, 1], [2, 3]], [1.0, 2.0], [3, 4])
print(sess.run([tf.sparse_tensor_to_dense(tf.sparse_transpose(st)), tf.sparse_reduce_sum(st, 1), tf.sparse_softmax(st)], {st: tv}))
