"""Listeners over WebChannel that lose connections and resume, compared with queries at the same read times.

  firestore_resume.py FIRST COUNT [SECONDS]   histories of seeds, each for some seconds; FIRESTORE_EMULATOR_HOST says where
"""
import http.client
import json
import os
import random
import sys
import threading
import time
import urllib.parse

HOST = os.environ["FIRESTORE_EMULATOR_HOST"]
SHAPES = [(2, 10), (12, 300), (30, 2_000), (16, int(os.environ.get("LARGE", "60000")))]


def frames(text):
    found = []
    while text:
        length, text = text.split(b"\n", 1)
        found += json.loads(text[:int(length)])
        text = text[int(length):]
    return found


def instant(text):
    seconds, _, fraction = text.rstrip("Z").partition(".")
    return seconds, fraction.ljust(9, "0")


class Lost(Exception):
    """The channel has ended."""


class World:
    def __init__(self, seed):
        self.seed = seed
        self.database = f"projects/resume-{seed}/databases/(default)"
        self.root = f"{self.database}/documents"

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection(HOST, timeout=60)
        connection.request(method, path, body and json.dumps(body), {"Authorization": "Bearer owner"})
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, json.loads(text) if text else None

    def write(self, draw, collection=None):
        number = draw.randrange(len(SHAPES)) if collection is None else collection
        count, size = SHAPES[number]
        path = f"/v1/{self.root}/c{number}/{draw.randrange(count)}"
        if draw.random() < 0.25:
            status, answer = self.call("DELETE", path)
        else:
            status, answer = self.call("PATCH", path, {"fields": {
                "n": {"integerValue": str(draw.randrange(10))}, "t": {"stringValue": "x" * draw.randrange(size)}}})
        assert status == 200, answer

    def mark(self, name, value):
        status, answer = self.call(
            "PATCH", f"/v1/{self.root}/m/{name}", {"fields": {"n": {"integerValue": str(value)}}})
        assert status == 200, answer
        return answer["updateTime"]

    def results(self, subject, read_time):
        if "documents" in subject:
            body = {"documents": subject["documents"]["documents"], "readTime": read_time}
            status, answer = self.call("POST", f"/v1/{self.root}:batchGet", body)
            assert status == 200, answer
            found = [part["found"] for part in answer if "found" in part]
        else:
            body = {"structuredQuery": subject["query"]["structuredQuery"], "readTime": read_time}
            status, answer = self.call("POST", f"/v1/{self.root}:runQuery", body)
            assert status == 200, answer
            found = [part["document"] for part in answer if "document" in part]
        return {document["name"]: document["updateTime"] for document in found}


class Target:
    def __init__(self, subject):
        self.subject = subject
        self.documents = {}
        self.token = None
        self.read_time = None
        self.pending = 0
        self.current = False
        # The documents that a client keeps with the token: those of the last consistent snapshot.
        self.kept = ({}, None, None)


class Client:
    """What the SDK of browsers keeps of its targets."""

    def __init__(self, world, name, draw):
        self.world, self.name, self.draw = world, name, draw
        self.targets = {}
        self.unacknowledged = {}
        self.channel = None
        self.last_id = 2
        self.marks = 0
        self.stats = dict(checks=0, cuts=0, resumes=0, filters=0, endings=[])
        self.read_time = None
        self.targets[2] = Target({"documents": {"documents": [f"{world.root}/m/{name}"]}})

    # WebChannel

    def url(self, parameters):
        query = {"VER": 8, "database": self.world.database, **parameters, "zx": "x", "t": 1}
        return f"/google.firestore.v1.Firestore/Listen/channel?{urllib.parse.urlencode(query)}"

    def request(self, method, url, body=None):
        connection = http.client.HTTPConnection(HOST, timeout=60)
        connection.request(method, url, body, {"Origin": "http://app.example"})
        return connection, connection.getresponse()

    def open(self):
        self.sent, self.confirmed, self.number, self.rest, self.response = 0, 0, 100, b"", None
        self.long_polling = self.draw.random() < 0.4
        self.queue = []
        headers = "Authorization:Bearer owner\r\nX-Goog-Api-Client:gl-js/ fire/11.0.0\r\n"
        self.unacknowledged = {}
        messages = [self.add_message(id) for id in self.targets]
        status, fields, text = self.post(
            {"CVER": 22, "X-HTTP-Session-Id": "gsessionid", "RID": self.number}, messages, {"headers": headers})
        assert status == 200, (status, text)
        self.session = fields["X-HTTP-Session-Id"]
        [[_, opened]] = frames(text)
        self.id = opened[1]
        self.channel = True

    def post(self, parameters, messages, fields=None):
        form = {**(fields or {}), "count": len(messages)}
        if messages:
            form["ofs"] = self.sent
        for number, message in enumerate(messages):
            form[f"req{number}___data__"] = json.dumps(message)
        self.sent += len(messages)
        connection, response = self.request("POST", self.url(parameters), urllib.parse.urlencode(form))
        result = response.status, response.headers, response.read()
        connection.close()
        return result

    def place(self):
        return {"gsessionid": self.session, "SID": self.id, "AID": self.confirmed}

    def send(self, message):
        self.number += 1
        status, _, text = self.post({**self.place(), "RID": self.number}, [message])
        if status != 200:
            raise Lost(f"send: {status} {text[:200]}")

    def next(self):
        while True:
            if self.queue:
                array = self.queue.pop(0)
                if array != ["noop"]:
                    return array[0]
                continue
            if self.long_polling:
                parameters = {**self.place(), "RID": "rpc", "CI": 1, "TO": 20000, "TYPE": "xmlhttp"}
                connection, response = self.request("GET", self.url(parameters))
                text = response.read()
                connection.close()
                if response.status != 200:
                    raise Lost(f"poll: {response.status} {text[:200]}")
                got = frames(text)
                assert got, "a response has nothing"
                for number, array in got:
                    assert number == self.confirmed + 1, (number, self.confirmed)
                    self.confirmed = number
                    self.queue.append(array)
                continue
            if self.response is None:
                self.connection, self.response = self.request(
                    "GET", self.url({**self.place(), "RID": "rpc", "CI": 0, "TYPE": "xmlhttp"}))
                self.rest = b""
                if self.response.status != 200:
                    raise Lost(f"back channel: {self.response.status} {self.response.read()[:200]}")
            while b"\n" not in self.rest or len(self.rest.split(b"\n", 1)[1]) < int(self.rest.split(b"\n", 1)[0]):
                piece = self.response.read1(65536)
                if not piece:
                    break
                self.rest += piece
            else:
                length, text = self.rest.split(b"\n", 1)
                self.rest = text[int(length):]
                for number, array in json.loads(text[:int(length)]):
                    assert number == self.confirmed + 1, (number, self.confirmed)
                    self.confirmed = number
                    self.queue.append(array)
                continue
            self.response = None

    def cut(self):
        """Loses the back channel, and perhaps what was read of it without being confirmed."""
        if self.response is not None:
            self.connection.close()
            self.response.close()
        self.response, self.rest = None, b""
        self.stats["cuts"] += 1

    # Targets

    def add_message(self, id):
        target = self.targets[id]
        documents, token, read_time = target.kept
        target.documents, target.current = dict(documents), False
        target.pending += 1
        body = {"targetId": id, **target.subject}
        if token and (self.draw.random() < 0.7 or not read_time):
            body["resumeToken"] = token
        elif read_time:
            body["readTime"] = read_time
        if "resumeToken" in body or "readTime" in body:
            body["expectedCount"] = len(documents)
            self.stats["resumes"] += 1
        return {"database": self.world.database, "addTarget": body}

    def add(self, subject):
        self.last_id += 2
        self.targets[self.last_id] = Target(subject)
        self.send(self.add_message(self.last_id))

    def remove(self, id, again):
        target = self.targets[id]
        target.pending += 1
        self.send({"database": self.world.database, "removeTarget": id})
        if again:
            self.send(self.add_message(id))
        else:
            self.unacknowledged[id] = self.unacknowledged.get(id, 0) + target.pending
            del self.targets[id]

    def subject(self):
        number = self.draw.randrange(len(SHAPES))
        if self.draw.random() < 0.2:
            names = {f"{self.world.root}/c{number}/{self.draw.randrange(SHAPES[number][0])}" for _ in range(3)}
            return {"documents": {"documents": sorted(names)}}
        query = {"from": [{"collectionId": f"c{number}"}]}
        if self.draw.random() < 0.4:
            query["where"] = {"fieldFilter": {
                "field": {"fieldPath": "n"}, "op": "GREATER_THAN", "value": {"integerValue": str(self.draw.randrange(8))}}}
        if self.draw.random() < 0.3:
            query["orderBy"] = [{"field": {"fieldPath": "n"}, "direction": self.draw.choice(["ASCENDING", "DESCENDING"])}]
            query["limit"] = self.draw.randrange(1, 7)
        return {"query": {"parent": self.world.root, "structuredQuery": query}}

    # Responses

    def read(self):
        """Takes one response; returns whether it ends a snapshot."""
        message = self.next()
        if "error" in message:
            raise Lost(f"{message['error'].get('status')} {message['error'].get('message')}")
        if "targetChange" in message:
            return self.target_change(message["targetChange"])
        if "filter" in message:
            self.filter(message["filter"])
            return False
        change = message.get("documentChange") or message.get("documentDelete") or message.get("documentRemove")
        assert change is not None, message
        document = change.get("document")
        name = document["name"] if isinstance(document, dict) else document
        for id in change.get("targetIds", []):
            assert id in self.targets or self.unacknowledged.get(id), f"unknown target {id}"
            if id in self.targets and not self.targets[id].pending:
                self.targets[id].documents[name] = document["updateTime"]
        for id in change.get("removedTargetIds", []):
            if id in self.targets and not self.targets[id].pending:
                self.targets[id].documents.pop(name, None)
        return False

    def target_change(self, change):
        kind = change.get("targetChangeType", "NO_CHANGE")
        ids = change.get("targetIds", [])
        for id in ids or list(self.targets):
            if kind in ("ADD", "REMOVE"):
                assert not (kind == "REMOVE" and "cause" in change), change
                if self.unacknowledged.get(id):
                    self.unacknowledged[id] -= 1
                    continue
                assert id in self.targets and self.targets[id].pending > 0, f"{kind} of {id} without a request"
                self.targets[id].pending -= 1
                continue
            target = self.targets.get(id)
            if target is None or target.pending:
                continue
            if kind == "RESET":
                target.documents, target.current, target.token = {}, False, None
                target.kept = ({}, None, None)
            if kind == "CURRENT":
                target.current = True
            if change.get("resumeToken"):
                target.token = change["resumeToken"]
        if kind != "NO_CHANGE" or ids or "readTime" not in change:
            return False
        time = change["readTime"]
        assert self.read_time is None or instant(time) >= instant(self.read_time), f"{time} after {self.read_time}"
        self.read_time = time
        for target in self.targets.values():
            if not target.pending and target.current and target.token:
                target.kept = (dict(target.documents), target.token, time)
        return True

    def filter(self, filter):
        id = filter["targetId"]
        target = self.targets.get(id)
        if target is None or target.pending:
            return
        self.stats["filters"] += 1
        if filter.get("count", 0) != len(target.documents):
            # The documents are read anew.
            target.kept = ({}, None, None)
            target.documents, target.token = {}, None
            self.remove(id, again=True)

    def check(self):
        for id, target in list(self.targets.items()):
            if target.pending or not target.current:
                continue
            expected = self.world.results(target.subject, self.read_time)
            if target.documents != expected:
                lost = sorted(set(expected) - set(target.documents))
                ghosts = sorted(set(target.documents) - set(expected))
                old = sorted(n for n in expected if n in target.documents and expected[n] != target.documents[n])
                raise AssertionError(
                    f"seed {self.world.seed}, {self.name}: target {id} {json.dumps(target.subject)} at {self.read_time}: "
                    f"lost {lost}, ghosts {ghosts}, old {old}")
            self.stats["checks"] += 1

    def settle(self):
        """Reads until a write of its own has arrived and every target is current."""
        self.marks += 1
        time = self.world.mark(self.name, self.marks)
        while True:
            if self.read() and instant(self.read_time) >= instant(time):
                if all(target.current and not target.pending for target in self.targets.values()):
                    return self.check()

    def reopen(self):
        if self.channel:
            self.cut()
            if self.draw.random() < 0.5:
                self.post({**self.place(), "RID": self.number + 1, "TYPE": "terminate"}, [])
        for target in self.targets.values():
            target.pending = 0
        self.read_time = None
        self.open()

    def step(self):
        kind = self.draw.randrange(14)
        ids = [id for id in self.targets if id != 2]
        if kind < 4 and len(ids) < 8:
            self.add(self.subject())
        elif kind < 6 and ids:
            self.remove(self.draw.choice(ids), again=self.draw.random() < 0.5)
        elif kind < 8:
            for _ in range(self.draw.randrange(30)):
                # Nothing else need ever arrive.
                if all(target.current and not target.pending for target in self.targets.values()):
                    break
                if self.read() and self.draw.random() < 0.2:
                    self.check()
        elif kind == 8:
            self.cut()
        elif kind == 9:
            self.reopen()
        elif kind == 10:
            time.sleep(self.draw.random() * 0.3)
        else:
            self.settle()

    def live(self, seconds):
        end = time.monotonic() + seconds
        self.open()
        while time.monotonic() < end:
            try:
                self.step()
            except Lost as error:
                self.stats["endings"].append(str(error)[:120])
                time.sleep(0.05)
                self.reopen()
        end = time.monotonic() + 60
        while True:
            try:
                return self.settle()
            except Lost as error:
                self.stats["endings"].append(str(error)[:120])
                assert time.monotonic() < end, f"it never settles: {self.stats}"
                time.sleep(0.05)
                self.reopen()


def main(seed, seconds):
    world = World(seed)
    draw = random.Random(seed)
    for number, (count, _) in enumerate(SHAPES):
        for _ in range(count):
            world.write(draw, number)
    failures, stats = [], []
    is_over = threading.Event()

    def guarded(body):
        try:
            body()
        except BaseException as error:
            import traceback
            failures.append(f"seed {seed}: {error!r} {traceback.format_exc()[-600:]}")

    def writer():
        own = random.Random(seed * 7 + 1)
        while not is_over.is_set():
            world.write(own)
            time.sleep(own.random() * 0.02)

    def client(name):
        client = Client(world, name, random.Random(f"{seed} {name}"))
        stats.append(client.stats)
        guarded(lambda: client.live(seconds))

    threads = [threading.Thread(target=client, args=(f"k{n}",), daemon=True) for n in range(3)]
    write = threading.Thread(target=lambda: guarded(writer), daemon=True)
    for thread in threads + [write]:
        thread.start()
    for number, thread in enumerate(threads):
        thread.join(seconds + 60)
        if thread.is_alive():
            failures.append(f"seed {seed}: client k{number} hangs: {stats}")
    is_over.set()
    write.join(30)
    print(f"{'FAILED' if failures else 'passed'} seed {seed}: {stats}", *failures, sep="\n", flush=True)
    return not failures


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 2
    results = [main(seed, seconds) for seed in range(first, first + count)]
    os._exit(0 if all(results) else 1)
