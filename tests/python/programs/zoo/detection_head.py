"""Anchors, boxes, a two-headed loss, hard negative mining and non-maximum suppression, as in the SSD ports."""
import numpy as np
import tensorflow as tf

CLASSES, GRID, ANCHORS = 3, 4, 2


def anchors():
    boxes = []
    for i in range(GRID):
        for j in range(GRID):
            for size in (0.3, 0.5)[:ANCHORS]:
                cy, cx = (i + 0.5) / GRID, (j + 0.5) / GRID
                boxes.append([cy - size / 2, cx - size / 2, cy + size / 2, cx + size / 2])
    return np.asarray(boxes, np.float32)


def iou(a, b):
    with tf.name_scope("iou"):
        top_left = tf.maximum(a[:, None, :2], b[None, :, :2])
        bottom_right = tf.minimum(a[:, None, 2:], b[None, :, 2:])
        inter = tf.reduce_prod(tf.maximum(bottom_right - top_left, 0.0), axis=2)
        area = lambda x: tf.reduce_prod(x[:, 2:] - x[:, :2], axis=1)  # noqa: E731
        return inter / (area(a)[:, None] + area(b)[None, :] - inter)


def encode(boxes, base):
    def split(x):
        h, w = x[:, 2] - x[:, 0], x[:, 3] - x[:, 1]
        return x[:, 0] + 0.5 * h, x[:, 1] + 0.5 * w, h, w
    cy, cx, h, w = split(boxes)
    ay, ax, ah, aw = split(base)
    return tf.stack([(cy - ay) / ah, (cx - ax) / aw, tf.log(h / ah), tf.log(w / aw)], axis=1)


def decode(codes, base):
    h, w = base[:, 2] - base[:, 0], base[:, 3] - base[:, 1]
    cy, cx = codes[:, 0] * h + base[:, 0] + 0.5 * h, codes[:, 1] * w + base[:, 1] + 0.5 * w
    hh, ww = tf.exp(codes[:, 2]) * h, tf.exp(codes[:, 3]) * w
    return tf.stack([cy - hh / 2, cx - ww / 2, cy + hh / 2, cx + ww / 2], axis=1)


def smooth_l1(x):
    a = tf.abs(x)
    return tf.where(a < 1, 0.5 * tf.square(a), a - 0.5)


def image_with_boxes(rng):
    image, boxes, labels = np.zeros((32, 32, 3), np.float32), [], []
    for _ in range(2):
        size = rng.randint(8, 16)
        y, x = rng.randint(0, 32 - size, 2)
        label = rng.randint(1, CLASSES)
        image[y:y + size, x:x + size, label] = 1.0
        boxes.append([y / 32., x / 32., (y + size) / 32., (x + size) / 32.])
        labels.append(label)
    return image, np.asarray(boxes, np.float32), np.asarray(labels, np.int64)


def main(_):
    base = tf.constant(anchors())
    image = tf.placeholder(tf.float32, [32, 32, 3])
    boxes, labels = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int64, [None])
    net = tf.image.per_image_standardization(image)[None]
    for i, depth in enumerate((8, 16, 16)):
        net = tf.layers.conv2d(net, depth, 3, strides=2, padding="same", activation=tf.nn.relu,
                               kernel_initializer=tf.variance_scaling_initializer(seed=i), name="conv%d" % i)
    head = tf.layers.conv2d(net, ANCHORS * (CLASSES + 4), 3, padding="same", name="head",
                            kernel_initializer=tf.random_normal_initializer(stddev=0.05, seed=9))
    head = tf.reshape(head, [-1, CLASSES + 4])
    logits, codes = head[:, :CLASSES], head[:, CLASSES:]
    overlap = iou(base, boxes)
    best, where = tf.reduce_max(overlap, 1), tf.argmax(overlap, 1)
    positive = best > 0.4
    target = tf.where(positive, tf.gather(labels, where), tf.zeros_like(where))
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    n_positive = tf.reduce_sum(tf.cast(positive, tf.int32))
    hard, _ = tf.nn.top_k(tf.where(positive, tf.zeros_like(ce), ce), k=tf.minimum(3 * n_positive + 1, 20))
    class_loss = tf.reduce_sum(tf.boolean_mask(ce, positive)) + tf.reduce_sum(hard)
    wanted = encode(tf.gather(boxes, where), base)
    box_loss = tf.reduce_sum(tf.boolean_mask(smooth_l1(codes - wanted), positive))
    loss = (class_loss + box_loss) / tf.maximum(tf.cast(n_positive, tf.float32), 1.0)
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.02, global_step, 20, 0.5, staircase=True)
    train = tf.train.RMSPropOptimizer(rate, momentum=0.5).minimize(loss, global_step)
    scores = tf.reduce_max(tf.nn.softmax(logits)[:, 1:], 1)
    found = tf.clip_by_value(decode(codes, base), 0.0, 1.0)
    keep = tf.image.non_max_suppression(found, scores, max_output_size=5, iou_threshold=0.5)
    crops = tf.image.crop_and_resize(image[None], tf.gather(found, keep), tf.zeros_like(keep), [4, 4])
    rng = np.random.RandomState(2)
    data = [image_with_boxes(rng) for _ in range(6)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(30):
            feed = dict(zip((image, boxes, labels), data[step % 6]))
            value, n, now, _ = sess.run([loss, n_positive, rate, train], feed)
            if step % 6 == 0:
                print("step %d loss %.4f positives %d rate %.4f" % (step, value, n, now))
        for i in range(2):
            b, s, c, k = sess.run([tf.gather(found, keep), tf.gather(scores, keep), crops, keep],
                                  dict(zip((image, boxes, labels), data[i])))
            print("image %d: %d boxes, best %.4f at %s, crops %s %.4f" % (
                i, len(k), s[0], ["%.3f" % v for v in b[0]], c.shape, c.mean()))


if __name__ == "__main__":
    tf.app.run()
