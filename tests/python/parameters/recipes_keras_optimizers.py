"""Recipes of tf.keras.optimizers: what configurations say; calls_keras_optimizers.py compares the steps."""
RECIPES = """
tf.keras.optimizers.Optimizer('given') ; gradient_aggregator=uses.halve, gradient_transformers=[uses.halve] ; it.get_config()
tf.keras.optimizers.SGD() ; ; it.get_config()
tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(), initial_scale=4) ; dynamic=False, initial_scale=8,
    dynamic_growth_steps=3, inner_optimizer=tf.keras.optimizers.Adam() ; it.get_config()
tf.keras.optimizers.Adam() ; ; it.get_config()
tf.keras.optimizers.Adamax() ; ; it.get_config()
tf.keras.optimizers.Nadam() ; ; it.get_config()
tf.keras.optimizers.RMSprop() ; ; it.get_config()
tf.keras.optimizers.Adagrad() ; ; it.get_config()
tf.keras.optimizers.Adadelta() ; ; it.get_config()
tf.keras.optimizers.Ftrl() ; learning_rate_power=-0.7 ; it.get_config()
tf.keras.optimizers.get('adam', use_legacy_optimizer=True) ; ; it.get_config()
tf.keras.optimizers.serialize(tf.keras.optimizers.Adam(), True)
tf.keras.optimizers.deserialize({'class_name': 'SGD', 'config': {'learning_rate': 0.5}}, use_legacy_optimizer=True) ;
    config={'class_name': 'Adam', 'config': {}}, custom_objects={'SGD': tf.keras.optimizers.Adam} ; it.get_config()
tf.keras.optimizers.schedules.ExponentialDecay(0.5, 4, 0.5) ; staircase=True, decay_steps=3, decay_rate=0.9 ;
    [uses.rate(it), it.get_config()]
tf.keras.optimizers.schedules.InverseTimeDecay(0.5, 4, 0.5) ; staircase=True, decay_steps=3, decay_rate=0.9 ;
    [uses.rate(it), it.get_config()]
tf.keras.optimizers.schedules.PolynomialDecay(0.5, 4) ; end_learning_rate=0.2, power=2.0, cycle=True ;
    [uses.rate(it), it.get_config()]
tf.keras.optimizers.schedules.PiecewiseConstantDecay([3, 7], [0.5, 0.2, 0.1]) ; values=[1.0, 2.0, 3.0] ;
    [uses.rate(it), it.get_config()]
tf.keras.optimizers.schedules.CosineDecay(0.5, 10) ; alpha=0.2, warmup_target=1.0, warmup_steps=4 ;
    [uses.rate(it), it.get_config()]
tf.keras.optimizers.schedules.CosineDecay(0.5, 10, warmup_target=1.0, warmup_steps=4) ; alpha=0.2 ;
    [uses.rate(it), it.get_config()]
tf.keras.optimizers.schedules.CosineDecayRestarts(0.5, 4) ; t_mul=1.0, m_mul=0.5, alpha=0.2 ; [uses.rate(it), it.get_config()]
tf.keras.optimizers.schedules.serialize(tf.keras.optimizers.schedules.CosineDecay(0.5, 4), True)
tf.keras.optimizers.schedules.deserialize({'class_name': 'CosineDecay', 'config': {'initial_learning_rate': 0.5,
    'decay_steps': 4}}) ; custom_objects={'CosineDecay': tf.keras.optimizers.schedules.CosineDecayRestarts} ; it.get_config()
"""
