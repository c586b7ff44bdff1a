"""tf.keras.applications: layers, weights and predictions of the smallest models, prepared images, refused arguments.

test_applications.py compares the other architectures with figures that were recorded from TensorFlow.
"""
import numpy as np

from machine import case

IMAGES = np.random.RandomState(3).uniform(0, 255, (2, 32, 32, 3)).astype("float32")


def shown(model):
    """What describes a model, and what it predicts with weights that depend on their shapes only."""
    draw = np.random.RandomState(1)
    model.set_weights([draw.uniform(0.1, 0.4, w.shape) / max(1, np.prod(w.shape[:-1])) ** 0.5 for w in model.get_weights()])
    layers = [(layer.name, type(layer).__name__, layer.output_shape) for layer in model.layers]
    return model.name, layers, [w.name for w in model.weights], model.count_params(), model.predict(IMAGES)


@case(nodes=False, tolerance=2e-4)
def mobilenet_whole(tf):
    return shown(tf.keras.applications.MobileNet(weights=None, alpha=0.25, input_shape=(32, 32, 3), classes=7, dropout=0.5,
                                                 depth_multiplier=2, classifier_activation=None))


@case(nodes=False, tolerance=2e-4)
def mobilenet_v2_features(tf):
    image = tf.keras.Input((32, 32, 3), name="picture")
    return shown(tf.keras.applications.mobilenet_v2.MobileNetV2(weights=None, alpha=0.35, include_top=False, input_tensor=image,
                                                                pooling="max"))


@case(nodes=False, tolerance=2e-4)
def mobilenet_v3_minimalistic(tf):
    return shown(tf.keras.applications.MobileNetV3Small(weights=None, alpha=0.5, minimalistic=True, classes=3, input_shape=(32, 32, 3),
                                                        dropout_rate=0.0, include_preprocessing=False))


@case(nodes=False)
def prepared_images(tf):
    a, found = tf.keras.applications, []
    for module in (a.vgg16, a.resnet_v2, a.densenet, a.efficientnet, a.mobilenet_v3):
        found.append(module.preprocess_input(IMAGES.copy()))
    for mode in ("caffe", "tf", "torch"):
        found.append(a.imagenet_utils.preprocess_input(IMAGES.transpose(0, 3, 1, 2).copy(), data_format="channels_first", mode=mode))
        found.append(a.imagenet_utils.preprocess_input(IMAGES[0].astype("uint8"), mode=mode))
        found.append(a.imagenet_utils.preprocess_input(tf.constant(IMAGES), mode=mode))
        found.append(a.imagenet_utils.preprocess_input(tf.constant(IMAGES.transpose(0, 3, 1, 2)), "channels_first", mode=mode))
    return found


def refused(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except (ValueError, TypeError) as e:
        return type(e).__name__, str(e).split("Received")[0].split("got an")[0].strip()
    return None


@case(nodes=False)
def refused_arguments(tf):
    a = tf.keras.applications
    return [refused(a.VGG16, weights="no such file"), refused(a.ResNet50, classes=10),
            refused(a.Xception, weights=None, input_shape=(20, 90, 3)),
            refused(a.InceptionV3, weights=None, input_shape=(90, 90)), refused(a.DenseNet121, weights=None, input_shape=(None, None, 3)),
            refused(a.VGG19, input_shape=(100, 100, 3)), refused(a.VGG19, input_shape=(100, 100, 4), include_top=False),
            refused(a.MobileNet, weights=None, other=3), refused(a.ResNet101, weights=None, other=3),
            refused(a.imagenet_utils.preprocess_input, IMAGES, mode="none"), refused(a.vgg16.preprocess_input, IMAGES, data_format="x"),
            refused(a.vgg16.decode_predictions, np.zeros((2, 10)))]
