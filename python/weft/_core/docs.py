"""Makes the docstrings of public functions and classes from one source.

A docstring is a summary and a line for each parameter.  The summary is the function's own docstring, the description of
the op that it makes, or a row of SUMMARIES. The line of a parameter comes from PARAMETERS by its name, or from RULES by
the form of its name, and ends with its default.
"""
import inspect
import re
import weakref

SUMMARIES = """
layers.dense | Applies a layer of units that are all connected to the last axis: activation(inputs * kernel + bias).
layers.conv2d | Applies a convolution with trained filters to images.
layers.conv2d_transpose | Applies a transposed convolution, which enlarges images where conv2d makes them smaller.
layers.separable_conv2d | Applies a convolution to each channel separately, and then one that mixes the channels.
layers.batch_normalization | Normalizes the inputs by the mean and variance of the batch, or by their moving averages.
layers.dropout | Sets a random part of the inputs to zero while training, and scales the rest up.
layers.flatten | Reshapes each example of the batch into one row.
layers.max_pooling2d | Returns the largest value of each window of an image.
layers.average_pooling2d | Returns the mean of each window of an image.
losses.absolute_difference | Returns the mean distance of predictions from labels.
losses.mean_squared_error | Returns the mean squared distance of predictions from labels.
losses.mean_pairwise_squared_error | Returns the mean squared difference between the errors of all pairs of elements of an example.
losses.huber_loss | Returns a loss that is squared for errors up to delta, and linear beyond it.
losses.hinge_loss | Returns the loss of a classifier with a margin; labels are 0 and 1.
losses.log_loss | Returns the negative log-likelihood of labels that are 0 or 1.
losses.cosine_distance | Returns one minus the cosine between labels and predictions, which must be normalized already.
losses.sigmoid_cross_entropy | Returns the cross entropy of labels that do not exclude one another.
losses.softmax_cross_entropy | Returns the cross entropy of labels that are one-hot vectors or distributions.
losses.sparse_softmax_cross_entropy | Returns the cross entropy of labels that are class numbers.
losses.get_regularization_loss | Returns the sum of the regularization losses.
metrics.accuracy | Computes how often predictions equal labels; returns the value and the op that updates it.
metrics.mean | Computes the mean of the values so far; returns the value and the op that updates it.
metrics.auc | Computes the area under a curve, approximated by thresholds; returns the value and the op that updates it.
metrics.precision | Computes the fraction of predicted positives that are true; returns the value and the op that updates it.
metrics.recall | Computes the fraction of actual positives that are found; returns the value and the op that updates it.
train.AdamOptimizer | The Adam algorithm: steps by moving averages of the gradient and of its square.
train.GradientDescentOptimizer | Plain gradient descent.
train.MomentumOptimizer | Gradient descent with momentum.
train.RMSPropOptimizer | Divides the gradient by a moving average of its size.
train.AdagradOptimizer | Divides the gradient by the root of the sum of its squares so far.
train.AdagradDAOptimizer | Adagrad with dual averaging, for sparse models.
train.AdadeltaOptimizer | The Adadelta algorithm.
train.FtrlOptimizer | The FTRL-proximal algorithm.
train.ProximalAdagradOptimizer | Adagrad with L1 and L2 regularization by proximal steps.
train.ProximalGradientDescentOptimizer | Gradient descent with L1 and L2 regularization by proximal steps.
train.SyncReplicasOptimizer | Collects the gradients of replicas and applies their mean once for all.
train.ExponentialMovingAverage | Keeps moving averages of variables.
train.MonitoredTrainingSession | A session for training that initializes, restores, saves, logs, and recovers from the loss of a task.
train.SingularMonitoredSession | A session with hooks that does not recover by itself.
train.Supervisor | Initializes a model, restores it, and writes checkpoints and summaries while it is trained.
train.Coordinator | Asks threads to stop, and waits for them.
train.SessionRunHook | Is called before and after each run of a monitored session; subclasses override its methods.
train.SessionRunArgs | The fetches, feeds and options that a hook adds to a run.
train.SessionRunContext | The information about a run that a hook gets.
train.CheckpointSaverHook | Writes a checkpoint every so many steps or seconds.
train.CheckpointSaverListener | Is called before and after a checkpoint is written; subclasses override its methods.
train.SummarySaverHook | Writes summaries every so many steps or seconds.
train.StepCounterHook | Logs and records how many steps are done per second.
train.StopAtStepHook | Ends the training at a step.
train.LoggingTensorHook | Logs tensors every so many steps or seconds.
train.NanTensorHook | Stops if the loss is not a number.
train.FeedFnHook | Feeds what a function returns.
train.FinalOpsHook | Runs tensors at the end of the session and keeps their values.
train.GlobalStepWaiterHook | Waits until the global step has reached a value.
train.SecondOrStepTimer | Says whether so many steps or seconds have passed.
train.SessionCreator | Makes sessions; subclasses override create_session.
train.ChiefSessionCreator | Makes the session of a chief, which initializes the model.
train.WorkerSessionCreator | Makes the session of a worker, which waits for the chief.
train.replica_device_setter | Returns a device function that puts variables on the ps tasks in turn, and all other nodes on the worker.
train.exponential_decay | Returns a learning rate that is multiplied by decay_rate every decay_steps.
train.natural_exp_decay | Returns a learning rate that decreases as exp(-decay_rate * step / decay_steps).
train.inverse_time_decay | Returns a learning rate that is divided by 1 + decay_rate * step / decay_steps.
train.polynomial_decay | Returns a learning rate that decreases to end_learning_rate by a power of the step.
train.cosine_decay | Returns a learning rate that decreases along half a cosine.
train.cosine_decay_restarts | Returns a cosine decay that restarts, each time for a longer period.
train.linear_cosine_decay | Returns a linear decay times a cosine.
train.noisy_linear_cosine_decay | Returns a linear decay times a cosine, with noise.
train.piecewise_constant | Returns a learning rate with a value for each range of the step.
train.batch | Returns batches of tensors, from a queue that threads fill.
train.batch_join | Returns batches of tensors from several sources.
train.shuffle_batch | Returns batches of tensors in random order.
train.shuffle_batch_join | Returns batches in random order from several sources.
train.string_input_producer | Returns a queue of strings, file names mostly, that a thread fills.
train.range_input_producer | Returns a queue of the numbers below a limit.
train.slice_input_producer | Returns a queue of the rows of tensors.
train.input_producer | Returns a queue of the rows of a tensor.
train.start_queue_runners | Starts the threads that fill the queues of the graph.
train.add_queue_runner | Adds a queue runner to the graph's collection.
train.latest_checkpoint | Returns the path of the newest checkpoint of a folder, or None.
train.get_checkpoint_state | Returns the contents of the file `checkpoint` of a folder, or None.
train.checkpoint_exists | Returns whether there is a checkpoint with this prefix.
train.import_meta_graph | Adds the graph of a .meta file, and returns its saver.
train.export_meta_graph | Returns the graph and its collections as a MetaGraphDef, and writes it to a file if one is named.
train.write_graph | Writes a graph to a file.
train.global_step | Returns the value of the global step.
estimator.Estimator | A model that is trained, evaluated, used for predictions and exported; model_fn defines it.
estimator.RunConfig | How an estimator runs: folder, checkpoints, summaries, session and cluster.
estimator.TrainSpec | The input and other settings of the training in train_and_evaluate.
estimator.EvalSpec | The input and other settings of the evaluation in train_and_evaluate.
estimator.DNNClassifier | A classifier with hidden layers.
estimator.DNNRegressor | A regression with hidden layers.
estimator.LinearClassifier | A linear classifier.
estimator.LinearRegressor | A linear regression.
estimator.DNNLinearCombinedClassifier | A classifier of a linear part and hidden layers.
estimator.DNNLinearCombinedRegressor | A regression of a linear part and hidden layers.
get_variable | Returns the variable of this name in the current scope: an existing or a new one, depending on the scope's reuse.
get_local_variable | Works as get_variable does, for a variable that is not saved and not trained.
get_variable_scope | Returns the current variable scope.
get_default_graph | Returns the graph to which new nodes are added.
get_default_session | Returns the session of the innermost `with`, or None.
get_collection | Returns the values of a collection; with `scope`, only those whose names begin with it.
get_collection_ref | Returns a collection itself: changes to the list change the graph.
add_to_collection | Adds a value to a collection of the graph.
reset_default_graph | Makes a new, empty default graph.
global_variables | Returns the variables that all tasks share.
local_variables | Returns the variables that belong to one process.
trainable_variables | Returns the variables that optimizers change.
global_variables_initializer | Returns an op that gives all global variables their initial values.
local_variables_initializer | Returns an op that gives all local variables their initial values.
variables_initializer | Returns an op that gives variables their initial values.
report_uninitialized_variables | Returns the names of the variables that have no value yet.
control_dependencies | Makes nodes created in this context wait for these.
colocate_with | Places nodes created in this context on the device of that node.
device | Places nodes created in this context on that device.
container | Keeps variables created in this context in that container.
group | Returns an op that is finished when all of these are.
tuple | Returns the same tensors, none of which is available before all are.
case | Returns the result of the first function whose condition is true.
while_loop | Repeats body while cond is true.
map_fn | Returns the stacked results of fn for each row.
foldl | Applies fn to the rows from the first to the last, with the result for the previous rows.
foldr | Applies fn to the rows from the last to the first, with the result for the previous rows.
scan | Returns the stacked results that foldl has after each row.
set_random_seed | Sets the seed of the graph, from which the seeds of its ops are derived.
boolean_mask | Returns the elements at which the mask is true.
meshgrid | Returns tensors of the coordinates of a grid.
norm | Returns the norm of vectors or matrices.
tensordot | Returns the product of two tensors, summed over the given axes.
where | Returns where the condition is true; or elements of x there, and of y elsewhere.
nn.dynamic_rnn | Runs a cell over the time axis of the inputs, as a loop.
nn.moments | Returns the mean and the variance over axes.
nn.batch_normalization | Returns (x - mean) / sqrt(variance + variance_epsilon) * scale + offset.
nn.sampled_softmax_loss | Returns the softmax loss over a sample of the classes.
nn.nce_loss | Returns the loss of noise-contrastive estimation.
app.run | Reads the flags and calls main.
gfile.Exists | Returns whether there is a file or folder of this name.
gfile.Glob | Returns the files that match a pattern.
gfile.MakeDirs | Makes a folder and its parents.
gfile.ListDirectory | Returns the names in a folder.
test.is_gpu_available | Returns whether there is a GPU that Weft can use.
summary.scalar | Returns a summary of one number.
summary.histogram | Returns a summary of how values are distributed.
summary.image | Returns a summary of images.
summary.audio | Returns a summary of sounds.
summary.text | Returns a summary of text.
saved_model.simple_save | Writes a SavedModel with one signature for serving.
ConfigProto | Options of a session: devices, threads and placement.
RunOptions | Options of one run: tracing and a time limit.
RunMetadata | The records of a traced run.
FIFOQueue | A queue that returns elements in the order in which they were added.
PaddingFIFOQueue | A queue whose batches are padded to the largest element.
PriorityQueue | A queue that returns the element with the lowest number first.
RandomShuffleQueue | A queue that returns a random element.
DeviceSpec | The parts of a device's name.
""".strip()

PARAMETERS = """
name | A name for the operation.
x | A tensor.
y | A tensor of the same type.
a | The first tensor.
b | The second tensor.
input | The tensor that the op is applied to.
inputs | The tensor that the layer is applied to, or a list of tensors.
value | The value.
values | The values.
tensor | A tensor.
tensors | A list or a nest of tensors.
recurrent_activation | The function of the gates.
unit_forget_bias | True to start the bias of the forget gate with ones.
dropout | The part of the inputs that is dropped while training.
recurrent_dropout | The part of the state that is dropped while training.
return_sequences | True for the outputs of all steps, False for the last one.
return_state | True to return the last state too.
go_backwards | True to go through the steps from the last to the first.
stateful | True to start each batch with the last state of the batch before.
unroll | True to build every step by itself instead of a loop.
reset_after | True to apply the reset gate after the product with the recurrent kernel.
implementation | Which of the equivalent ways of computing is used.
cells | The cells, the first one takes the inputs.
layer | The layer that is wrapped.
merge_mode | How the outputs of both directions are joined: 'sum', 'mul', 'concat', 'ave', or None for a list.
backward_layer | The layer that goes backwards; None for a copy of the other one.
depth_multiplier | How many outputs each channel has.
groups | How many groups of channels are convolved by themselves.
output_padding | How much is added to the size of the outputs; None for what padding and strides say.
interpolation | How values between pixels are computed: 'nearest', 'bilinear' and others.
cropping | How much is cut off at both ends of each axis.
mask_zero | True if 0 means that there is no value, which is then masked.
mask_value | The value that is masked.
mask | A mask, or a function that computes one.
input_dim | How many categories there are.
output_dim | The number of outputs.
input_length | The length of the input sequences; None if they differ.
input_tensor | A tensor to use instead of a new placeholder.
ragged | True for a ragged placeholder.
sparse | True for sparse tensors.
dynamic | True if the layer runs only eagerly.
function | The function that is called.
arguments | Keyword arguments for the function.
dims | The order of the axes, counted from one.
negative_slope | The slope below the threshold.
threshold | The value below which the slope is negative_slope.
theta | The value up to which outputs are zero.
shared_axes | The axes along which a parameter is shared.
center | True to add an offset that is learnt.
fused | True for the fused operation, False for single ones, None for the faster one that fits.
renorm | True for batch renormalization.
renorm_clipping | The limits of the corrections of batch renormalization.
renorm_momentum | The momentum of the moving averages of batch renormalization.
adjustment | A function that changes the normalized values while training.
key_dim | The size of each head for query and key.
value_dim | The size of each head for value; None for key_dim.
attention_axes | The axes that attention is computed over; None for all but batch, heads and features.
score_mode | How scores are computed: 'dot' or 'concat'.
equation | The equation of an einsum.
bias_axes | The axes of the outputs that the bias has.
l1 | The factor of the sum of absolute values.
l2 | The factor of the sum of squares.
identifier | A name, a configuration or an object.
custom_objects | Names of classes and functions of the program, for configurations.
gain | The factor of the values.
distribution | The distribution that values are drawn from.
ndim | The number of axes.
allow_last_axis_squeeze | True to allow an axis more if it has length 1.
normalize | True to normalize the inputs first.
bin_boundaries | The values between the intervals.
output_mode | The form of the outputs: 'int', 'one_hot', 'multi_hot' or 'count'.
salt | A number or two that change the hash.
invert | True to undo the normalization.
crop_to_aspect_ratio | True to cut images instead of distorting them.
height | The number of rows.
width | The number of columns.
data | The data.
dtype | The type of the result, such as tf.float32.
shape | The shape of the result: a list of sizes, in which None stands for any size.
axis | The axis, counted from 0, or from -1 at the end; None means all of them.
axes | The axes.
dim | Old name of `axis`.
keepdims | True to keep the reduced axes, with size 1.
keep_dims | Old name of `keepdims`.
reduction_indices | Old name of `axis`.
reduction_axes | Old name of `axis`.
seed | The seed of the random numbers of this op; with the graph's seed it makes them repeatable.
scope | The name scope or variable scope to use.
reuse | True to use the variables that exist, tf.AUTO_REUSE to make those that do not.
trainable | True to add the variables to those that optimizers change.
labels | The true values.
predictions | The values that the model gives.
logits | The scores before softmax or sigmoid.
onehot_labels | The true classes as one-hot vectors, or distributions over the classes.
multi_class_labels | For each class, whether the example belongs to it.
label_smoothing | How far labels are moved toward the middle; 0 leaves them as they are.
weights | How much each element counts: one number, or a tensor that broadcasts to the losses.
reduction | How the losses become one number; see tf.losses.Reduction.
loss_collection | The collection to which the loss is added; None for none.
metrics_collections | The collections to which the value is added.
updates_collections | The collections to which the update is added.
num_thresholds | How many thresholds approximate the curve.
use_locking | True to update a variable under its lock.
learning_rate | The size of a step: a number, a tensor, or a function that returns one.
global_step | The variable that counts the steps; an update adds one to it.
var_list | The variables; all trainable ones if None.
loss | The tensor to minimize.
grads_and_vars | Pairs of a gradient and its variable.
beta1 | The decay of the average of the gradient.
beta2 | The decay of the average of its square.
epsilon | A small number that keeps divisions from failing.
rho | The decay of the averages.
momentum | The part of the last step that is kept.
decay | The part of the old average that is kept.
activation | The function that is applied to the result; None to leave it as it is.
use_bias | True to add a bias.
units | The number of outputs.
filters | The number of filters, or the filters themselves.
filter | The filters, of shape [height, width, channels in, channels out].
kernel_size | The height and width of the filters.
strides | The distance from one window to the next.
stride | The distance from one window to the next.
padding | "valid" for windows inside the image alone, "same" for as many as there are positions.
data_format | Where the channels are: channels_last (NHWC) or channels_first (NCHW).
dilation_rate | The distance between the elements that a filter looks at.
dilations | The distance between the elements that a filter looks at, for each axis.
pool_size | The height and width of the window.
ksize | The size of the window, for each axis.
rate | The part of the elements that is dropped.
keep_prob | The part of the elements that is kept.
noise_shape | The shape of the random mask, which is broadcast to the input.
training | True while training; a tensor may decide in each run.
is_training | True while training.
initializer | How the variable starts: an initializer, or its values.
regularizer | A function of the variable whose result is added to the regularization losses.
constraint | A function that is applied to the variable after each update.
partitioner | A function that says into how many parts the variable is cut.
collections | The collections to which it is added.
caching_device | The device that keeps a copy for reading.
validate_shape | True to refuse values of another shape.
validate_args | True to check arguments when values are computed.
allow_nan_stats | True to give NaN for a statistic that is not defined, False to raise an error.
flag_values | The flags to which it is added.
y_pred | The predictions.
y_true | The true values.
thresholds | The values between 0 and 1 at which a prediction counts as positive.
from_logits | True if the predictions are logits, False if they are probabilities.
loc | The location of the distribution.
updates | The values that are written.
segment_ids | The number of the segment of each row.
ref | The variable that is changed.
required | True if it must be given.
estimator | The tf.estimator.Estimator.
class_id | The class that is counted; None for all.
help | The text that --help shows.
msg | The text of the failure.
prefix | The text before each name.
narrow_range | True to leave out the smallest quantized value.
transition_params | A matrix of the scores of one tag after another.
probs | Probabilities.
add_summaries | True to add summaries to the graph.
decoder_inputs | The inputs of the decoder, one for each step.
opt | The optimizer.
gamma | The scale.
normalizer_params | More arguments for the normalizer, a dict.
validate_indices | True to check indices.
weight_decay | How fast weights decay.
scores | A score for each box or row.
fft_length | The length of the transform.
warm_start_from | A checkpoint, or settings, from which variables start.
loss_reduction | How losses of examples are combined.
sequence_lengths | The length of each sequence.
model | The model.
outputs | The outputs.
label_dimension | The number of labels of an example.
summary_writer | The writer for summaries.
encoder_inputs | The inputs of the encoder, one for each step.
encoding | The encoding of the text.
pattern | The regular expression or pattern of names.
matrix | A matrix, or a batch of them.
initial_accumulator_value | The first value of the accumulators.
cell_clip | The largest value of the cell state; None for no limit.
channels | The number of channels.
queue_capacity | How many elements the queue holds.
feed_previous | True to use each output as the next input.
custom_getter | A function that is called in place of tf.get_variable.
use_resource | True for a resource variable, False for a ref variable.
synchronization | When distributed copies of the variable agree.
aggregation | How distributed updates of the variable are combined.
initial_value | The value that the variable starts with, or a function that returns it.
config | A tf.ConfigProto, or None for the standard one.
graph | The graph; the default one if None.
target | The address of the master, such as grpc://host:port; empty for this process.
master | The address of the master, such as grpc://host:port; empty for this process.
sess | The session.
session | The session; the default one if None.
hooks | Hooks that are called around each run.
scaffold | The ops and the saver of the model, for what is not to be made by itself.
saver | The tf.train.Saver to use.
is_chief | True in the task that initializes the model and saves it.
save_checkpoint_secs | How many seconds lie between checkpoints; None for none.
save_checkpoint_steps | How many steps lie between checkpoints; None for none.
save_summaries_secs | How many seconds lie between summaries; None for none.
save_summaries_steps | How many steps lie between summaries; None for none.
log_step_count_steps | How many steps lie between lines of the log; None for no lines.
max_wait_secs | How many seconds a worker waits for the chief.
stop_grace_period_secs | How many seconds threads have to stop.
chief_only_hooks | Hooks of the chief alone.
checkpoint_dir | The folder of the checkpoints.
checkpoint_basename | The name that checkpoint files begin with.
model_dir | The folder of checkpoints and summaries.
logdir | The folder of event files.
log_dir | The folder of the log.
output_dir | The folder to write to.
export_dir | The folder to write to.
path | The path.
filename | The name of the file.
filenames | The names of the files.
fn | The function.
func | The function.
elems | The tensors whose rows are taken one by one: one tensor, or a nest of them.
parallel_iterations | How many iterations may run at once.
back_prop | False if no gradient is needed.
swap_memory | True to move values that the gradient needs to main memory.
infer_shape | True to require one shape of all elements.
cond | The function that says whether the loop goes on.
body | The function that makes the next values of the loop variables.
loop_vars | The values that the loop starts with: a nest of tensors.
shape_invariants | The shapes that the loop variables keep, where they may change.
maximum_iterations | The most iterations.
return_same_structure | True to return a list even of one variable.
pred | The condition.
true_fn | The function that makes the result if the condition is true.
false_fn | The function that makes the result if it is false.
strict | True to keep lists of one element.
exclusive | True to fail if more than one condition is true.
default | The value that is used if nothing else is given.
default_value | The value if none is given.
summarize | How many elements an error shows.
message | The text of the error or of the log.
cell | The recurrent cell.
cell_fw | The cell that goes forward.
cell_bw | The cell that goes backward.
sequence_length | How many steps each row of the batch has.
initial_state | The state to begin with; zeros if None.
time_major | True if the first axis is time, False if it is the batch.
num_units | The number of units of the cell.
forget_bias | The value that is added to the forget gate.
state_is_tuple | True for a state of two tensors, False for one that holds both.
batch_size | How many examples make a batch.
capacity | The most elements that the queue holds.
min_after_dequeue | How many elements stay in the queue, so that the order is random.
num_threads | How many threads fill the queue.
num_epochs | How often the data are gone through; None for no end.
shuffle | True for a random order.
enqueue_many | True if the first axis of the tensors counts examples.
dynamic_pad | True to pad the examples of a batch to one shape.
allow_smaller_final_batch | True to give what is left at the end as a smaller batch.
shared_name | The name under which several sessions share it.
shapes | The shapes.
dtypes | The types.
types | The types.
names | The names.
indices | Where the values are.
dense_shape | The shape of the whole.
sp_input | A SparseTensor.
params | The table, or a list of its parts; of an estimator, a dictionary of parameters.
ids | The rows to look up.
combiner | How the rows of one example are combined: sum, mean or sqrtn.
partition_strategy | How rows are distributed over the parts: mod or div.
max_norm | The largest norm that a row may have.
image | One image, or a batch of them.
images | A batch of images.
size | The size.
align_corners | True to keep the centers of the corner pixels where they are.
half_pixel_centers | True to take pixels as squares whose center is at a half.
features | The features.
feature_columns | The feature columns of the model.
model_fn | The function that makes the model: (features, labels, mode, params, config) to an EstimatorSpec.
input_fn | The function that makes features and labels.
optimizer | The optimizer, or its name.
mode | tf.estimator.ModeKeys: TRAIN, EVAL or PREDICT.
key | The key.
keys | The keys.
key_dtype | The type of the keys.
value_dtype | The type of the values.
num_oov_buckets | How many numbers there are for words that are not in the list.
hash_bucket_size | How many numbers the words are hashed to.
vocabulary_list | The words.
vocabulary_file | The file with the words.
num_buckets | The number of classes.
dimension | The width of the vectors.
max_to_keep | How many of the last checkpoints are kept.
keep_checkpoint_every_n_hours | How often a checkpoint is kept for good.
sharded | True for a file per device.
write_version | The format of the checkpoint files.
fetches | What to compute: tensors, operations, or a nest of them.
feed_dict | The values to use in place of tensors.
options | Options of this call.
run_metadata | Where the trace of the run is put.
node_def | The node.
op | The operation.
error_code | The code of the error.
flag_name | The name of the flag.
docstring | The purpose of the flag.
lower_bound | The least value that is accepted.
upper_bound | The largest value that is accepted.
coord | The tf.train.Coordinator that stops the threads.
gradients | The gradients.
ys | The tensors to differentiate.
xs | The tensors to differentiate by.
grad_ys | The gradients of ys; ones if None.
stop_gradients | Tensors that count as constants.
unconnected_gradients | The gradient if ys do not depend on an x: "none" or "zero".
gate_gradients | How much of the gradients must be computed before any is used.
aggregation_method | How gradients of one tensor are added up.
colocate_gradients_with_ops | True to put gradients on the device of their op.
t | A tensor.
t_list | A list of tensors.
clip_norm | The largest norm.
clip_value_min | The least value.
clip_value_max | The largest value.
mean | The mean.
stddev | The standard deviation.
minval | The least value.
maxval | The value that all are below.
start | Where it starts.
limit | Where it ends.
delta | The step, or where the loss turns from a parabola into a line.
alpha | A factor.
beta | A factor.
scale | The factor.
offset | The value that is added.
variance | The variance.
variance_epsilon | A small number that is added to the variance.
targets | The true values.
k | How many.
n | How many.
depth | The number of classes.
on_value | The value at the class.
off_value | The value elsewhere.
perm | The new order of the axes.
paddings | How much is added before and after, for each axis.
multiples | How often, for each axis.
begin | Where the slice begins.
end | Where the slice ends.
condition | The condition.
out_type | The type of the result.
output_type | The type of the result.
separator | The text between the parts.
delimiter | The text that separates the parts.
serialized | Serialized tf.train.Example messages.
contents | The bytes.
compression_type | "", "GZIP" or "ZLIB".
buffer_size | The size of the buffer.
dataset | The data set.
map_func | The function that is applied to each element.
cluster | The addresses of the tasks.
ps_tasks | How many ps there are.
worker_device | The device of the worker.
ps_device | The device of the ps.
protocol | The protocol of the server.
job_name | The job of this task.
task_index | The number of this task in its job.
graph_def | The GraphDef.
as_text | True for a text file.
family | The first part of the summary's name.
args | Arguments that are passed on.
kwargs | Keyword arguments that are passed on.
argv | The command line; that of the process if None.
""".strip()

RULES = [
    (r"(.+)_initializer$", "How the {0} starts."),
    (r"(.+)_regularizer$", "A function of the {0} whose result is added to the regularization losses."),
    (r"(.+)_constraint$", "A function that is applied to the {0} after each update."),
    (r"(?:num|n)_(.+)$", "The number of {0}."),
    (r"is_(.+)$", "True if it is {0}."),
    (r"(?:use|with)_(.+)$", "True to use {0}."),
    (r"(.+)_(?:fn|func|function)$", "The function for {0}."),
    (r"(.+)_dir$", "The folder of the {0}."),
    (r"(.+)_secs$", "How many seconds: {0}."),
    (r"(.+)_steps$", "How many steps: {0}."),
    (r"(.+)_op$", "The operation for {0}."),
    (r"(.+)_ops$", "The operations for {0}."),
    (r"(.+)_hooks$", "The hooks for {0}."),
    (r"(.+)_collections?$", "The list of the graph for {0}."),
    (r"(.+)_columns?$", "The column: {0}."),
    (r"(.+)_shapes?$", "The shape: {0}."),
    (r"(.+)_dtypes?$", "The type: {0}."),
    (r"(.+)_(?:size|height|width|depth)$", "The size: {0}."),
    (r"(.+)_name$", "The name: {0}."),
    (r"(.+)_mask$", "Bits that mark {0} positions."),
    (r"(?:max|min)_(.+)$", "The limit of {0}."),
    (r"(.+)_(?:spec|config|options|def)$", "The description: {0}."),
    (r"(.+)_keep_prob$", "The part that is kept of the {0}."),
]


def _table(text):
    rows = (line.partition(" | ") for line in text.splitlines())
    return {left.strip(): right.strip() for left, _, right in rows}


_SUMMARIES, _PARAMETERS = _table(SUMMARIES), _table(PARAMETERS)
_RULES = [(re.compile(pattern), words) for pattern, words in RULES]


_described = weakref.WeakSet()


def words(name):
    """Returns the description of a parameter of this name, or None if there is none."""
    if name in _PARAMETERS:
        return _PARAMETERS[name]
    for pattern, text in _RULES:
        found = pattern.match(name)
        if found:
            return text.format(found.group(1).replace("_", " "))
    return None


def parameters(value):
    """Returns (name, default) of each parameter; for a class, those of its __init__.

    Ellipsis means that there is no default.
    """
    signature = getattr(value, "__signature__", None)
    if isinstance(signature, inspect.Signature):  # Enumerations of Python 3.12 have a function of that name.
        return [(p.name, ... if p.default is p.empty else p.default) for p in signature.parameters.values()]
    if isinstance(value, type):
        fields = getattr(value, "_fields", None)
        init = value.__init__ if fields is None else value.__new__
        return parameters(init)[1:] if hasattr(init, "__code__") else [(f, ...) for f in fields or ()]
    value = inspect.unwrap(value)
    code = getattr(value, "__code__", None)
    if code is None:
        return []
    count = code.co_argcount + code.co_kwonlyargcount
    names, given = code.co_varnames[:count], value.__defaults__ or ()
    defaults = dict(zip(code.co_varnames[code.co_argcount - len(given):code.co_argcount], given))
    defaults.update(value.__kwdefaults__ or {})
    more = count + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return [(n, defaults.get(n, ...)) for n in names] + [(n, ...) for n in code.co_varnames[count:more]]


def _line(name, default):
    said = words(name) or "The %s." % name.strip("_").replace("_", " ")
    if default is ... or default is None:
        return "  %s: %s" % (name, said)
    if isinstance(default, (bool, int, float, str, tuple)):
        return "  %s: %s The default is %r." % (name, said, default)
    return "  %s: %s" % (name, said)


def _summary(value, public):
    own = (value.__doc__ or "").strip()
    if own and not (isinstance(value, type) and own.startswith(value.__name__ + "(")):
        return own
    if public in _SUMMARIES:
        return _SUMMARIES[public]
    made = _op_of(value)
    if made:
        return made
    name = public.rpartition(".")[2]
    return (name if isinstance(value, type) else name.replace("_", " ").capitalize()) + "."


def _op_of(value):
    """Returns the description of the op that a function makes."""
    from weft._core.framework import opdef
    constants = getattr(getattr(value, "__code__", None), "co_consts", ())
    return next((opdef._LINES[c][1] for c in constants if isinstance(c, str) and c in opdef._LINES), None)


def describe(value, public):
    """Sets the docstring of a public function or class; `public` is its name without the package."""
    if not (isinstance(value, type) or hasattr(value, "__code__")) or value in _described:
        return
    if not getattr(value, "__module__", "").startswith("weft"):
        return
    _described.add(value)
    if "<locals>" in value.__qualname__ and not isinstance(value, type):  # Another function made this one.
        value.__name__ = value.__qualname__ = public.rpartition(".")[2]
    given = parameters(value)
    text = _summary(value, public)
    if given and "\nArgs:\n" not in text:
        text += "\n\nArgs:\n" + "\n".join(_line(*p) for p in given)
    try:
        value.__doc__ = text
    except (AttributeError, TypeError):
        pass  # The value is a type implemented in C.
