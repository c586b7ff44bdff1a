"""Hosts for the tasks of a cluster job: network namespaces that are joined by veth pairs and one bridge.

The bridge is in a namespace of its own, so the machine's network is not touched. Needs root. With "10gbit" each host sends
through a token bucket (tc tbf) of that rate; where the kernel cannot do that, the job says so and runs unshaped.
"""
import os
import subprocess
import sys

PORT = 2222
RATE = ["rate", "10gbit", "burst", "4mb", "latency", "20ms"]


def ip(*arguments):
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()} (--net needs root and network namespaces)")


class Network:
    """`kind`: plain or 10gbit."""
    made = 0

    def __init__(self, hosts, kind):
        Network.made += 1
        self.names, mark = [], f"bench{os.getpid()}n{Network.made}"
        try:
            self.bridge = self._add(mark + "b")
            ip("-n", self.bridge, "link", "add", "bridge", "type", "bridge")
            ip("-n", self.bridge, "link", "set", "bridge", "up")
            self.hosts = [self._join(mark, i, kind) for i in range(hosts)]
        except BaseException:
            self.end()
            raise

    def _add(self, name):
        ip("netns", "add", name)
        self.names.append(name)
        ip("-n", name, "link", "set", "lo", "up")
        return name

    def _join(self, mark, i, kind):
        name = self._add(f"{mark}h{i}")
        ip("-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", f"port{i}", "netns", self.bridge)
        ip("-n", self.bridge, "link", "set", f"port{i}", "master", "bridge", "up")
        ip("-n", name, "address", "add", f"10.79.0.{i + 1}/24", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")
        if kind == "10gbit":
            done = subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", "tbf", *RATE],
                                  capture_output=True, text=True)
            if done.returncode:
                print(f"bench: the links are not shaped: tc: {done.stderr.strip()}", file=sys.stderr)
        return name

    def address(self, i):
        return f"10.79.0.{i + 1}:{PORT}"

    def enter(self, i):
        """What a command is prefixed with to run on host i; the process keeps its id."""
        return ["nsenter", f"--net=/run/netns/{self.hosts[i]}"]

    def end(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)
