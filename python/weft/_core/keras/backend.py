"""The public module tf.keras.backend.

session.py has the state; backend_math.py, backend_nn.py and backend_rnn.py have the functions.
"""
from weft._core.framework.graph import name_scope
from weft._core.keras.backend_math import *  # noqa: F403
from weft._core.keras.backend_nn import *  # noqa: F403
from weft._core.keras.backend_rnn import rnn
from weft._core.keras.session import (
    Function,
    any_initialized,
    backend,
    batch_get_value,
    batch_set_value,
    cast_to_floatx,
    clear_session,
    epsilon,
    eval,
    floatx,
    function,
    get_session,
    get_uid,
    get_value,
    image_data_format,
    learning_phase,
    learning_phase_scope,
    manual_variable_initialization,
    reset_uids,
    set_epsilon,
    set_floatx,
    set_image_data_format,
    set_learning_phase,
    set_session,
    set_value,
    track_optimizer,
    track_variable,
)

EXPORTED = (Function, any_initialized, backend, batch_get_value, batch_set_value, cast_to_floatx, clear_session, epsilon, eval, floatx,
            function, get_session, get_uid, get_value, image_data_format, learning_phase, learning_phase_scope,
            manual_variable_initialization, name_scope, reset_uids, rnn, set_epsilon, set_floatx, set_image_data_format,
            set_learning_phase, set_session, set_value, track_optimizer, track_variable)
