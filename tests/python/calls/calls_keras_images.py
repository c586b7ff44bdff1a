"""tf.keras.preprocessing.image: pictures as arrays, scaled and normalized, and the random changes that are chosen for them.

TensorFlow changes pictures with SciPy alone, which is not installed where the tests run; what needs none is compared.
"""
import numpy as np

from machine import case

IMAGES = np.random.RandomState(2).rand(7, 4, 5, 3).astype("float32") * 255


@case(nodes=False, tolerance=1e-4)
def arrays_of_pictures(tf):
    i = tf.keras.preprocessing.image
    return [i.img_to_array(IMAGES[0]), i.img_to_array(IMAGES[0, :, :, 0]), i.img_to_array(IMAGES[0], data_format="channels_first"),
            i.img_to_array(IMAGES[0], dtype="uint8"), i.apply_channel_shift(IMAGES[0], 20.0, 2)]


@case(nodes=False, tolerance=1e-4)
def normalized(tf):
    image = tf.keras.preprocessing.image
    found = []
    for kwargs in ({}, {"rescale": 0.5}, {"samplewise_center": True}, {"samplewise_std_normalization": True},
                   {"preprocessing_function": np.sqrt}, {"featurewise_center": True}, {"featurewise_std_normalization": True}):
        made = image.ImageDataGenerator(**kwargs)
        made.fit(IMAGES)
        found.append([made.standardize(np.copy(IMAGES[0])), made.mean, made.std])
    whitened = tf.keras.preprocessing.image.ImageDataGenerator(zca_whitening=True, zca_epsilon=0.1)
    whitened.fit(IMAGES[:, :2, :2])
    return found, whitened.standardize(np.copy(IMAGES[0, :2, :2]))


@case(nodes=False, tolerance=1e-4)
def chosen_changes(tf):
    image = tf.keras.preprocessing.image
    made = image.ImageDataGenerator(rotation_range=30, width_shift_range=0.2, height_shift_range=2, shear_range=3.0, zoom_range=0.3,
                                    horizontal_flip=True, vertical_flip=True, channel_shift_range=9.0, brightness_range=(0.5, 1.5))
    plain = image.ImageDataGenerator(width_shift_range=[1, 2], zoom_range=[0.5, 2.0])
    return [[m.get_random_transform((4, 5, 3), seed=s) for s in range(4)] for m in (made, plain)]


@case(nodes=False, alone=True)
def batches(tf):
    """Flips, batches and splits, which need no SciPy here."""
    image = tf.keras.preprocessing.image
    flow = image.ImageDataGenerator(vertical_flip=True, horizontal_flip=True).flow(IMAGES, np.arange(7), batch_size=3, seed=4)
    x, y = next(flow)
    options = [IMAGES[y[0]][::a, ::b] for a in (1, -1) for b in (1, -1)]
    assert x.shape == (3, 4, 5, 3) and len(flow) == 3 and any(np.array_equal(x[0], o) for o in options)
    split = image.ImageDataGenerator(validation_split=0.3)
    parts = [split.flow(IMAGES, np.arange(7), shuffle=False, subset=name) for name in ("training", "validation")]
    assert [p.n for p in parts] == [5, 2] and np.array_equal(next(parts[1])[1], [0, 1])
    model = tf.keras.Sequential([tf.keras.layers.Flatten(input_shape=(4, 5, 3)), tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile("sgd", "mse")
    scaled = image.ImageDataGenerator(rescale=0.001).flow(IMAGES, np.arange(7), batch_size=3)
    losses = model.fit_generator(scaled, epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    return len(losses)
