"""Recipes of summary writers: the events that nodes write."""
RECIPES = """
tf.contrib.summary.create_file_writer('out') ; max_queue=1, flush_millis=5, filename_suffix='.given', name='w' ;
    uses.opened(it)
tf.contrib.summary.create_db_writer('out.db', 'e', 'r', 'u') ; db_uri='other.db', name='w' ; uses.in_database(it)
tf.contrib.summary.scalar(uses.recording('a'), 1.5) ; family='f', step=3 ; uses.recorded(it)
tf.contrib.summary.histogram(uses.recording('a'), X) ; family='f', step=3 ; uses.recorded(it)
tf.contrib.summary.image(uses.recording('a'), IMAGE[:, :, :, :1]) ; bad_color=[0, 255, 0, 255], max_images=1, family='f',
    step=3 ; uses.recorded(it)
tf.contrib.summary.audio(uses.recording('a'), X, 8000.0, 2) ; sample_rate=4000.0, max_outputs=1, family='f', step=3 ;
    uses.recorded(it)
tf.contrib.summary.generic(uses.recording('a'), X) ; metadata=tf.Summary.Value(tag='x').SerializeToString(), family='f',
    step=3 ; uses.recorded(it)
tf.contrib.summary.graph(tf.constant(uses.recording(''))) ; step=3, name='g' ; uses.recorded(it)
tf.contrib.summary.import_event(tf.Event(step=uses.recording(2)).SerializeToString()) ; name='e' ; uses.recorded(it)
tf.contrib.summary.flush() ; writer=uses.summary_writer('other'), name='f' ; it.type
tf.contrib.summary.eval_dir('a') ; name='b'
tf.contrib.summary.record_summaries_every_n_global_steps(uses.recording(2)) ; global_step=tf.constant(3) ; uses.only_in(it)
tf.contrib.summary.always_record_summaries() ; ; uses.only_in(it)
tf.contrib.summary.never_record_summaries() ; ; uses.only_in(it)
tf.contrib.summary.initialize(session=uses.recording(uses.session())) ; graph=tf.GraphDef(), session=None ;
    uses.recorded(None)
"""
