"""What a cluster shows of itself: a page, JSON, metrics, `weft top`; to those who have the token, and no more."""
import contextlib
import json
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

from tasks import LINEAR, WEFT, eventually, free_ports

ENDLESS = 10**9


def get(port, path="/status.json", method="GET", **headers):
    """Code, headers, text."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.headers, e.read().decode()


def task(port, name):
    code, _, text = get(port)
    assert code == 200, text
    return next(t for t in json.loads(text)["tasks"] if t["name"] == name)


def running(cluster, port, **env):
    """1 ps with a page, 2 workers at work."""
    c = cluster()
    c.linear("ps", 0, WEFT_STATUS_PORT=str(port), **env).until("shows its status on http://localhost:")
    workers = [c.linear("worker", i, steps=ENDLESS, **env) for i in range(2)]
    for worker in workers:
        worker.until("=> step: 1\n")
    return c, workers


def test_one_page_shows_the_whole_cluster_and_a_task_that_dies(cluster):
    port = free_ports(1)[0]
    c, workers = running(cluster, port)
    eventually(lambda: all(task(port, name).get("samples") for name in ("ps:0", "worker:1")))
    for command in ("check", "top"):  # they call the states by the same names
        done = subprocess.run([WEFT, command, "--json", *c.flags("worker", 0)], capture_output=True, text=True, timeout=60)
        assert [t["state"] for t in json.loads(done.stdout)["tasks"]] == ["serving", "running", "running"], (command, done)
    ps, worker = task(port, "ps:0"), task(port, "worker:1")
    assert ps["state"] == "serving" and ps["up"] and ps["parts"] > 0 and ps["sessions"] >= 2
    assert {v["name"]: (v["type"], v["shape"], v["bytes"]) for v in ps["variable_list"]} == {
        "w": ("float32", "[]", 4), "b": ("float32", "[]", 4)}
    assert worker["state"] == "running" and worker["runs"] > 0 and worker["resident"] > 10**6
    assert worker["bytes_in"] > 0 and worker["bytes_out"] > 0 and worker["variable_list"] == []
    workers[1].kill()
    eventually(lambda: task(port, "worker:1")["state"] == "lost")  # that it does not answer is known a little earlier
    assert not task(port, "worker:1")["up"] and task(port, "worker:0")["up"]


def test_the_page_needs_nothing_from_elsewhere_and_changes_nothing(cluster):
    port = free_ports(1)[0]
    cluster().serve("ps", 0, "--status-port", port).until("shows its status")
    code, headers, page = get(port, "/")
    assert code == 200 and headers["Content-Type"] == "text/html; charset=utf-8" and page.startswith("<!doctype html>")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert set(re.findall(r"https?://[\w.]+", page)) <= {"http://www.w3.org"}  # the name of SVG, never fetched
    assert get(port, "/", "POST")[0] == 405 and get(port, "/status.json", "DELETE")[0] == 405
    assert get(port, "/nothing")[0] == 404 and get(port, "/../etc/passwd")[0] == 404
    assert get(port, "/", Host="example.com")[0] == 403  # a web page that calls us by its own name
    assert get(port, "/", Host=f"localhost:{port}")[0] == 200


def test_metrics_are_what_prometheus_reads(cluster):
    port = free_ports(1)[0]
    running(cluster, port)
    text = get(port, "/metrics")[2]
    families = {f.name: f for f in text_string_to_metric_families(text)}
    assert families["weft_parts"].type == "counter" and families["weft_parts"].samples[0].value > 0
    assert families["weft_resident_bytes"].samples[0].labels == {"task": "ps:0"}
    assert {s.labels["task"]: s.value for s in families["weft_task_up"].samples} == {"ps:0": 1, "worker:0": 1, "worker:1": 1}
    assert all(f.documentation for f in families.values())


def test_the_token_guards_the_page(cluster):
    port = free_ports(1)[0]
    cluster().serve("ps", 0, "--status-port", port, WEFT_TOKEN="secret").until("shows its status")
    for path in ["/", "/status.json", "/metrics", "/nothing"]:
        code, headers, text = get(port, path)
        assert code == 401 and headers["WWW-Authenticate"] == "Bearer" and "token" in text
        assert get(port, path + "?token=wrong")[0] == 401
        assert get(port, path, Authorization="Bearer wrong")[0] == 401
    assert get(port, "/status.json?token=secret")[0] == 200
    assert get(port, "/metrics", Authorization="Bearer secret")[0] == 200


def test_top_says_who_waits_for_whom(cluster):
    c = cluster(workers=1)
    worker = c.linear("worker", 0)
    worker.until("Started server")
    flags = c.flags("worker", 0)

    def top():
        return subprocess.run([WEFT, "top", "--once", *flags], capture_output=True, text=True, timeout=90)

    eventually(lambda: re.search(r"^worker:0 +waiting .* ps:0 \(.*for \d+ s$", top().stdout, re.M))
    told = top()
    assert told.returncode == 0 and "1 of 2 tasks answer" in told.stdout and "\033" not in told.stdout
    assert re.search(r"^ps:0 +no answer ", told.stdout, re.M)


def test_launch_gives_each_task_a_page(cluster):
    job = cluster().add("launch", WEFT, "launch", "--ps", 1, "--workers", 1, "--status-port", 0, "--verbose",
                        "--", LINEAR, f"--steps={ENDLESS}")
    job.until("=> step: 1\n")
    port = re.search(r"status page http://localhost:(\d+)", job.output).group(1)
    assert task(port, "worker:0")["up"]
    assert job.output.count("shows its status on") == 2
    job.send(2)
    assert job.wait() == 130


def test_slow_requests_do_not_keep_others_out_nor_the_task_from_ending(cluster):
    """A hundred clients that send a byte now and then."""
    port = free_ports(1)[0]
    ps = cluster().serve("ps", 0, "--status-port", port)
    ps.until("shows its status")
    slow = []
    for _ in range(100):
        slow.append(socket.create_connection(("127.0.0.1", port)))
        slow[-1].sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
    for _ in range(3):
        time.sleep(0.3)
        for s in slow:
            with contextlib.suppress(OSError):
                s.sendall(b"a")
    began = time.monotonic()
    assert get(port, "/metrics")[0] == 200
    assert time.monotonic() - began < 10  # before the slow ones are closed for being idle
    began = time.monotonic()
    ps.send(15)
    assert ps.wait(20) == 0, ps.output
    assert time.monotonic() - began < 5  # 2 s; the rest is for a busy machine
    for s in slow:
        s.close()
