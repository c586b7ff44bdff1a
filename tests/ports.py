"""Ports for tasks of tests.

They lie below those that the system gives to outgoing connections: a task that is started a moment later, or killed and
started again, finds its port still free.  Test processes that run at the same time never get the same port.
"""
import collections
import pathlib
import random
import socket
import sys

LOWEST = 10000
RANGE = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
END = int(RANGE.read_text().split()[0]) if RANGE.exists() else 32768
reserved = collections.deque(maxlen=200)  # the latest ones; older tests have ended


def reserve(port):
    """Fails if another process holds the port's name: a socket in Linux's abstract namespace, gone with its process."""
    if sys.platform == "linux":
        name = socket.socket(socket.AF_UNIX)
        reserved.append(name)
        name.bind(f"\0weft-test-port-{port}")


def bound():
    """A socket on a free port."""
    draw = random.SystemRandom()
    for left in reversed(range(1000)):
        s = socket.socket()
        try:
            s.bind(("127.0.0.1", draw.randrange(LOWEST, END) if END > LOWEST + 1000 else 0))
            reserve(s.getsockname()[1])
            return s
        except OSError:
            s.close()
            if not left:
                raise
    return None


def free_ports(n):
    """All are held until all are known, so that they differ."""
    sockets = [bound() for _ in range(n)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports
