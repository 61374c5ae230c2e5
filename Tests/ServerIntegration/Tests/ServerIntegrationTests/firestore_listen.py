"""Listeners over gRPC with small windows that stop reading, leave and resume, compared with queries at the same read times.

  firestore_listen.py FIRST COUNT [SECONDS [PROGRAM]]   histories of seeds, each for some seconds

FIRESTORE_EMULATOR_HOST says where; with PROGRAM the script starts servers by itself, and ends or kills them now and then.
"""
import collections
import http.client
import os
import queue
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import grpc
from google.cloud.firestore_v1 import types
from google.protobuf import json_format, timestamp_pb2

if len(sys.argv) > 4:
    with socket.create_server(("127.0.0.1", 0)) as free:
        os.environ["FIRESTORE_EMULATOR_HOST"] = f"127.0.0.1:{free.getsockname()[1]}"

from firestore_resume import SHAPES, Client, Lost, World

HOST = os.environ["FIRESTORE_EMULATOR_HOST"]
METADATA = [("authorization", "Bearer owner")]
Code = grpc.StatusCode


def normal(text):
    """A time in the form that the library of messages has for it."""
    time = timestamp_pb2.Timestamp()
    time.FromJsonString(text)
    return time.ToJsonString()


class SocketWorld(World):
    def __init__(self, seed, server):
        super().__init__(seed)
        self.server = server

    def call(self, method, path, body=None):
        try:
            return super().call(method, path, body)
        except (OSError, http.client.HTTPException) as error:
            if not self.server:
                raise
            raise Lost(f"call: {error!r}")

    def mark(self, name, value):
        return normal(super().mark(name, value))

    def results(self, subject, read_time):
        return {name: normal(time) for name, time in super().results(subject, read_time).items()}


class SocketClient(Client):
    """What the SDKs of phones keep of their targets, over a stream of gRPC."""

    def __init__(self, world, name, draw, shared):
        super().__init__(world, name, draw)
        self.shared = shared
        self.call = None

    def channel_of_this_stream(self):
        if self.draw.random() < 0.5:
            return self.shared
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.http2.bdp_probe", 0)]
        options.append(("grpc.http2.lookahead_bytes", self.draw.choice([1, 100, 5_000, 65_535])))
        return grpc.insecure_channel(HOST, options=options)

    def open(self):
        self.unacknowledged = {}
        self.requests = queue.Queue()
        self.own = self.channel_of_this_stream()
        method = self.own.stream_stream(
            "/google.firestore.v1.Firestore/Listen", request_serializer=types.ListenRequest.serialize,
            response_deserializer=types.ListenResponse.deserialize)
        self.deadline = self.draw.random() * 3 if self.draw.random() < 0.25 else None
        self.is_finished = False
        self.call = method(iter(self.requests.get, None), metadata=METADATA, timeout=self.deadline)
        for id in self.targets:
            self.send(self.add_message(id))

    def send(self, message):
        self.requests.put(types.ListenRequest(json_format.ParseDict(message, types.ListenRequest.pb()())))

    def next(self):
        try:
            return self.form(next(self.call))
        except StopIteration:
            assert self.is_finished, "the stream has ended without an error"
            raise Lost("OK")
        except grpc.RpcError:
            code = self.call.code()
            allowed = [Code.RESOURCE_EXHAUSTED]
            if self.deadline is not None:
                allowed.append(Code.DEADLINE_EXCEEDED)
            if self.world.server:
                allowed.append(Code.UNAVAILABLE)
            assert code in allowed, f"{code} {self.call.details()}"
            raise Lost(f"{code.name} {self.call.details()[:60]}")

    def form(self, message):
        message = json_format.MessageToDict(types.ListenResponse.pb(message))
        # Numbers that are zero are left out.
        for change in message.values():
            for names in ["targetIds", "removedTargetIds"]:
                if names in change:
                    change[names] = [int(id) for id in change[names]]
        return message

    def end(self):
        if self.call is None:
            return
        kind = self.draw.randrange(3)
        if kind == 0:
            # The server sends what it has and ends the stream, which is read to its end.
            self.is_finished = True
            self.requests.put(None)
            try:
                while True:
                    self.next()
            except Lost:
                pass
        elif kind == 1:
            self.call.cancel()
        self.requests.put(None)
        if self.own is not self.shared:
            self.own.close()
        elif kind == 2:
            self.call.cancel()

    def cut(self):
        self.stats["cuts"] += 1
        self.reopen()

    def reopen(self):
        self.end()
        for target in self.targets.values():
            target.pending = 0
        self.read_time = None
        self.open()


class Server:
    """A server on one port, which begins again where it was."""

    def __init__(self, program):
        self.program = program
        self.folder = tempfile.mkdtemp()
        self.ends = {"TERM": 0, "KILL": 0}
        self.start()

    def start(self):
        ports = [f for name in ["", "-auth", "-database", "-functions", "-hub", "-storage"] for f in [f"--port{name}", "0"]]
        ports += ["--port-firestore", HOST.split(":")[1]]
        self.process = subprocess.Popen(
            [self.program, "serve", *ports, "--data=data"], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        while True:
            line = self.process.stdout.readline()
            assert line, "the server does not start"
            if line.startswith("  hub"):
                break
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def restart(self, draw):
        name = draw.choice(["TERM", "KILL"])
        self.ends[name] += 1
        self.process.send_signal(signal.SIGTERM if name == "TERM" else signal.SIGKILL)
        status = self.process.wait(60)
        assert status == (0 if name == "TERM" else -signal.SIGKILL), f"{name}: {status}"
        self.start()

    def peak(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return [line.split()[1] for line in status if line.startswith("VmHWM")][0]

    def end(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def main(seed, seconds, program):
    server = Server(program) if program else None
    try:
        return history(seed, seconds, server)
    finally:
        if server:
            server.end()


def history(seed, seconds, server):
    world = SocketWorld(seed, server)
    draw = random.Random(seed)
    for number, (count, _) in enumerate(SHAPES):
        for _ in range(count):
            world.write(draw, number)
    failures, stats = [], []
    is_over, has_ended = threading.Event(), threading.Event()
    shared = grpc.insecure_channel(HOST, options=[
        ("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", draw.choice([1, 1_000, 65_535])),
        ("grpc.initial_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 100)])

    def guarded(body):
        try:
            body()
        except BaseException as error:
            failures.append(f"seed {seed}: {error!r} {traceback.format_exc()[-900:]}")

    def writer(number):
        own = random.Random(f"{seed} writer {number}")
        while not is_over.is_set():
            try:
                world.write(own)
            except Lost:
                pass
            time.sleep(own.random() * 0.02)

    def client(name):
        client = SocketClient(world, name, random.Random(f"{seed} {name}"), shared)
        stats.append(client.stats)
        guarded(lambda: client.live(seconds))

    def ender():
        own = random.Random(f"{seed} ender")
        while not has_ended.wait(0.5 + own.random() * 3):
            server.restart(own)

    clients = [threading.Thread(target=client, args=(f"k{n}",), daemon=True) for n in range(4)]
    others = [threading.Thread(target=guarded, args=(lambda n=n: writer(n),), daemon=True) for n in range(2)]
    end = threading.Thread(target=guarded, args=(ender,), daemon=True)
    for thread in clients + others:
        thread.start()
    if server:
        end.start()
        time.sleep(seconds)
        has_ended.set()
    for number, thread in enumerate(clients):
        thread.join(seconds + 90)
        if thread.is_alive():
            failures.append(f"seed {seed}: client k{number} hangs: {stats}")
    is_over.set()
    for thread in others + ([end] if server else []):
        thread.join(60)
    shared.close()
    for counts in stats:
        counts["endings"] = dict(collections.Counter(counts["endings"]))
    about = f"{server.ends}, peak {server.peak()} kB" if server else ""
    print(f"{'FAILED' if failures else 'passed'} seed {seed}: {about} {stats}", *failures, sep="\n", flush=True)
    return not failures


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 2
    program = sys.argv[4] if len(sys.argv) > 4 else None
    results = [main(seed, seconds, program) for seed in range(first, first + count)]
    sys.stdout.flush()
    os._exit(0 if all(results) else 1)
