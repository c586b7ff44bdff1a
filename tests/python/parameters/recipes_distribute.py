"""Recipes of checkpoints of objects and of tf.distribute; values.py has the names in them."""
RECIPES = """
# ---- checkpoints of objects ----
tf.train.Checkpoint(v=uses.variable()) ; ; [k for k in tf.train.list_variables(it.save('ckpt', session=uses.session()))]
tf.train.Checkpoint(v=uses.variable()).save('ckpt', session=uses.session()) ; options=tf.train.CheckpointOptions()
tf.train.Checkpoint(v=uses.variable()).write('ckpt', session=uses.session()) ; options=tf.train.CheckpointOptions()
tf.train.CheckpointOptions() ; experimental_io_device='/device:CPU:0', experimental_enable_async_checkpoint=False,
    experimental_write_callbacks=[uses.halve], enable_async=False ; [it.experimental_io_device, it.enable_async]
tf.train.CheckpointManager(tf.train.Checkpoint(v=uses.variable()), 'folder', 2) ; keep_checkpoint_every_n_hours=1,
    checkpoint_name='other', step_counter=3, checkpoint_interval=None, init_fn=str ; [it.directory, it.checkpoints,
    it.checkpoint_interval, uses.managed(it)]
tf.train.CheckpointManager(tf.train.Checkpoint(v=uses.variable()), 'folder', 2, step_counter=3) ;
    checkpoint_interval=2 ; it.checkpoint_interval
tf.contrib.checkpoint.CheckpointableObjectGraph() ; nodes=[tf.contrib.checkpoint.CheckpointableObjectGraph.TrackableObject()] ; str(it)
tf.contrib.checkpoint.List(uses.variable()) ; ; len(it)
tf.contrib.checkpoint.Mapping(a=uses.variable()) ; ; sorted(it)
tf.contrib.checkpoint.NoDependency(uses.variable()) ; value=3 ; str(it.value)
tf.contrib.checkpoint.PythonStateWrapper(str, len) ; save_callback=list, restore_callback=sorted ; [it.serialize(),
    it.deserialize('ba')]
tf.contrib.checkpoint.capture_dependencies(uses.captured()) ; template=tf.Module() ; [uses.entered(it, lambda:
    tf.get_variable('v', [2])), len(uses.captured()._trackable_children())]
tf.contrib.checkpoint.dot_graph_from_checkpoint(tf.train.Checkpoint(v=uses.variable()).save('ckpt',
    session=uses.session()))
tf.contrib.checkpoint.object_metadata(tf.train.Checkpoint(v=uses.variable()).save('ckpt', session=uses.session())) ; ;
    str(it)
tf.contrib.checkpoint.list_objects(tf.train.Checkpoint(v=uses.variable())) ; root=tf.train.Checkpoint() ; len(it)
tf.Module() ; name='given' ; it.name
"""
