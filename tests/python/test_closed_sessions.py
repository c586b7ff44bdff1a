"""Sessions that were closed, entered twice or reset, and targets that nobody serves: the errors are TensorFlow's."""
import pytest
import tensorflow.compat.v1 as oracle

import both
import weft


def uses(tf):
    """What uses of a closed session say."""
    with tf.Graph().as_default():
        one = tf.constant(1.0)
        session = tf.Session()
        call = session.make_callable(one)
        assert call() == 1
        session.close()
        session.close()
        return [both.outcome(use) for use in (
            lambda: session.run(one), lambda: session.run([]), lambda: one.eval(session=session), lambda: session.partial_run_setup([one]),
            session.make_callable(one, []), session.make_callable(one, accept_options=True), call,
            lambda: session.make_callable(one)(), session.list_devices, lambda: session.run(tf.constant(2.0)))]


def test_a_closed_session_refuses_its_uses_as_in_tensorflow():
    assert uses(weft) == uses(oracle)


def entered(tf):
    with tf.Graph().as_default(), tf.Session() as session:
        return both.outcome(session.__enter__)


def test_a_session_is_entered_once():
    assert entered(weft) == entered(oracle)


@pytest.mark.parametrize("tf", [weft, oracle], ids=["weft", "tensorflow"])
def test_a_target_that_nobody_serves_is_a_timeout(tf):
    with tf.Graph().as_default(), pytest.raises(tf.errors.DeadlineExceededError):
        tf.Session("grpc://127.0.0.1:1", config=tf.ConfigProto(operation_timeout_in_ms=500)).run(tf.constant(1.0))


def test_a_timeout_names_the_target_and_the_reason():
    config = weft.ConfigProto(operation_timeout_in_ms=500)
    with weft.Graph().as_default(), weft.Session("grpc://127.0.0.1:1", config=config) as session:
        with pytest.raises(weft.errors.DeadlineExceededError, match="127.0.0.1:1 did not answer .* of 500 ms: .*onnect"):
            session.run(weft.constant(1.0))


def reset(tf):
    """What the end of a session says after its target was reset: with `with`, without, after an error, and before any run."""
    target, one = tf.train.Server.create_local_server().target, tf.constant(1.0)

    def in_with(error):
        with tf.Session(target) as session:
            session.run(one)
            tf.Session.reset(target)
            if error:
                raise error
    first, unused = tf.Session(target), tf.Session(target)
    first.run(one)
    tf.Session.reset(target)
    return [ended(tf, end) for end in (first.close, first.close, unused.close, lambda: in_with(None), lambda: in_with(ValueError("own")))]


def ended(tf, end):
    try:
        return end()
    except (tf.errors.OpError, ValueError) as e:
        return type(e).__name__, str(e).replace(str(e).split()[1], "HANDLE") if "Session " in str(e) else str(e)


def test_the_end_of_a_session_says_that_its_target_was_reset():
    assert reset(weft) == reset(oracle)


def monitored(tf, given, stop=False):
    """The error of a run whose hook gives this, or that comes after a request to stop."""
    class Hook(tf.train.SessionRunHook):
        def before_run(self, context):
            return given(tf)

        def after_run(self, context, values):
            context.request_stop()
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        x = tf.constant(1.0)
        with pytest.raises(Exception) as raised, tf.train.MonitoredTrainingSession(hooks=[Hook()]) as session:
            session.run(x)
            session.run(x)
    return raised.type.__name__, raised.value


@pytest.mark.parametrize("given", [lambda tf: {"a": 1}, lambda tf: 3, lambda tf: tf.train.SessionRunArgs(3),
                                   lambda tf: tf.train.SessionRunArgs("none:0"), lambda tf: tf.train.SessionRunArgs(None, {"none:0": 1})],
                         ids=["dict", "number", "fetch of a number", "fetch of no tensor", "feed of no tensor"])
def test_what_a_hook_gives_wrongly_is_an_error_of_its_type(given):
    ours, theirs = monitored(weft, given), monitored(oracle, given)
    assert ours[0] == theirs[0] and not isinstance(ours[1], weft.errors.OpError)


def test_a_run_after_a_request_to_stop_is_a_runtime_error():
    ours, theirs = monitored(weft, lambda tf: None), monitored(oracle, lambda tf: None)
    assert (ours[0], str(ours[1])) == (theirs[0], str(theirs[1])) == ("RuntimeError", "Run called even after should_stop requested.")


def test_a_hook_that_is_none_is_an_attribute_error():
    for tf in (weft, oracle):
        with tf.Graph().as_default(), pytest.raises(AttributeError, match="begin"):
            tf.train.get_or_create_global_step()
            tf.train.MonitoredTrainingSession(hooks=[1])


def closed_twice(tf, make, within):
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        session = make(tf)
        if not within:
            session.close()
            return both.outcome(session.close)

        def leave():
            with session:
                session.close()
        return both.outcome(leave)


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("name", ["MonitoredSession", "SingularMonitoredSession", "MonitoredTrainingSession"])
def test_a_monitored_session_closes_once(name, within):
    said = [closed_twice(tf, lambda tf: getattr(tf.train, name)(), within) for tf in (weft, oracle)]
    assert said == ["RuntimeError: Session is already closed."] * 2
