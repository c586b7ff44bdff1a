"""tf.contrib.learn.Experiment: when it trains and evaluates. TensorFlow 2 does not have it."""
import pytest

import weft


def experiment(folder, **given):
    """An experiment of ten steps with a checkpoint every two, and the steps at which it was evaluated."""
    def model(features, labels, mode):
        v = weft.get_variable("v", [], initializer=weft.zeros_initializer())
        step = weft.train.get_global_step()
        train = weft.group(v.assign_add(1.0), weft.assign_add(step, 1))
        return weft.estimator.EstimatorSpec(mode, loss=weft.identity(v), train_op=train)
    estimator = weft.estimator.Estimator(model, str(folder), weft.estimator.RunConfig(save_checkpoints_steps=2))
    made = weft.contrib.learn.Experiment(estimator, lambda: ({"x": weft.zeros([1])}, weft.zeros([1])),
                                         lambda: ({"x": weft.zeros([1])}, weft.zeros([1])), train_steps=10, eval_steps=1,
                                         eval_delay_secs=0, **given)
    seen, evaluate = [], estimator.evaluate

    def noted(*args, **kwargs):
        found = evaluate(*args, **kwargs)
        seen.append(int(found["global_step"]))
        return found
    estimator.evaluate = noted
    return made, seen


def test_an_experiment_evaluates_every_so_many_steps(tmp_path):
    made, seen = experiment(tmp_path / "often", min_eval_frequency=4)
    made.train_and_evaluate()
    often = len(seen)
    made, seen = experiment(tmp_path / "seldom", local_eval_frequency=4)
    made.train_and_evaluate()
    assert often >= len(seen) + 2
    made, seen = experiment(tmp_path / "local", local_eval_frequency=4)
    made.local_run()
    assert len(seen) == often


def test_an_experiment_waits_before_it_starts(tmp_path, monkeypatch):
    import time
    waits = []
    made, _ = experiment(tmp_path)
    monkeypatch.setattr(time, "sleep", waits.append)
    made.train(delay_secs=7)
    made.evaluate()
    made.evaluate(delay_secs=3)
    assert waits == [7, 3]


def test_an_experiment_refuses_what_another_schedule_needs(tmp_path):
    with pytest.raises(NotImplementedError, match="train_steps_per_iteration"):
        experiment(tmp_path, train_steps_per_iteration=3)
