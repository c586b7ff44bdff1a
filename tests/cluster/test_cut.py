"""Hosts of their own (network namespaces, joined by a virtual cable that can be pulled): silence, addresses, access."""
import os
import shutil
import subprocess
import time

import pytest

from tasks import BUILD, LINEAR, WEFT, Cluster, eventually

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("ip"), reason="network namespaces need root and ip")


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Hosts:
    """Two hosts, 10.77.N.1 and 10.77.N.2."""

    def __init__(self, folder):
        number = os.getpid() % 250 + 1
        self.names = [f"weft{os.getpid()}a", f"weft{os.getpid()}b"]
        self.address = [f"10.77.{number}.1", f"10.77.{number}.2"]
        self.cluster = Cluster(folder, ps=1, workers=1)
        self.cluster.hosts = {"ps": [f"{self.address[0]}:2222"], "worker": [f"{self.address[1]}:2222"]}
        for name in self.names:
            ip("netns", "add", name)
        ip("link", "add", "cable", "netns", self.names[0], "type", "veth", "peer", "name", "cable", "netns", self.names[1])
        for name, address in zip(self.names, self.address):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", "cable")
            ip("-n", name, "link", "set", "cable", "up")
            ip("-n", name, "link", "set", "lo", "up")

    def run(self, host, name, *command, **env):
        return self.cluster.add(name, "ip", "netns", "exec", self.names[host], *command, **env)

    def start_task(self, host, job, task, program=LINEAR, steps=10, **env):
        return self.run(host, f"{job}{task}", program, *self.cluster.flags(job, task), f"--steps={steps}", **env)

    def linear(self, host, steps=10, **env):
        return self.start_task(host, ("ps", "worker")[host], 0, steps=steps, **env)

    def pull(self):
        ip("-n", self.names[0], "link", "set", "cable", "down")

    def end(self):
        self.cluster.end()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False)


@pytest.fixture
def hosts(tmp_path):
    h = Hosts(tmp_path)
    yield h
    h.end()


def listening(hosts, host):
    shown = subprocess.run(["ip", "netns", "exec", hosts.names[host], "cat", "/proc/net/tcp", "/proc/net/tcp6"],
                           capture_output=True, text=True, check=True).stdout
    return [line.split()[1].split(":")[0] for line in shown.splitlines() if " 0A " in line]


def test_two_hosts_work_together_and_an_open_port_is_logged(hosts):
    ps = hosts.linear(0)
    ps.until("Started server")
    own = "".join(f"{int(p):02X}" for p in hosts.address[0].split(".")[::-1])  # as the kernel shows it
    assert {where[-8:] for where in listening(hosts, 0)} == {own}
    worker = hosts.linear(1)  # not earlier: both may end before the addresses were read
    assert worker.wait() == 0 and ps.wait() == 0, ps.output
    assert "without a token or TLS" in ps.output


def test_a_host_that_falls_silent_is_noticed_within_two_seconds(hosts):
    _, worker = hosts.linear(0), hosts.linear(1, steps=1000000)
    worker.until("step: 3\n")
    began = time.monotonic()
    hosts.pull()
    assert worker.wait() != 0
    assert "UNAVAILABLE" in worker.output, worker.output[-1000:]
    assert time.monotonic() - began < 10  # two seconds; the rest is for a busy machine


@pytest.mark.parametrize("far", [0, 1])
@pytest.mark.parametrize("program", ["linear", "sync"])
def test_a_worker_cut_off_does_not_hold_the_other_up(hosts, program, far):
    """The chief, or the other: worker `far` is alone on the second host.  In step, only a chief can be missed."""
    hosts.cluster.hosts["worker"] = [f"{hosts.address[i == far]}:{2300 + i}" for i in range(2)]
    hosts.start_task(0, "ps", 0, BUILD / "examples" / program)
    near, away = [hosts.start_task(i == far, "worker", i, BUILD / "examples" / program, steps=10**9) for i in (1 - far, far)]
    for task in (near, away):
        task.until("step")
    hosts.pull()
    assert away.wait() != 0
    assert "UNAVAILABLE" in away.output, away.output[-1000:]
    before = near.output.count("step")
    if program == "linear" or far == 1:
        eventually(lambda: near.output.count("step") > before + 1000)
    assert near.process.poll() is None


def test_an_address_that_is_not_the_hosts_own(hosts):
    """Behind NAT or in a container the listed address is another's: everything is listened on, or what `bind` says."""
    text = f"ps=192.0.2.7:2222;worker={hosts.address[1]}:2222"
    ps = hosts.run(0, "ps", WEFT, "serve", "--cluster", text, "--job", "ps", "--task", "0")
    ps.until("is not an address of this host")
    ps.until("Started server")
    ps.kill()
    ps = hosts.run(0, "ps", WEFT, "serve", "--cluster", text, "--job", "ps", "--bind", f"{hosts.address[0]}:2300")
    ps.until("Started server with target: grpc://localhost:2300")
    assert "is not an address" not in ps.output


def test_a_task_without_the_token_is_rejected(hosts):
    ps = hosts.linear(0, WEFT_TOKEN="secret")
    ps.until("Started server")
    assert "without a token" not in ps.output
    without_token = hosts.linear(1)
    assert without_token.wait() != 0
    assert "UNAUTHENTICATED" in without_token.output, without_token.output
    with_token = hosts.linear(1, WEFT_TOKEN="secret")
    assert with_token.wait() == 0, with_token.output
    assert ps.wait() == 0, ps.output
