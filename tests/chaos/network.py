"""Five hosts for the tasks of a round: network namespaces whose packets all pass through one relay (relay.c)."""
import os
import subprocess

PORT = 2222


class Network:
    def __init__(self, program, hosts, log):
        self.names = [f"chaos{os.getpid()}h{i}" for i in range(hosts)]
        self.addresses = [f"10.78.0.{i + 1}:{PORT}" for i in range(hosts)]
        self.relay = None
        try:
            for name in self.names:
                subprocess.run(["ip", "netns", "add", name], check=True)
                subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
            with open(log, "wb") as err:
                self.relay = subprocess.Popen([str(program), *self.names], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                              stderr=err, text=True)
            if self.relay.stdout.readline() != "ready\n":
                raise RuntimeError(f"the relay did not start: {open(log).read()}")
        except BaseException:
            self.end()
            raise

    def enter(self, host):
        """What a command is prefixed with to run on that host; the process keeps its id."""
        return ["nsenter", f"--net=/run/netns/{self.names[host]}"]

    def set(self, source, target, key, value=0):
        self.relay.stdin.write(f"{source} {target} {key} {value}\n")
        self.relay.stdin.flush()

    def heal(self):
        self.set("*", "*", "clear")

    def end(self):
        if self.relay:
            self.relay.stdin.close()
            self.relay.wait()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)
