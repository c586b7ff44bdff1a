"""The models of tf.contrib.legacy_seq2seq: unrolled encoders and decoders of lists of inputs, with attention and
buckets.
"""
import weft as tf
from weft._core.contrib.legacy_seq2seq import rnn_decoder, sequence_loss, sequence_loss_by_example
from weft._core.contrib.rnn.cells import EmbeddingWrapper, OutputProjectionWrapper
from weft._core.contrib.rnn.parts import fresh_copy, linear
from weft._core.framework import nest


def _argmax_and_embed(embedding, output_projection, update_embedding):
    """Returns a loop function: the embedding of the most probable symbol of the output before."""
    def loop_function(before, _):
        if output_projection is not None:
            before = tf.nn.xw_plus_b(before, output_projection[0], output_projection[1])
        found = tf.nn.embedding_lookup(embedding, tf.argmax(before, 1))
        return found if update_embedding else tf.stop_gradient(found)
    return loop_function


def _check_projection(output_projection, rows, columns):
    if output_projection is None:
        return
    if rows is not None:
        tf.convert_to_tensor(output_projection[0]).shape.assert_is_compatible_with([rows, columns])
    tf.convert_to_tensor(output_projection[1]).shape.assert_is_compatible_with([columns])


def _check_dtype(dtype, *tensors):
    for x in (t for t in tensors if dtype is not None):
        kind = tf.convert_to_tensor(x).dtype.base_dtype
        if kind.is_floating and kind != tf.as_dtype(dtype):
            raise TypeError("dtype=%s does not fit inputs of type %s: cast the inputs, or leave dtype out" % (
                tf.as_dtype(dtype).name, kind.name))


def tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, loop_function=None, dtype=tf.float32, scope=None):
    """Returns (outputs, state) of an encoder and a decoder with the same variables."""
    _check_dtype(dtype, *encoder_inputs)
    with tf.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = tf.nn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        tf.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def embedding_rnn_decoder(decoder_inputs, initial_state, cell, num_symbols, embedding_size, output_projection=None,
                          feed_previous=False, update_embedding_for_previous=True, scope=None):
    """Returns (outputs, state) of a decoder of ids. With feed_previous it reads its own outputs."""
    with tf.variable_scope(scope or "embedding_rnn_decoder"):
        _check_projection(output_projection, None, num_symbols)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop = _argmax_and_embed(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        return rnn_decoder([tf.nn.embedding_lookup(embedding, i) for i in decoder_inputs], initial_state, cell, loop_function=loop)


def _either_way(feed_previous, decode, like):
    """Returns (outputs, state) of decode(feed_previous); a tensor can say whether outputs are fed back."""
    if isinstance(feed_previous, bool):
        return decode(feed_previous)

    def flat(flag):
        with tf.variable_scope(tf.get_variable_scope(), reuse=None if flag else True):
            outputs, state = decode(flag)
        return outputs + nest.flatten(state)
    made = tf.cond(feed_previous, lambda: flat(True), lambda: flat(False))
    state = made[len(made) - len(nest.flatten(like)):]
    return made[:len(made) - len(state)], nest.pack_like(like, state)


def _set_dtype(scope, dtype):
    if dtype is None:
        return scope.dtype
    scope.set_dtype(dtype)
    return dtype


def embedding_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols, embedding_size,
                          output_projection=None, feed_previous=False, dtype=None, scope=None):
    """Returns (outputs, state) of an encoder and a decoder of ids."""
    with tf.variable_scope(scope or "embedding_rnn_seq2seq") as outer:
        dtype = _set_dtype(outer, dtype)
        encoder = EmbeddingWrapper(fresh_copy(cell), num_encoder_symbols, embedding_size)
        _, state = tf.nn.static_rnn(encoder, encoder_inputs, dtype=dtype)
        cell = OutputProjectionWrapper(cell, num_decoder_symbols) if output_projection is None else cell
        return _either_way(feed_previous, lambda flag: embedding_rnn_decoder(
            decoder_inputs, state, cell, num_decoder_symbols, embedding_size, output_projection=output_projection,
            feed_previous=flag, update_embedding_for_previous=isinstance(feed_previous, bool)), state)


def embedding_tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, num_symbols, embedding_size, num_decoder_symbols=None,
                               output_projection=None, feed_previous=False, dtype=None, scope=None):
    """Returns (outputs, state) of an encoder and a decoder of ids with the same variables and one embedding."""
    with tf.variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as outer:
        dtype = outer.dtype
        _check_projection(output_projection, None, num_symbols)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        source, target = ([tf.nn.embedding_lookup(embedding, x) for x in xs] for xs in (encoder_inputs, decoder_inputs))
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols or num_symbols)
        known = isinstance(feed_previous, bool)

        def decode(flag):
            loop = _argmax_and_embed(embedding, output_projection, known) if flag else None
            return tied_rnn_seq2seq(source, target, cell, loop_function=loop, dtype=dtype)
        like = None if known else cell.zero_state(tf.shape(tf.convert_to_tensor(encoder_inputs[0]))[0], dtype)
        return _either_way(feed_previous, decode, like)


def _attention(query, heads, hidden, length, size):
    """Returns what each head reads from the memory. heads: (features, v) of each."""
    query = tf.concat(nest.flatten(query), 1) if nest.is_nested(query) else query
    read = []
    for a, (features, v) in enumerate(heads):
        with tf.variable_scope("Attention_%d" % a):
            y = tf.reshape(linear(query, size, True), [-1, 1, 1, size])
            share = tf.nn.softmax(tf.reduce_sum(v * tf.tanh(features + y), [2, 3]))
            found = tf.reduce_sum(tf.reshape(share, [-1, length, 1, 1]) * hidden, [1, 2])
            read.append(tf.reshape(found, [-1, size]))
    return read


def _check_attention(decoder_inputs, attention_states, num_heads):
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape.as_list()[2] is None:
        raise ValueError("Shape[2] of attention_states must be known: %s" % attention_states.shape)


def attention_decoder(decoder_inputs, initial_state, attention_states, cell, output_size=None, num_heads=1, loop_function=None,
                      dtype=None, scope=None, initial_state_attention=False):
    """Returns (outputs, state) of a decoder that reads attention_states, (batch, length, size), in each step."""
    memory = tf.convert_to_tensor(attention_states)
    _check_attention(decoder_inputs, memory, num_heads)
    _check_dtype(dtype, memory)
    with tf.variable_scope(scope or "attention_decoder", dtype=dtype) as outer:
        dtype, size = outer.dtype, memory.shape.as_list()[2]
        length = memory.shape.as_list()[1] or tf.shape(memory)[1]
        hidden = tf.reshape(memory, tf.stack([-1, length, 1, size]))
        heads = []
        for a in range(num_heads):
            k = tf.get_variable("AttnW_%d" % a, [1, 1, size, size], dtype=dtype)
            heads.append((tf.nn.conv2d(hidden, k, [1, 1, 1, 1], "SAME"), tf.get_variable("AttnV_%d" % a, [size], dtype=dtype)))
        state, outputs, before = initial_state, [], None
        rows = tf.shape(tf.convert_to_tensor(decoder_inputs[0]))[0]
        read = [tf.zeros(tf.stack([rows, size]), dtype) for _ in range(num_heads)]
        for x in read:
            x.set_shape([None, size])
        if initial_state_attention:
            read = _attention(initial_state, heads, hidden, length, size)
        for i, x in enumerate(decoder_inputs):
            if i > 0:
                tf.get_variable_scope().reuse_variables()
            if loop_function is not None and before is not None:
                with tf.variable_scope("loop_function", reuse=True):
                    x = loop_function(before, i)
            x = tf.convert_to_tensor(x)
            out, state = cell(linear([x] + read, x.shape.as_list()[1], True), state)
            with tf.variable_scope(tf.get_variable_scope(), reuse=True if i > 0 or initial_state_attention else None):
                read = _attention(state, heads, hidden, length, size)
            with tf.variable_scope("AttnOutputProjection"):
                out = linear([out] + read, output_size or cell.output_size, True)
            before = out if loop_function is not None else None
            outputs.append(out)
    return outputs, state


def embedding_attention_decoder(decoder_inputs, initial_state, attention_states, cell, num_symbols, embedding_size, num_heads=1,
                                output_size=None, output_projection=None, feed_previous=False,
                                update_embedding_for_previous=True, dtype=None, scope=None, initial_state_attention=False):
    """Returns attention_decoder applied to ids. With feed_previous it reads its own outputs."""
    output_size = output_size or cell.output_size
    _check_dtype(dtype, attention_states)
    _check_projection(output_projection, output_size, num_symbols)
    with tf.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop = _argmax_and_embed(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        rows = [tf.nn.embedding_lookup(embedding, i) for i in decoder_inputs]
        return attention_decoder(rows, initial_state, attention_states, cell, output_size=output_size, num_heads=num_heads,
                                 loop_function=loop, initial_state_attention=initial_state_attention)


def embedding_attention_seq2seq(encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols, embedding_size,
                                num_heads=1, output_projection=None, feed_previous=False, dtype=None, scope=None,
                                initial_state_attention=False):
    """Returns (outputs, state) of an encoder and a decoder of ids that reads the outputs of the encoder."""
    with tf.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as outer:
        encoder = EmbeddingWrapper(fresh_copy(cell), num_encoder_symbols, embedding_size)
        made, state = tf.nn.static_rnn(encoder, encoder_inputs, dtype=outer.dtype)
        memory = tf.concat([tf.reshape(x, [-1, 1, cell.output_size]) for x in made], 1)
        output_size = None
        if output_projection is None:
            cell, output_size = OutputProjectionWrapper(cell, num_decoder_symbols), num_decoder_symbols
        return _either_way(feed_previous, lambda flag: embedding_attention_decoder(
            decoder_inputs, state, memory, cell, num_decoder_symbols, embedding_size, num_heads=num_heads, output_size=output_size,
            output_projection=output_projection, feed_previous=flag, initial_state_attention=initial_state_attention,
            update_embedding_for_previous=isinstance(feed_previous, bool)), state)


def one2many_rnn_seq2seq(encoder_inputs, decoder_inputs_dict, enc_cell, dec_cells_dict, num_encoder_symbols,
                         num_decoder_symbols_dict, embedding_size, feed_previous=False, dtype=None, scope=None):
    """Returns ({name: outputs}, {name: state}) of one encoder and several decoders."""
    outputs, states = {}, {}
    with tf.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as outer:
        encoder = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, state = tf.nn.static_rnn(encoder, encoder_inputs, dtype=outer.dtype)
        for name, inputs in decoder_inputs_dict.items():
            count = num_decoder_symbols_dict[name]
            with tf.variable_scope("one2many_decoder_" + str(name)):
                cell = OutputProjectionWrapper(dec_cells_dict[name], count)
                outputs[name], states[name] = _either_way(feed_previous, lambda flag: embedding_rnn_decoder(
                    # noqa: B023 - it is called immediately
                    inputs, state, cell, count, embedding_size, feed_previous=flag), state)
    return outputs, states


def model_with_buckets(encoder_inputs, decoder_inputs, targets, weights, buckets, seq2seq, softmax_loss_function=None,
                       per_example_loss=False, name=None):
    """Returns (outputs, losses) of a model for each bucket, (length of the encoder, length of the decoder)."""
    for what, given, at in (("encoder_inputs", encoder_inputs, 0), ("targets", targets, 1), ("weights", weights, 1)):
        if len(given) < buckets[-1][at]:
            raise ValueError("Length of %s (%d) must be at least that of last bucket (%d)." % (what, len(given), buckets[-1][at]))
    losses, outputs = [], []
    with tf.name_scope(name, "model_with_buckets", list(encoder_inputs) + list(decoder_inputs) + list(targets) + list(weights)):
        for j, (source, target) in enumerate(buckets):
            with tf.variable_scope(tf.get_variable_scope(), reuse=True if j > 0 else None):
                made, _ = seq2seq(encoder_inputs[:source], decoder_inputs[:target])
                outputs.append(made)
                loss = sequence_loss_by_example if per_example_loss else sequence_loss
                losses.append(loss(made, targets[:target], weights[:target], softmax_loss_function=softmax_loss_function))
    return outputs, losses
