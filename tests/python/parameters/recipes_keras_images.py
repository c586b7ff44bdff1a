"""Recipes of tf.keras.preprocessing.image; SciPy and Pillow are not installed where the tests run."""
RECIPES = """
tf.keras.preprocessing.image.img_to_array(arrays.PICTURE) ; data_format='channels_first', dtype='float64'
tf.keras.preprocessing.image.apply_channel_shift(arrays.PICTURE, 0.2) ; channel_axis=2
tf.keras.preprocessing.image.ImageDataGenerator() ; brightness_range=(0.5, 1.0), zca_whitening=True, rescale=0.5,
    preprocessing_function=np.sqrt, data_format='channels_first', validation_split=2.0, zoom_range=0.5, dtype='float64',
    fill_mode='wrap' ; [it.get_random_transform((4, 5, 3), seed=3), it.data_format, it.samplewise_center, it.zca_epsilon, it.fill_mode,
    it.cval, it.rescale, it.interpolation_order, it.dtype, it.featurewise_center, it.standardize(np.array(arrays.PICTURE))]
tf.keras.utils.array_to_img(arrays.PICTURE) ; data_format='channels_first', dtype='float64'
tf.keras.utils.save_img('a.png', arrays.PICTURE) ; data_format='channels_first', file_format='png'
tf.keras.preprocessing.image.apply_affine_transform(arrays.PICTURE) ; fill_mode='wrap'
tf.keras.preprocessing.image.random_rotation(arrays.PICTURE, 10) ; fill_mode='wrap'
tf.keras.preprocessing.image.random_shift(arrays.PICTURE, 0.1, 0.1) ; fill_mode='wrap'
tf.keras.preprocessing.image.random_shear(arrays.PICTURE, 10) ; fill_mode='wrap'
tf.keras.preprocessing.image.random_zoom(arrays.PICTURE, (0.5, 2.0)) ; fill_mode='wrap', zoom_range=(1.0,)
tf.keras.preprocessing.image.Iterator(7, 3, False, 4) ; n=8, batch_size=2, shuffle=True, seed=5 ;
    [len(it), [int(i) for i in next(it.index_generator)]]
"""
