"""Recipes of tf.contrib.graph_editor, factorization, projector, nccl and saved_model, and of the estimator KMeans."""
RECIPES = """
tf.estimator.experimental.KMeans(2, 'm', initial_clusters=arrays.X[:2], use_mini_batch=False) ; num_clusters=3,
    initial_clusters=arrays.X[1:], distance_metric='cosine', seed=3, use_mini_batch=True, mini_batch_steps_per_iteration=2,
    kmeans_plus_plus_num_retries=0, relative_tolerance=0.5, config=tf.estimator.RunConfig(tf_random_seed=3), model_dir='n',
    feature_columns=[tf.feature_column.numeric_column('x', 4)] ; uses.clustered(it)
tf.contrib.factorization.KMeans(X, 2, initial_clusters=arrays.X[:2]) ; initial_clusters=arrays.X[1:], distance_metric='cosine',
    use_mini_batch=True, mini_batch_steps_per_iteration=2 ; uses.clustered_in_graph(it)
tf.contrib.factorization.KMeans(Y, 2, 'random', use_mini_batch=True, random_seed=1) ; num_clusters=1, random_seed=6 ;
    uses.clustered_in_graph(it)
tf.contrib.factorization.KMeans(IMAGE[0, 0], 3, 'kmeans_plus_plus', use_mini_batch=True, random_seed=1) ;
    kmeans_plus_plus_num_retries=50 ; uses.clustered_in_graph(it)
tf.contrib.graph_editor.make_list_of_op([X.op, Y], ignore_ts=True) ; ignore_ts=False ; uses.names(it)
tf.contrib.graph_editor.make_list_of_op(X.graph) ; allow_graph=False ; uses.names(it)
tf.contrib.graph_editor.make_list_of_op([X.op, uses.elsewhere().op], check_graph=False) ; check_graph=True ; uses.names(it)
tf.contrib.graph_editor.make_list_of_t([X, Y.op], ignore_ops=True) ; ignore_ops=False ; uses.names(it)
tf.contrib.graph_editor.make_list_of_t(X.graph) ; allow_graph=False ; uses.names(it)
tf.contrib.graph_editor.make_list_of_t([X, uses.elsewhere()], check_graph=False) ; check_graph=True ; uses.names(it)
tf.contrib.graph_editor.get_walks_intersection_ops(uses.linked()[0].op, uses.node_of('third').op) ; forward_inclusive=False,
    backward_inclusive=False, within_ops=[uses.node_of('first').op], within_ops_fn=uses.is_first ; uses.names(it)
tf.contrib.graph_editor.get_walks_intersection_ops(uses.linked()[0].op, uses.op_named('after'), control_inputs=True,
    control_outputs=True) ; control_inputs=False, control_outputs=None ; uses.names(it)
tf.contrib.graph_editor.get_within_boundary_ops(uses.linked()[0].graph, uses.node_of('third').op) ;
    boundary_ops=[uses.node_of('second').op], control_inputs=True ; uses.names(it)
tf.contrib.graph_editor.get_within_boundary_ops(uses.linked()[0].graph, uses.node_of('first').op) ; control_outputs=True ;
    uses.names(it)
tf.contrib.graph_editor.get_within_boundary_ops(uses.linked()[0].graph, uses.node_of('second').op, [uses.node_of('first').op]) ;
    inclusive=False ; uses.names(it)
tf.contrib.graph_editor.copy([uses.scoped().op]) ; dst_graph=tf.Graph() ; it[0].graph is tf.get_default_graph()
tf.contrib.graph_editor.copy_with_input_replacements([uses.scoped().op], {}) ; dst_graph=tf.Graph() ;
    it[0].graph is tf.get_default_graph()
tf.contrib.graph_editor.get_tensors(uses.linked()[0].graph) ; ; uses.names(it)
tf.contrib.graph_editor.get_generating_ops(uses.linked()) ; ; uses.names(it)
tf.contrib.graph_editor.get_consuming_ops(uses.linked()) ; ; uses.names(it)
tf.contrib.graph_editor.get_forward_walk_ops(uses.linked()[0].op) ; inclusive=False, within_ops=[uses.node_of('first').op],
    within_ops_fn=uses.is_first, stop_at_ts=[uses.node_of('second')], control_outputs=True ; uses.names(it)
tf.contrib.graph_editor.get_backward_walk_ops(uses.linked()[2].op) ; inclusive=False, within_ops=[uses.node_of('third').op],
    within_ops_fn=uses.is_third, stop_at_ts=[uses.node_of('second')], control_inputs=True ; uses.names(it)
tf.contrib.graph_editor.filter_ops(uses.linked()[0].graph, uses.is_first) ; positive_filter=True ; uses.names(it)
tf.contrib.graph_editor.filter_ops_from_regex(uses.linked()[0].graph, 'fir') ; regex='sec' ; uses.names(it)
tf.contrib.graph_editor.filter_ts(uses.linked()[0].graph, uses.is_first) ; positive_filter=True ; uses.names(it)
tf.contrib.graph_editor.filter_ts_from_regex(uses.linked()[0].graph, 'fir') ; regex='sec' ; uses.names(it)
tf.contrib.graph_editor.select_ops('fir', graph=uses.linked()[0].graph) ; graph=tf.Graph() ; uses.names(it)
tf.contrib.graph_editor.select_ts('fir', graph=uses.linked()[0].graph) ; graph=tf.Graph() ; uses.names(it)
tf.contrib.graph_editor.SubGraphView([t.op for t in uses.linked()[:2]]) ; passthrough_ts=[X] ; uses.names(it.inputs + it.outputs)
tf.contrib.graph_editor.TransformerInfo({uses.linked()[0].op: uses.node_of('second').op}) ; ;
    uses.names([it.transformed(uses.node_of('first'))])
tf.contrib.graph_editor.make_view('fir', graph=uses.linked()[0].graph) ; graph=tf.Graph() ; uses.names(it.ops)
tf.contrib.graph_editor.make_view_from_scope('scope', uses.scoped().graph) ; scope='other' ; uses.names(it.ops)
tf.contrib.graph_editor.copy([t.op for t in uses.linked()[:2]]) ; dst_scope='given',
    src_scope='first' ; uses.names(it[0].ops)
tf.contrib.graph_editor.copy([uses.scoped().op]) ; src_scope='scope' ; uses.names(it[0].ops)
tf.contrib.graph_editor.copy_with_input_replacements([uses.scoped().op], {}) ; src_scope='scope' ; uses.names(it[0].ops)
tf.contrib.graph_editor.graph_replace(uses.scoped_square(), {uses.node_of('scope/inside'): X}) ; src_scope='scope'
tf.contrib.graph_editor.copy_with_input_replacements([t.op for t in uses.linked()[1:]], {uses.node_of('first'): X}) ;
    replacement_ts={}, dst_scope='given', src_scope='second' ; it[0].outputs[0]
tf.contrib.graph_editor.copy([t.op for t in uses.linked()[:2]], dst_scope=uses.scoped().op.name[:5]) ; reuse_dst_scope=True ;
    uses.names(it[0].ops)
tf.contrib.graph_editor.copy_with_input_replacements([t.op for t in uses.linked()[:2]], {}, dst_scope=uses.scoped().op.name[:5]) ;
    reuse_dst_scope=True ; uses.names(it[0].ops)
tf.contrib.graph_editor.graph_replace(uses.linked()[2], {uses.node_of('first'): X}) ; replacement_ts={uses.node_of('second'): X},
    dst_scope='given', src_scope='third'
tf.contrib.graph_editor.graph_replace(uses.linked()[2], {uses.node_of('first'): X}, dst_scope=uses.scoped().op.name[:5]) ;
    reuse_dst_scope=True
tf.contrib.graph_editor.reroute_ts([X], [uses.linked()[0]]) ; can_modify=[], cannot_modify=[uses.node_of('second').op]
tf.contrib.graph_editor.swap_ts([X], [uses.linked()[0]]) ; can_modify=[], cannot_modify=[uses.node_of('second').op]
tf.contrib.graph_editor.add_control_inputs(uses.linked()[2].op, X.op)
tf.contrib.graph_editor.make_placeholder_from_tensor(X) ; scope='given', prefix='other' ; [it.name, it.shape.as_list()]
tf.contrib.graph_editor.make_placeholder_from_dtype_and_shape(tf.float32) ; shape=[2], scope='given', prefix='other' ;
    [it.name, str(it.shape)]
tf.contrib.tensorboard.plugins.projector.visualize_embeddings('logs', tf.contrib.tensorboard.plugins.projector.ProjectorConfig(
    model_checkpoint_path='x')) ; summary_writer=tf.summary.FileWriter('other')
tf.contrib.tensorboard.plugins.projector.SpriteMetadata() ; image_path='a', single_image_dim=[1] ; it.SerializeToString()
tf.contrib.tensorboard.plugins.projector.EmbeddingInfo() ; tensor_name='a', metadata_path='a', bookmarks_path='a', tensor_path='a',
    tensor_shape=[1], sprite=tf.contrib.tensorboard.plugins.projector.SpriteMetadata(image_path='a') ; it.SerializeToString()
tf.contrib.tensorboard.plugins.projector.ProjectorConfig() ; model_checkpoint_path='a', model_checkpoint_dir='a',
    embeddings=[tf.contrib.tensorboard.plugins.projector.EmbeddingInfo(tensor_name='a')] ; it.SerializeToString()
tf.contrib.nccl.all_sum([X, Y])
tf.contrib.nccl.all_prod([X, Y])
tf.contrib.nccl.all_min([X, Y])
tf.contrib.nccl.all_max([X, Y])
tf.contrib.nccl.reduce_sum([X, Y])
tf.contrib.nccl.broadcast(X)
"""
