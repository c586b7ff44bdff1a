"""Ports for tasks of tests.

A port is held by a socket that is bound to it and does not listen: the system gives it to no outgoing connection, and no
other test draws it.  A task may listen on it, and do so again after it was killed, because tasks set SO_REUSEADDR.
Ports lie below those of outgoing connections where there is room.
"""
import collections
import pathlib
import random
import socket

LOWEST = 10000
RANGE = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
END = int(RANGE.read_text().split()[0]) if RANGE.exists() else 32768
held = collections.deque(maxlen=200)  # the latest ones; older tests have ended


def hold():
    """Returns a port that nobody else has bound, and only then lets a task share it."""
    draw = random.SystemRandom()
    for left in reversed(range(1000)):
        s = socket.socket()
        try:
            s.bind(("127.0.0.1", draw.randrange(LOWEST, END) if END > LOWEST + 1000 else 0))
            break
        except OSError:
            s.close()
            if not left:
                raise
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.append(s)
    return s.getsockname()[1]


def free_ports(n):
    return [hold() for _ in range(n)]
