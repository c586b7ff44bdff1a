"""What is deployed: manifests are parsed by YAML, Kubernetes' own schemas and docker-compose, and what they say to run
is run, with the hosts' names replaced by ports of this machine."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import kubernetes_validate
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from ports import free_ports  # noqa: E402

BUILD = pathlib.Path(os.environ.get("WEFT_BUILD", ROOT / "build"))
WEFT = BUILD / "bin" / "weft"
LINEAR = str(BUILD / "examples" / "linear")
OPTIONS = ["--ps", "1", "--workers", "3", "--image", "registry/weft:0.1"]
KUBERNETES = "1.30"


def run(*command, env=None, cwd=None):
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("TF_CONFIG", "SLURM_", "OMPI_", "PMI_"))}
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300,
                          env={**plain, **(env or {})}, cwd=cwd)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def manifest(kind, *options, program=(LINEAR, "--steps=3")):
    return run(WEFT, "manifest", kind, *OPTIONS, *options, "--", *program)


def compose_config(path):
    return yaml.safe_load(run("docker-compose", "-f", path, "config"))


def train(commands):
    """Runs [(command, TF_CONFIG)] at once, every host a port of this machine; gives what each printed."""
    hosts = json.loads(commands[0][1])["cluster"]
    names = [host for job in sorted(hosts) for host in hosts[job]]
    here = dict(zip(names, (f"localhost:{port}" for port in free_ports(len(names)))))
    tasks = []
    for command, config in commands:
        for name, address in here.items():
            config = config.replace(f'"{name}"', f'"{address}"')
        assert command[0] == "weft"
        tasks.append(subprocess.Popen([WEFT, *command[1:]], env={**os.environ, "TF_CONFIG": config}, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    try:
        said = [t.communicate(timeout=300) for t in tasks]
    finally:
        for t in tasks:
            t.kill()
    for task, (out, err) in zip(tasks, said):
        assert task.returncode == 0, out + err
    return [out for out, _ in said]


def test_kubernetes_takes_the_manifest_and_its_pods_train():
    service, *jobs = yaml.safe_load_all(manifest("kubernetes", "--volume", "claim:/data", "--token-secret", "secret",
                                                 "--gpus", "2"))
    for document in (service, *jobs):
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
    assert [j["metadata"]["name"] for j in jobs] == ["weft-ps", "weft-worker"]
    commands = []
    for job in jobs:
        pod = job["spec"]["template"]["spec"]
        assert job["spec"]["completionMode"] == "Indexed" and pod["subdomain"] == service["metadata"]["name"]
        assert service["spec"]["selector"].items() <= job["spec"]["template"]["metadata"]["labels"].items()
        container = pod["containers"][0]
        env = {e["name"]: e.get("value") for e in container["env"]}
        for index in range(job["spec"]["completions"]):
            config = env["TF_CONFIG"].replace("$(TASK_INDEX)", str(index))
            # The name that an indexed job gives its pod, in the service's domain.
            name = f"{job['metadata']['name']}-{index}.{service['metadata']['name']}:2222"
            role = json.loads(config)
            assert role["cluster"][role["task"]["type"]][index] == name
            commands.append((container["command"], config))
    said = train(commands)
    assert len(said) == 4 and all("step: 2" in out for out in said[1:])


def test_kubeflow_gets_what_its_operator_looks_for():
    document = yaml.safe_load(manifest("tfjob", "--name", "mnist", "--volume", "claim:/data"))
    assert (document["apiVersion"], document["kind"]) == ("kubeflow.org/v1", "TFJob")
    replicas = document["spec"]["tfReplicaSpecs"]
    assert {name: r["replicas"] for name, r in replicas.items()} == {"PS": 1, "Worker": 3}
    for replica in replicas.values():
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": replica["template"]["spec"]}
        kubernetes_validate.validate(pod, KUBERNETES, strict=True)
        container = pod["spec"]["containers"][0]
        assert container["name"] == "tensorflow" and container["ports"][0]["name"] == "tfjob-port"


def test_compose_parses_and_trains(tmp_path):
    path = tmp_path / "compose.yaml"
    path.write_text(manifest("compose", "--volume", "data:/data"))
    services = compose_config(path)["services"]
    assert list(services) == ["ps-0", "worker-0", "worker-1", "worker-2"]
    for name, service in services.items():
        role = json.loads(service["environment"]["TF_CONFIG"])
        assert f"{name}:2222" in role["cluster"][role["task"]["type"]]
    said = train([(s["command"], s["environment"]["TF_CONFIG"]) for s in services.values()])
    assert all("step: 2" in out for out in said[1:])


def test_arguments_survive_quoting(tmp_path):
    program = ("a b", "it's", '"$HOME"', "$(X)", "back\\slash", "tab\t:", "ü", "- x")
    pod = list(yaml.safe_load_all(manifest("kubernetes", program=program)))[1]["spec"]["template"]["spec"]
    command = [c.replace("$$", "$") for c in pod["containers"][0]["command"]]  # as the kubelet reads it
    assert tuple(command[-len(program):]) == program
    path = tmp_path / "compose.yaml"
    path.write_text(manifest("compose", program=program))
    parsed = compose_config(path)["services"]["ps-0"]["command"]
    assert tuple(c.replace("$$", "$") for c in parsed[-len(program):]) == program  # config escapes again
    fake = tmp_path / "srun"
    fake.write_text('#!/bin/sh\nfor a; do printf "%s\\0" "$a"; done\n')
    fake.chmod(0o755)
    script = tmp_path / "job"
    script.write_text(manifest("slurm", program=program))
    said = run("sh", script, env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_JOB_ID": "7"})
    assert tuple(said.split("\0")[-len(program) - 1:-1]) == program


def test_the_compose_file_of_the_walk_through():
    config = compose_config(ROOT / "deploy" / "compose.yaml")
    roles = {}
    for name, service in config["services"].items():
        flags = dict(f.lstrip("-").split("=", 1) for f in service["entrypoint"][1:] + service["command"])
        roles[name] = (flags["job_name"], int(flags["task_id"]))
        hosts = flags[f"{flags['job_name']}_hosts"].split(",")
        assert hosts[int(flags["task_id"])] == f"{name}:2222"
        assert (ROOT / "examples" / (pathlib.Path(service["entrypoint"][0]).name + ".c")).exists()
        assert service["build"]["dockerfile"] == "deploy/Dockerfile"
    assert roles == {"tf1": ("ps", 0), "tf2": ("worker", 0), "tf3": ("worker", 1), "tf4": ("worker", 2)}


def test_systemd_takes_the_unit(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not here")
    text = (ROOT / "deploy" / "weft@.service").read_text()
    unit = tmp_path / "weft@ps-0.service"
    unit.write_text(text.replace("/usr/bin/weft", str(WEFT)))
    run("systemd-analyze", "verify", "--man=no", unit)
    command = re.search(r"^ExecStart=\S+ (.*)", text, re.M).group(1)
    assert command == "serve $WEFT_ARGS"


@pytest.mark.parametrize("env", [
    {"SLURM_PROCID": "2", "SLURM_NTASKS": "3", "SLURM_JOB_NODELIST": "n[1-3]", "SLURM_TASKS_PER_NODE": "1(x3)"},
    {"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "3"},
    {"PMI_RANK": "2", "PMI_SIZE": "3"},
    {"TF_CONFIG": '{"cluster": {"ps": ["n1:8888"], "worker": ["n2:8888", "n3:8888"]},'
                  ' "task": {"type": "worker", "index": 1}}'},
])
def test_exec_tells_a_program_who_it_is(env):
    for style, index in (("tf", "--task_index=1"), ("task_id", "--task_id=1"), ("parameter_servers", "--task_index=1")):
        said = run(WEFT, "exec", "--style", style, "--hosts", "n1,n2,n3", "--", "/bin/echo", "--mine", env=env)
        old = style == "parameter_servers"
        hosts = re.escape("--parameter_servers=n1:8888 --workers=" if old else "--ps_hosts=n1:8888 --worker_hosts=")
        assert re.fullmatch(rf"--mine {hosts}n2:8888,n3:8888 --job_name=worker {index}\n", said), said
    assert run(WEFT, "exec", "--style", "none", "--", "/bin/echo", "x", env=env) == "x\n"
    assert '"task": {"type": "worker", "index": 1}' in run(WEFT, "exec", "--", "/bin/sh", "-c", "echo $TF_CONFIG", env=env)
