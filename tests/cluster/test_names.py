"""Host names that only /etc/hosts knows, with a default route and a DNS server that never answers: an air-gapped cluster."""
import os
import pathlib
import shutil
import subprocess

import pytest

from tasks import LINEAR, WEFT, Cluster

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("ip"), reason="network namespaces need root and ip")


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Hosts:
    """ps0.test and worker0.test, two hosts with an /etc of their own, joined by a cable that is also the default route."""

    def __init__(self, folder):
        number = os.getpid() % 250 + 1
        self.names = [f"wname{os.getpid()}a", f"wname{os.getpid()}b"]
        self.four = [f"10.78.{number}.1", f"10.78.{number}.2"]
        self.six = [f"fd78:{number:x}::1", f"fd78:{number:x}::2"]
        self.etc = [pathlib.Path("/etc/netns") / name for name in self.names]
        self.cluster = Cluster(folder, ps=1, workers=1)
        self.cluster.hosts = {"ps": ["ps0.test:2222"], "worker": ["worker0.test:2222"]}
        for name in self.names:
            ip("netns", "add", name)
        ip("link", "add", "cable", "netns", self.names[0], "type", "veth", "peer", "name", "cable", "netns", self.names[1])
        for i, name in enumerate(self.names):
            ip("-n", name, "addr", "add", f"{self.four[i]}/24", "dev", "cable")
            ip("-n", name, "addr", "add", f"{self.six[i]}/64", "dev", "cable", "nodad")
            ip("-n", name, "link", "set", "cable", "up")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "route", "add", "default", "via", self.four[1 - i])
            self.etc[i].mkdir(parents=True, exist_ok=True)
            (self.etc[i] / "resolv.conf").write_text("nameserver 192.0.2.53\n")  # the other host drops what goes there
            (self.etc[i] / "nsswitch.conf").write_text("hosts: files dns\n")
        self.write_etc_hosts(self.four)

    def write_etc_hosts(self, addresses):
        """Writes /etc/hosts of both hosts.  Tasks that run see the change, since the files are written in place."""
        text = "".join(f"{a} {n}\n" for a, n in zip(addresses, ("ps0.test", "worker0.test")) if a)
        for etc in self.etc:
            (etc / "hosts").write_text("127.0.0.1 localhost\n" + text)

    def run(self, host, name, *command, **env):
        return self.cluster.add(name, "ip", "netns", "exec", self.names[host], *command, **env)

    def linear(self, host, steps=10, **env):
        job = ("ps", "worker")[host]
        return self.run(host, job, LINEAR, *self.cluster.flags(job, 0), f"--steps={steps}", **env)

    def end(self):
        self.cluster.end()
        for name, etc in zip(self.names, self.etc):
            subprocess.run(["ip", "netns", "del", name], check=False)
            shutil.rmtree(etc, ignore_errors=True)


@pytest.fixture
def hosts(tmp_path):
    h = Hosts(tmp_path)
    yield h
    h.end()


@pytest.mark.parametrize("family", ["four", "six"])
def test_names_of_etc_hosts_work_while_dns_is_dead(hosts, family):
    hosts.write_etc_hosts(getattr(hosts, family))
    ps, worker = hosts.linear(0), hosts.linear(1)
    assert worker.wait(60) == 0, worker.output
    assert ps.wait(60) == 0, ps.output


def test_a_task_that_comes_back_at_another_address_is_found(hosts):
    """A pod that was started again: its name has another address now."""
    hosts.write_etc_hosts([hosts.four[0].rsplit(".", 1)[0] + ".9", hosts.four[1]])
    worker = hosts.linear(1)
    worker.until("Started server")
    worker.until("still waiting for response from worker: /job:ps", 60)
    hosts.write_etc_hosts(hosts.four)
    ps = hosts.linear(0)
    assert worker.wait(60) == 0, worker.output
    assert ps.wait(60) == 0, ps.output


def test_a_name_that_nobody_knows_is_what_the_message_says(hosts):
    hosts.write_etc_hosts([None, hosts.four[1]])
    worker = hosts.linear(1, WEFT_WAIT_SECS="8")
    assert worker.wait(60) != 0
    last = worker.output[worker.output.rindex("Gave up waiting"):]
    assert "ps0.test" in last and "resol" in last, worker.output


def test_a_host_where_nobody_listens_is_what_the_message_says(hosts):
    worker = hosts.linear(1, WEFT_WAIT_SECS="3")
    assert worker.wait(60) != 0
    last = worker.output[worker.output.rindex("Gave up waiting"):]
    assert "ps0.test" in last and "connect" in last and "refused" in last, worker.output


def test_the_name_stays_the_name_of_tls(hosts, tmp_path):
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=tmp_path)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=task", "-addext",
            "subjectAltName=DNS:ps0.test,DNS:worker0.test", "-keyout", "task.key", "-out", "task.csr")
    openssl("x509", "-req", "-in", "task.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-copy_extensions",
            "copy", "-out", "task.pem")
    env = {name: str(tmp_path / file) for name, file in
           {"WEFT_TLS_CERT": "task.pem", "WEFT_TLS_KEY": "task.key", "WEFT_TLS_CA": "ca.pem"}.items()}
    ps, worker = hosts.linear(0, **env), hosts.linear(1, **env)
    assert worker.wait(60) == 0, worker.output
    assert ps.wait(60) == 0, ps.output
    plain = hosts.linear(1)  # a task without a certificate gets an error, and does not wait
    hosts.run(0, "ps", WEFT, "serve", "--cluster", "ps=ps0.test:2222;worker=worker0.test:2222", "--job", "ps", **env)
    assert plain.wait(60) != 0
    assert "WEFT_TLS_CERT" in plain.output, plain.output
