"""Networks as people keep them in files of their own, written with slim from the papers: they are no part of contrib.slim.nets."""


class Nets:
    """The networks, made with one system's tf and slim."""

    def __init__(self, tf, slim):
        self.tf, self.slim = tf, slim

    # ---- MobileNet v1 (Howard et al., 2017) ----

    def mobilenet_v1_arg_scope(self, is_training=True, weight_decay=0.00004, stddev=0.09, decay=0.9, epsilon=0.001):
        slim, tf = self.slim, self.tf
        norm = {"center": True, "scale": True, "decay": decay, "epsilon": epsilon, "is_training": is_training}
        decayed = slim.l2_regularizer(weight_decay)
        with slim.arg_scope([slim.conv2d, slim.separable_conv2d], weights_initializer=tf.truncated_normal_initializer(stddev=stddev),
                            activation_fn=tf.nn.relu6, normalizer_fn=slim.batch_norm), \
                slim.arg_scope([slim.batch_norm], **norm), \
                slim.arg_scope([slim.conv2d], weights_regularizer=decayed), \
                slim.arg_scope([slim.separable_conv2d], weights_regularizer=None) as scope:
            return scope

    def mobilenet_v1_base(self, inputs, multiplier=0.25, scope=None):
        tf, slim = self.tf, self.slim
        points = {}

        def depth(n):
            return max(int(n * multiplier), 8)
        layers = [("conv", 2, 32), ("sep", 1, 64), ("sep", 2, 128), ("sep", 1, 128), ("sep", 2, 256)]
        with tf.variable_scope(scope, "MobilenetV1", [inputs]):
            with slim.arg_scope([slim.conv2d, slim.separable_conv2d], padding="SAME"):
                net = inputs
                for i, (kind, stride, width) in enumerate(layers):
                    name = "Conv2d_%d" % i
                    if kind == "conv":
                        net = slim.conv2d(net, depth(width), [3, 3], stride=stride, normalizer_fn=slim.batch_norm, scope=name)
                        points[name] = net
                        continue
                    net = slim.separable_conv2d(net, None, [3, 3], depth_multiplier=1, stride=stride, rate=1,
                                                normalizer_fn=slim.batch_norm, scope=name + "_depthwise")
                    points[name + "_depthwise"] = net
                    net = slim.conv2d(net, depth(width), [1, 1], stride=1, normalizer_fn=slim.batch_norm, scope=name + "_pointwise")
                    points[name + "_pointwise"] = net
        return net, points

    def mobilenet_v1(self, inputs, num_classes=5, dropout_keep_prob=0.999, is_training=True, reuse=None, scope="MobilenetV1"):
        tf, slim = self.tf, self.slim
        with tf.variable_scope(scope, "MobilenetV1", [inputs], reuse=reuse) as inner:
            with slim.arg_scope([slim.batch_norm, slim.dropout], is_training=is_training):
                net, points = self.mobilenet_v1_base(inputs, scope=inner)
                with tf.variable_scope("Logits"):
                    size = net.get_shape().as_list()
                    net = slim.avg_pool2d(net, [min(size[1], 7), min(size[2], 7)], padding="VALID", scope="AvgPool_1a")
                    points["AvgPool_1a"] = net
                    net = slim.dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
                    logits = slim.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="Conv2d_1c_1x1")
                    logits = tf.squeeze(logits, [1, 2], name="SpatialSqueeze")
                points["Logits"] = logits
                points["Predictions"] = slim.softmax(logits, scope="Predictions")
        return logits, points

    # ---- MobileNet v2 (Sandler et al., 2018): inverted residuals with linear bottlenecks ----

    def expanded_conv(self, net, width, expansion, stride, scope):
        tf, slim = self.tf, self.slim
        with tf.variable_scope(scope, default_name="expanded_conv"):
            inner = net.get_shape().as_list()[3]
            first = net
            net = slim.conv2d(net, inner * expansion, [1, 1], scope="expand")
            net = slim.separable_conv2d(net, None, [3, 3], depth_multiplier=1, stride=stride, scope="depthwise")
            net = slim.conv2d(net, width, [1, 1], activation_fn=tf.identity, scope="project")
            if stride == 1 and inner == width:
                net = tf.add(first, net, name="output")
            return slim.utils.collect_named_outputs("MobilenetV2_points", tf.get_variable_scope().name, net)

    def mobilenet_v2(self, inputs, num_classes=5, is_training=True, reuse=None, scope="MobilenetV2"):
        tf, slim = self.tf, self.slim
        with tf.variable_scope(scope, "Mobilenet", [inputs], reuse=reuse), slim.arg_scope(
                [slim.batch_norm, slim.dropout], is_training=is_training):
            net = slim.conv2d(inputs, 8, [3, 3], stride=2, scope="Conv")
            for i, (width, expansion, stride) in enumerate([(8, 2, 1), (12, 3, 2), (12, 3, 1)]):
                net = self.expanded_conv(net, width, expansion, stride, "expanded_conv_%d" % i)
            net = slim.conv2d(net, 32, [1, 1], scope="Conv_1")
            with tf.variable_scope("Logits"):
                net = tf.reduce_mean(net, [1, 2], keep_dims=True, name="global_pool")
                net = slim.dropout(net, keep_prob=0.8, scope="Dropout")
                logits = slim.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                                     biases_initializer=tf.zeros_initializer(), scope="Conv2d_1c_1x1")
                logits = tf.squeeze(logits, [1, 2])
            points = slim.utils.convert_collection_to_dict("MobilenetV2_points", clear_collection=True)
            points["Predictions"] = slim.softmax(logits, "Predictions")
        return logits, points

    # ---- Inception v4 (Szegedy et al., 2016): one block of each kind ----

    def inception_arg_scope(self, weight_decay=0.00004, decay=0.9997, epsilon=0.001, updates=None):
        tf, slim = self.tf, self.slim
        norm = {"decay": decay, "epsilon": epsilon, "updates_collections": updates or tf.GraphKeys.UPDATE_OPS, "fused": None}
        with slim.arg_scope([slim.conv2d, slim.fully_connected], weights_regularizer=slim.l2_regularizer(weight_decay)), \
                slim.arg_scope([slim.conv2d], weights_initializer=slim.variance_scaling_initializer(), activation_fn=tf.nn.relu,
                               normalizer_fn=slim.batch_norm, normalizer_params=norm) as scope:
            return scope

    def block_a(self, inputs, scope):
        tf, slim = self.tf, self.slim
        with slim.arg_scope([slim.conv2d, slim.avg_pool2d, slim.max_pool2d], stride=1, padding="SAME"), tf.variable_scope(
                scope, "BlockInceptionA", [inputs]):
            with tf.variable_scope("Branch_0"):
                a = slim.conv2d(inputs, 6, [1, 1], scope="Conv2d_0a_1x1")
            with tf.variable_scope("Branch_1"):
                b = slim.conv2d(inputs, 4, [1, 1], scope="Conv2d_0a_1x1")
                b = slim.conv2d(b, 6, [1, 7], scope="Conv2d_0b_1x7")
                b = slim.conv2d(b, 6, [7, 1], scope="Conv2d_0c_7x1")
            with tf.variable_scope("Branch_2"):
                c = slim.avg_pool2d(inputs, [3, 3], scope="AvgPool_0a_3x3")
                c = slim.conv2d(c, 6, [1, 1], scope="Conv2d_0b_1x1")
            return tf.concat(axis=3, values=[a, b, c])

    def inception_v4(self, inputs, num_classes=5, is_training=True, keep=0.8, reuse=None, scope="InceptionV4", aux=True):
        tf, slim = self.tf, self.slim
        points = {}
        with tf.variable_scope(scope, "InceptionV4", [inputs], reuse=reuse) as outer, slim.arg_scope(
                [slim.batch_norm, slim.dropout], is_training=is_training):
            with slim.arg_scope([slim.conv2d, slim.max_pool2d, slim.avg_pool2d], stride=1, padding="SAME"):
                net = slim.conv2d(inputs, 8, [3, 3], stride=2, padding="VALID", scope="Conv2d_1a_3x3")
                with tf.variable_scope("Mixed_3a"):
                    with tf.variable_scope("Branch_0"):
                        a = slim.max_pool2d(net, [3, 3], stride=2, padding="VALID", scope="MaxPool_0a_3x3")
                    with tf.variable_scope("Branch_1"):
                        b = slim.conv2d(net, 8, [3, 3], stride=2, padding="VALID", scope="Conv2d_0a_3x3")
                    net = points["Mixed_3a"] = tf.concat(axis=3, values=[a, b])
                for i in range(2):
                    net = points["Mixed_5%s" % "bc"[i]] = self.block_a(net, "Mixed_5%s" % "bc"[i])
                if aux:
                    with tf.variable_scope("AuxLogits"):
                        side = slim.avg_pool2d(net, [3, 3], stride=2, padding="VALID", scope="AvgPool_1a_3x3")
                        side = slim.conv2d(side, 4, [1, 1], scope="Conv2d_1b_1x1")
                        side = slim.conv2d(side, 8, side.get_shape()[1:3], padding="VALID", scope="Conv2d_2a")
                        side = slim.flatten(side)
                        points["AuxLogits"] = slim.fully_connected(side, num_classes, activation_fn=None, scope="Aux_logits")
                with tf.variable_scope("Logits"):
                    kernel = net.get_shape()[1:3]
                    net = slim.avg_pool2d(net, kernel, padding="VALID", scope="AvgPool_1a")
                    net = slim.dropout(net, keep, scope="Dropout_1b")
                    net = points["PreLogitsFlatten"] = slim.flatten(net, scope="PreLogitsFlatten")
                    logits = points["Logits"] = slim.fully_connected(net, num_classes, activation_fn=None, scope="Logits")
                    points["Predictions"] = tf.nn.softmax(logits, name="Predictions")
            assert outer.name == scope
        return logits, points

    # ---- NASNet (Zoph et al., 2017): separable convolutions, drop path and a cell with two inputs ----

    def drop_path(self, net, keep, is_training):
        tf = self.tf
        if not is_training or keep >= 1.0:
            return net
        size = tf.shape(net)[0]
        drawn = tf.floor(keep + tf.random_uniform([size, 1, 1, 1], dtype=tf.float32, seed=5))
        return tf.div(net, keep) * tf.cast(drawn, net.dtype)

    def separable(self, net, width, kernel, stride):
        tf, slim = self.tf, self.slim
        for i in range(2):
            net = tf.nn.relu(net)
            net = slim.separable_conv2d(net, width, kernel, depth_multiplier=1, scope="separable_%dx%d_%d" % (kernel, kernel, i + 1),
                                        stride=stride if i == 0 else 1, activation_fn=None, normalizer_fn=None)
            net = slim.batch_norm(net, scope="bn_sep_%dx%d_%d" % (kernel, kernel, i + 1))
        return net

    def nasnet(self, inputs, num_classes=5, is_training=True, reuse=None, scope="nasnet"):
        tf, slim = self.tf, self.slim
        points = {}
        norm = slim.arg_scope([slim.batch_norm], decay=0.9997, epsilon=0.001, scale=True, fused=True, is_training=is_training)
        with tf.variable_scope(scope, "nasnet", [inputs], reuse=reuse), norm, slim.arg_scope(
                [slim.conv2d, slim.separable_conv2d, slim.fully_connected], activation_fn=None, biases_initializer=None,
                weights_regularizer=slim.l2_regularizer(5e-5), weights_initializer=slim.variance_scaling_initializer(mode="FAN_OUT")):
            before = slim.conv2d(inputs, 8, 3, stride=2, padding="VALID", scope="conv0")
            before = net = slim.batch_norm(before, scope="conv0_bn")
            for i in range(2):
                with tf.variable_scope("cell_%d" % i):
                    with tf.variable_scope("left"):
                        a = self.drop_path(self.separable(net, 8, 5, 1), 0.6, is_training)
                    with tf.variable_scope("right"):
                        b = self.drop_path(self.separable(before, 8, 3, 1), 0.6, is_training)
                    both = tf.add(a, b, name="combine")
                    before, net = net, points.setdefault("Cell_%d" % i, tf.concat([both, slim.max_pool2d(
                        net, [3, 3], stride=1, padding="SAME")], 3))
                    net = slim.conv2d(tf.nn.relu(net), 8, 1, scope="squeeze")
            with tf.variable_scope("final_layer"):
                net = tf.reduce_mean(tf.nn.relu(net), [1, 2])
                net = slim.dropout(net, 0.5, is_training=is_training, scope="dropout")
                logits = slim.fully_connected(net, num_classes, biases_initializer=tf.zeros_initializer())
                points["Predictions"] = tf.nn.softmax(logits, name="predictions")
        return logits, points
