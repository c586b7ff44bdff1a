"""tf.keras.preprocessing.image.ImageDataGenerator: batches of images with random transformations."""
import os
import threading
import warnings

import numpy as np

from weft._core.framework.absent import Named
from weft._core.keras import image_changes, image_files
from weft._core.keras.generators import Sequence
from weft._core.keras.session import floatx, image_data_format


class Iterator(Sequence):
    """Yields batches of examples by number, in order or at random."""

    white_list_formats = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")

    def __init__(self, n, batch_size, shuffle, seed):
        self.n, self.batch_size, self.seed, self.shuffle = n, batch_size, seed, shuffle
        self.batch_index = self.total_batches_seen = 0
        self.lock, self.index_array = threading.Lock(), None
        self.index_generator = self._flow_index()

    def _set_index_array(self):
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def __getitem__(self, index):
        if index >= len(self):
            raise ValueError("Asked to retrieve element %d, but the Sequence has length %d" % (index, len(self)))
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1
        if self.index_array is None:
            self._set_index_array()
        return self._get_batches_of_transformed_samples(self.index_array[self.batch_size * index:self.batch_size * (index + 1)])

    def __len__(self):
        return (self.n + self.batch_size - 1) // self.batch_size

    def on_epoch_end(self):
        self._set_index_array()

    def reset(self):
        self.batch_index = 0

    def _flow_index(self):
        self.reset()
        while True:
            if self.seed is not None:
                np.random.seed(self.seed + self.total_batches_seen)
            if self.batch_index == 0:
                self._set_index_array()
            at = 0 if self.n == 0 else (self.batch_index * self.batch_size) % self.n
            self.batch_index = self.batch_index + 1 if self.n > at + self.batch_size else 0
            self.total_batches_seen += 1
            yield self.index_array[at:at + self.batch_size]

    def __iter__(self):
        return self

    def __next__(self):
        with self.lock:
            index = next(self.index_generator)
        return self._get_batches_of_transformed_samples(index)

    def next(self):
        return next(self)

    def _get_batches_of_transformed_samples(self, index_array):
        raise NotImplementedError


class NumpyArrayIterator(Iterator):
    """Yields batches of the rows of arrays, transformed by an ImageDataGenerator."""

    def __init__(self, x, y, image_data_generator, batch_size=32, shuffle=False, sample_weight=None, seed=None, data_format=None,
                 save_to_dir=None, save_prefix="", save_format="png", subset=None, ignore_class_split=False, dtype=None):
        self.dtype, self.x_misc = dtype or floatx(), []
        if isinstance(x, (tuple, list)):
            self.x_misc = [np.asarray(xx) for xx in (x[1] if isinstance(x[1], list) else [x[1]])]
            x = x[0]
        x = np.asarray(x, dtype=self.dtype)
        for name, other in (("labels", y), ("sample weights", sample_weight)):
            if other is not None and len(x) != len(other):
                raise ValueError("`x` (images tensor) and `%s` should have the same length. Found: x.shape = %s, %s.shape = %s" % (
                    name, x.shape, name, np.asarray(other).shape))
        if subset is not None:
            x, y, sample_weight = self._part(x, y, sample_weight, subset, image_data_generator._validation_split)
        self.x, self.y = x, None if y is None else np.asarray(y)
        if self.x.ndim != 4:
            raise ValueError("Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape %s" % (self.x.shape,))
        channels = self.x.shape[3 if (data_format or image_data_format()) == "channels_last" else 1]
        if channels not in (1, 3, 4):
            warnings.warn("NumpyArrayIterator is set to use the data format convention \"%s\", i.e. expected either 1, 3, or 4 channels. "
                          "However, it was passed an array with shape %s." % (data_format, self.x.shape), stacklevel=2)
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self.image_data_generator, self.data_format = image_data_generator, data_format
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        super().__init__(x.shape[0], batch_size, shuffle, seed)

    def _part(self, x, y, weights, subset, fraction):
        if subset not in ("training", "validation"):
            raise ValueError('Invalid subset name: %s; expected "training" or "validation".' % (subset,))
        at = int(len(x) * fraction)
        cut = slice(None, at) if subset == "validation" else slice(at, None)
        self.x_misc = [m[cut] for m in self.x_misc]
        return x[cut], None if y is None else y[cut], None if weights is None else weights[cut]

    def _get_batches_of_transformed_samples(self, index_array):
        made = np.zeros((len(index_array), *self.x.shape[1:]), dtype=self.dtype)
        for i, j in enumerate(index_array):
            x = self.x[j]
            change = self.image_data_generator.get_random_transform(x.shape)
            x = self.image_data_generator.apply_transform(x.astype(self.dtype), change)
            made[i] = self.image_data_generator.standardize(x)
        if self.save_to_dir:
            for i, j in enumerate(index_array):
                img = image_files.array_to_img(made[i], self.data_format, scale=True)
                name = "%s_%d_%d.%s" % (self.save_prefix, j, np.random.randint(1e4), self.save_format)
                img.save(os.path.join(self.save_to_dir, name))
        found = (made if not self.x_misc else [made] + [m[index_array] for m in self.x_misc],)
        if self.y is None:
            return found[0]
        found += (self.y[index_array],)
        return found if self.sample_weight is None else found + (self.sample_weight[index_array],)


class DirectoryIterator(Iterator):
    """Yields batches of the images in the subfolders of a folder; each subfolder is a class."""

    def __init__(self, directory, image_data_generator, target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical",
                 batch_size=32, shuffle=True, seed=None, data_format=None, save_to_dir=None, save_prefix="", save_format="png",
                 follow_links=False, subset=None, interpolation="nearest", keep_aspect_ratio=False, dtype=None):
        if class_mode not in ("categorical", "binary", "sparse", "input", None):
            raise ValueError('Invalid class_mode: %s; expected one of {"categorical", "binary", "sparse", "input", None}' % class_mode)
        self.image_data_generator, self.target_size, self.color_mode = image_data_generator, tuple(target_size), color_mode
        self.class_mode, self.directory = class_mode, directory
        self.interpolation, self.keep_aspect_ratio = interpolation, keep_aspect_ratio
        self.data_format, self.dtype = data_format or image_data_format(), dtype or floatx()
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        depth = {"rgb": 3, "rgba": 4, "grayscale": 1}[color_mode]
        self.image_shape = (*self.target_size, depth) if self.data_format == "channels_last" else (depth, *self.target_size)
        classes = classes or sorted(d for d in os.listdir(directory) if os.path.isdir(os.path.join(directory, d)))
        self.num_classes, self.class_indices = len(classes), {c: i for i, c in enumerate(classes)}
        self.filenames, self.classes = self._found(classes, follow_links, subset)
        self.samples, self.filepaths = len(self.filenames), [os.path.join(directory, f) for f in self.filenames]
        print("Found %d images belonging to %d classes." % (self.samples, self.num_classes))
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _found(self, classes, follow_links, subset):
        fraction, names, numbers = self.image_data_generator._validation_split, [], []
        for c in classes:
            files = sorted(os.path.join(root, f) for root, _, fs in os.walk(os.path.join(self.directory, c), followlinks=follow_links)
                           for f in fs if f.lower().endswith(self.white_list_formats))
            if subset is not None:
                at = int(len(files) * fraction)
                files = files[:at] if subset == "validation" else files[at:]
            names += [os.path.relpath(f, self.directory) for f in files]
            numbers += [self.class_indices[c]] * len(files)
        return names, np.array(numbers, dtype="int32")

    labels = property(lambda self: self.classes)

    def _get_batches_of_transformed_samples(self, index_array):
        made = np.zeros((len(index_array), *self.image_shape), dtype=self.dtype)
        for i, j in enumerate(index_array):
            img = image_files.load_img(self.filepaths[j], color_mode=self.color_mode, target_size=self.target_size,
                                       interpolation=self.interpolation, keep_aspect_ratio=self.keep_aspect_ratio)
            x = image_files.img_to_array(img, data_format=self.data_format)
            x = self.image_data_generator.apply_transform(x, self.image_data_generator.get_random_transform(x.shape))
            made[i] = self.image_data_generator.standardize(x)
        if self.class_mode is None:
            return made
        if self.class_mode == "input":
            return made, made.copy()
        numbers = self.classes[index_array]
        if self.class_mode == "categorical":
            return made, np.eye(self.num_classes, dtype=self.dtype)[numbers]
        return made, numbers.astype(self.dtype)


class ImageDataGenerator(metaclass=Named):
    """Transforms images at random and normalizes them. flow() returns batches."""

    def __init__(self, featurewise_center=False, samplewise_center=False, featurewise_std_normalization=False,
                 samplewise_std_normalization=False, zca_whitening=False, zca_epsilon=1e-6, rotation_range=0, width_shift_range=0.0,
                 height_shift_range=0.0, brightness_range=None, shear_range=0.0, zoom_range=0.0, channel_shift_range=0.0,
                 fill_mode="nearest", cval=0.0, horizontal_flip=False, vertical_flip=False, rescale=None, preprocessing_function=None,
                 data_format=None, validation_split=0.0, interpolation_order=1, dtype=None):
        self.featurewise_center, self.samplewise_center = featurewise_center or zca_whitening or featurewise_std_normalization, \
            samplewise_center or samplewise_std_normalization
        self.featurewise_std_normalization = featurewise_std_normalization and not zca_whitening
        self.samplewise_std_normalization, self.zca_whitening, self.zca_epsilon = samplewise_std_normalization, zca_whitening, zca_epsilon
        self.rotation_range, self.width_shift_range, self.height_shift_range = rotation_range, width_shift_range, height_shift_range
        self.shear_range, self.channel_shift_range, self.fill_mode, self.cval = shear_range, channel_shift_range, fill_mode, cval
        self.horizontal_flip, self.vertical_flip, self.rescale = horizontal_flip, vertical_flip, rescale
        self.preprocessing_function, self.dtype, self.interpolation_order = preprocessing_function, dtype or floatx(), interpolation_order
        self.data_format = data_format or image_data_format()
        if self.data_format not in ("channels_last", "channels_first"):
            raise ValueError('`data_format` should be `"channels_last"` (channel after row and column) or `"channels_first"` (channel '
                             "before row and column). Received: %s" % data_format)
        self.channel_axis, self.row_axis, self.col_axis = (1, 2, 3) if self.data_format == "channels_first" else (3, 1, 2)
        if validation_split and not 0 < validation_split < 1:
            raise ValueError("`validation_split` must be strictly between 0 and 1.  Received: %s" % validation_split)
        self._validation_split, self.mean, self.std, self.zca_whitening_matrix = validation_split, None, None, None
        self.zoom_range = self._pair("zoom_range", zoom_range)
        if brightness_range is not None and (not isinstance(brightness_range, (tuple, list)) or len(brightness_range) != 2):
            raise ValueError("`brightness_range should be tuple or list of two floats. Received: %s" % (brightness_range,))
        self.brightness_range = brightness_range

    @staticmethod
    def _pair(name, value):
        if isinstance(value, (float, int)):
            return [1 - value, 1 + value]
        if len(value) == 2 and all(isinstance(v, (float, int)) for v in value):
            return [value[0], value[1]]
        raise ValueError("`%s` should be a float or a tuple or list of two floats. Received: %s" % (name, value))

    def flow(self, x, y=None, batch_size=32, shuffle=True, sample_weight=None, seed=None, save_to_dir=None, save_prefix="",
             save_format="png", ignore_class_split=False, subset=None):
        """Returns an iterator over batches of arrays."""
        return NumpyArrayIterator(x, y, self, batch_size=batch_size, shuffle=shuffle, sample_weight=sample_weight, seed=seed,
                                  data_format=self.data_format, save_to_dir=save_to_dir, save_prefix=save_prefix,
                                  save_format=save_format, ignore_class_split=ignore_class_split, subset=subset, dtype=self.dtype)

    def flow_from_directory(self, directory, target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical",
                            batch_size=32, shuffle=True, seed=None, save_to_dir=None, save_prefix="", save_format="png",
                            follow_links=False, subset=None, interpolation="nearest", keep_aspect_ratio=False):
        """Returns an iterator over batches of the images in the subfolders of a folder."""
        return DirectoryIterator(directory, self, target_size, color_mode, classes, class_mode, batch_size, shuffle, seed,
                                 self.data_format, save_to_dir, save_prefix, save_format, follow_links, subset, interpolation,
                                 keep_aspect_ratio, self.dtype)

    def standardize(self, x):
        """Returns a scaled and normalized image."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + 1e-6
        for wanted, value, apply in ((self.featurewise_center, self.mean, np.subtract),
                                     (self.featurewise_std_normalization, None if self.std is None else self.std + 1e-6, np.divide)):
            if wanted and value is not None:
                x = apply(x, value)
            elif wanted:
                warnings.warn("This ImageDataGenerator specifies a normalization of all features, but it hasn't been fit on any training "
                              "data. Fit it first by calling `.fit(numpy_data)`.", stacklevel=2)
        if self.zca_whitening and self.zca_whitening_matrix is not None:
            x = np.reshape(np.dot(x.reshape(-1, np.prod(x.shape[-3:])), self.zca_whitening_matrix), x.shape)
        return x

    def _shift(self, value, size):
        """Returns a random shift in pixels: a fraction of the size, a number of pixels, or one of a list."""
        try:
            found = np.random.choice(value) * np.random.choice([-1, 1])
        except ValueError:
            found = np.random.uniform(-value, value)
        return found * size if np.max(value) < 1 else found

    def get_random_transform(self, img_shape, seed=None):
        """Returns the transformations to be applied to an image."""
        rows, columns = img_shape[self.row_axis - 1], img_shape[self.col_axis - 1]
        if seed is not None:
            np.random.seed(seed)
        theta = np.random.uniform(-self.rotation_range, self.rotation_range) if self.rotation_range else 0
        tx = self._shift(self.height_shift_range, rows) if self.height_shift_range else 0
        ty = self._shift(self.width_shift_range, columns) if self.width_shift_range else 0
        shear = np.random.uniform(-self.shear_range, self.shear_range) if self.shear_range else 0
        zx, zy = (1, 1) if self.zoom_range[0] == 1 and self.zoom_range[1] == 1 else np.random.uniform(
            self.zoom_range[0], self.zoom_range[1], 2)
        horizontal = (np.random.random() < 0.5) * self.horizontal_flip
        vertical = (np.random.random() < 0.5) * self.vertical_flip
        channel = np.random.uniform(-self.channel_shift_range, self.channel_shift_range) if self.channel_shift_range != 0 else None
        bright = np.random.uniform(*self.brightness_range) if self.brightness_range is not None else None
        return {"theta": theta, "tx": tx, "ty": ty, "shear": shear, "zx": zx, "zy": zy, "flip_horizontal": horizontal,
                "flip_vertical": vertical, "channel_shift_intensity": channel, "brightness": bright}

    def apply_transform(self, x, transform_parameters):
        """Returns an image with transformations applied."""
        given, row, col, channel = transform_parameters, self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        affine = {k: given.get(k, d) for k, d in (("theta", 0), ("tx", 0), ("ty", 0), ("shear", 0), ("zx", 1), ("zy", 1))}
        if affine != {"theta": 0, "tx": 0, "ty": 0, "shear": 0, "zx": 1, "zy": 1}:
            x = image_changes.apply_affine_transform(x, **affine, row_axis=row, col_axis=col, channel_axis=channel,
                                                     fill_mode=self.fill_mode, cval=self.cval, order=self.interpolation_order)
        if given.get("channel_shift_intensity") is not None:
            x = image_changes.apply_channel_shift(x, given["channel_shift_intensity"], channel)
        if given.get("flip_horizontal", False):
            x = image_changes.flip_axis(x, col)
        if given.get("flip_vertical", False):
            x = image_changes.flip_axis(x, row)
        if given.get("brightness") is not None:
            x = image_changes.apply_brightness_shift(x, given["brightness"], False)
        return x

    def random_transform(self, x, seed=None):
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x, augment=False, rounds=1, seed=None):
        """Computes the statistics that the featurewise normalization needs."""
        x = np.asarray(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError("Input to `.fit()` should have rank 4. Got array with shape: %s" % (x.shape,))
        if seed is not None:
            np.random.seed(seed)
        x = np.copy(x)
        if self.rescale:
            x *= self.rescale
        if augment:
            x = np.concatenate([np.stack([self.random_transform(row) for row in x]) for _ in range(rounds)]).astype(self.dtype)
        shape = [1, 1, 1]
        shape[self.channel_axis - 1] = x.shape[self.channel_axis]
        if self.featurewise_center:
            self.mean = np.reshape(np.mean(x, axis=(0, self.row_axis, self.col_axis)), shape)
            x -= self.mean
        if self.featurewise_std_normalization:
            self.std = np.reshape(np.std(x, axis=(0, self.row_axis, self.col_axis)), shape)
            x /= self.std + 1e-6
        if self.zca_whitening:
            flat = x.reshape(x.shape[0], -1)
            u, s, _ = np.linalg.svd(flat.T, full_matrices=False)
            self.zca_whitening_matrix = (u * (np.sqrt(len(flat)) / (s + self.zca_epsilon))).dot(u.T)
