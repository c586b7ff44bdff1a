"""Programs as people wrote them between 2016 and 2019, run as they stand."""
import re

import scripts


def test_letters_from_letters_in_python_2(tmp_path):
    code, out, err = scripts.run(scripts.PROGRAMS / "char_rnn.py", cwd=tmp_path)
    assert code == 0, err
    losses = [float(v) for v in re.findall(r"train_loss = (\S+)", out)]
    assert len(losses) == 6 and losses[-1] < losses[0] / 2, out
    assert re.search(r"^the (cat|dog|mat|log)", out.splitlines()[-1]), out


def test_pictures_by_slim(tmp_path):
    code, out, err = scripts.run(scripts.PROGRAMS / "slim_images.py", cwd=tmp_path)
    assert code == 0, err
    assert "7 ends" in out and float(re.search(r"accuracy (\S+)", out).group(1)) >= 0.8, (out, err)
    assert "INFO:tensorflow:global step 40: loss = " in err and "INFO:tensorflow:Stopping Training." in err
    assert (tmp_path / "slim" / "model.ckpt-40.index").exists()


def test_a_convolution_on_a_cluster_in_step(tmp_path):
    found = scripts.cluster(scripts.PROGRAMS / "monitored_cnn.py", 2, 2, "--checkpoint_dir=" + str(tmp_path / "saved"), cwd=tmp_path)
    for seat, (code, out, err) in found.items():
        assert code == 0, (seat, out, err)
    losses = [float(v) for v in re.findall(r"loss (\S+)", found["worker", 0][1])]
    assert losses[-1] < losses[0] / 2, losses
    last = re.findall(r"INFO:tensorflow:Saving checkpoints for (\d+) into", found["worker", 0][2])[-1]
    assert int(last) >= 40 and (tmp_path / "saved" / ("model.ckpt-%s.index" % last)).exists()
