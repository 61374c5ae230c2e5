"""firebase_admin.db, as it is, REST and raw WebSockets, against a server: FIREBASE_DATABASE_EMULATOR_HOST says where."""
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid

import firebase_admin
import websocket
from firebase_admin import credentials, db
from google.auth.credentials import AnonymousCredentials

from cases import equal, eventually, expect, raises, run

HOST = os.environ["FIREBASE_DATABASE_EMULATOR_HOST"]


class Anonymous(credentials.Base):
    def get_credential(self):
        return AnonymousCredentials()


APP = firebase_admin.initialize_app(Anonymous(), {"databaseURL": f"http://{HOST}/?ns=demo-default-rtdb"})


def fresh():
    return db.reference(f"/cases/{uuid.uuid4().hex}")


def rest(method, path, body=None, fields=None, ns="demo-default-rtdb"):
    data = None if body is None else (body if isinstance(body, bytes) else json.dumps(body).encode())
    target = f"http://{HOST}{path}{'&' if '?' in path else '?'}ns={ns}"
    request = urllib.request.Request(target, data, {"Authorization": "Bearer owner", **(fields or {})}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.loads(response.read() or b"null"), response.headers
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null"), error.headers


class Socket:
    """A client of the WebSocket protocol."""

    def __init__(self, ns="demo-default-rtdb"):
        self.socket = websocket.create_connection(f"ws://{HOST}/.ws?v=5&ns={ns}", timeout=60)
        self.last = 0
        self.pushes = []
        self.hello = self.message()["d"]["d"]

    def message(self):
        text = self.socket.recv()
        if text.isdigit():
            text = "".join(self.socket.recv() for _ in range(int(text)))
        return json.loads(text)

    def send(self, action, body):
        self.last += 1
        text = json.dumps({"t": "d", "d": {"r": self.last, "a": action, "b": body}})
        pieces = [text[i:i + 16384] for i in range(0, len(text), 16384)]
        if len(pieces) > 1:
            self.socket.send(str(len(pieces)))
        for piece in pieces:
            self.socket.send(piece)
        return self.last

    def reply(self, number):
        while True:
            content = self.message()["d"]
            if content.get("r") == number:
                return content["b"]
            self.pushes.append(content)

    def ask(self, action, body):
        return self.reply(self.send(action, body))


def case_admin_sets_reads_updates_and_deletes():
    ref = fresh()
    ref.set({"name": "Hall", "size": 40, "tags": ["a", "b"], "empty": None})
    equal(ref.get(), {"name": "Hall", "size": 40, "tags": ["a", "b"]})
    ref.update({"size": 41, "door/open": True})
    equal(ref.child("door/open").get(), True)
    equal(ref.get(shallow=True), {"name": True, "size": True, "tags": True, "door": True})
    child = ref.child("log").push({"text": "ü😀 </script>"})
    equal(ref.child("log").get(), {child.key: {"text": "ü😀 </script>"}})
    ref.delete()
    equal(ref.get(), None)


def case_admin_reads_and_writes_by_tags():
    ref = fresh()
    value, tag = ref.get(etag=True)
    equal((value, tag), (None, "null_etag"))
    equal(ref.set_if_unchanged(tag, {"n": 1})[0], True)
    done, current, now = ref.set_if_unchanged(tag, {"n": 2})
    equal((done, current), (False, {"n": 1}))
    equal(ref.get_if_changed(now), (False, None, None))
    equal(ref.set_if_unchanged(now, {"n": 3})[0], True)


def case_admin_transactions_lose_nothing():
    ref = fresh()
    ref.set(0)

    def add():
        for _ in range(10):
            while True:
                try:
                    ref.transaction(lambda n: (n or 0) + 1)
                    break
                except db.TransactionAbortedError:
                    pass

    threads = [threading.Thread(target=add) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    equal(ref.get(), 40)


def case_admin_queries():
    ref = fresh()
    ref.set({"a": {"n": 3}, "b": {"n": 1}, "c": {"n": 2}, "d": {"n": 10}})
    equal(list(ref.order_by_key().start_at("b").limit_to_first(2).get()), ["b", "c"])
    equal(list(ref.order_by_key().end_at("c").get()), ["a", "b", "c"])
    error = raises(firebase_admin.exceptions.InvalidArgumentError, lambda: ref.order_by_child("n").get())
    expect("Index not defined" in str(error), str(error))


def case_admin_listens():
    ref = fresh()
    ref.set({"a": 1})
    events = []
    listening = ref.listen(lambda event: events.append((event.event_type, event.path, event.data)))
    eventually(lambda: events == [("put", "/", {"a": 1})])
    ref.child("b").set({"x": [1, 2]})
    ref.update({"a": 2, "c": 3})
    ref.child("a").delete()
    eventually(lambda: len(events) == 4)
    equal(events[1], ("put", "/b", {"x": [1, 2]}))
    equal(events[2], ("patch", "/", {"a": 2, "c": 3}))
    equal(events[3], ("put", "/a", None))
    listening.close()


def case_server_values():
    ref = fresh()
    ref.set({"at": {".sv": "timestamp"}, "n": {".sv": {"increment": 5}}})
    value = ref.get()
    expect(abs(value["at"] - time.time() * 1000) < 60_000)
    ref.update({"n": {".sv": {"increment": -2}}})
    equal(ref.child("n").get(), 3)


def case_databases_are_apart():
    name = uuid.uuid4().hex
    one, two = f"one-{name}", f"two-{name}-default-rtdb"
    rest("PUT", "/a.json", {"who": "one"}, ns=one)
    rest("PUT", "/a.json", {"who": "two"}, ns=two)
    equal(rest("GET", "/a/who.json", ns=one)[1], "one")
    equal(rest("GET", "/a/who.json", ns=two)[1], "two")
    equal(rest("GET", "/a.json", ns=f"three-{name}")[1], None)


def case_rest_forms():
    path = f"/cases/{uuid.uuid4().hex}"
    equal(rest("PUT", f"{path}.json", {".value": 7, ".priority": 2})[1], 7)
    equal(rest("GET", f"{path}.json?format=export")[1], {".value": 7, ".priority": 2})
    equal(rest("PUT", f"{path}.json?print=silent", 8)[0], 204)
    equal(rest("GET", f"{path}.json?print=pretty&timeout=10s")[1], 8)
    equal(rest("POST", f"{path}.json", 9, {"X-HTTP-Method-Override": "PUT"})[1], 9)
    equal(rest("PUT", f"{path}.json?disableTriggers=true&writeSizeLimit=unlimited", {"a": 1})[0], 200)
    equal(rest("PUT", f"{path}.json", b"{")[0], 400)
    equal(rest("GET", path)[0], 404)


def case_a_socket_reads_writes_and_listens():
    socket, other = Socket(), Socket()
    expect(socket.hello["v"] == "5" and socket.hello["h"] == HOST and abs(socket.hello["ts"] - time.time() * 1000) < 60_000)
    equal(socket.ask("gauth", {"cred": "owner"})["s"], "ok")
    equal(other.ask("gauth", {"cred": "owner"})["s"], "ok")
    path = f"/cases/{uuid.uuid4().hex}"
    equal(socket.ask("q", {"p": path, "h": ""})["s"], "ok")
    equal(other.ask("p", {"p": path, "d": {"long": "y" * 100_000}})["s"], "ok")
    eventually_push = socket.reply(socket.send("s", {"c": {}}))
    equal(eventually_push["s"], "ok")
    values = [push["b"]["d"] for push in socket.pushes if push["a"] == "d"]
    expect(values[-1] == {"long": "y" * 100_000}, str(values)[:200])
    equal(len(other.ask("g", {"p": path, "q": {}})["d"]["long"]), 100_000)
    equal(other.ask("p", {"p": path, "d": 1, "h": "wrong"})["s"], "datastale")
    equal(other.ask("m", {"p": path, "d": {"long": None, "x/y": 1}})["s"], "ok")
    equal(rest("GET", f"{path}.json")[1], {"x": {"y": 1}})
    equal(socket.ask("n", {"p": path})["s"], "ok")


def case_the_end_of_a_socket_writes_what_it_was_told():
    path = f"/cases/{uuid.uuid4().hex}"
    socket = Socket()
    equal(socket.ask("gauth", {"cred": "owner"})["s"], "ok")
    equal(socket.ask("o", {"p": f"{path}/n", "d": {".sv": {"increment": 1}}})["s"], "ok")
    equal(socket.ask("o", {"p": f"{path}/kept", "d": 1})["s"], "ok")
    equal(socket.ask("oc", {"p": f"{path}/kept", "d": None})["s"], "ok")
    # Without a word: the connection is cut.
    socket.socket.sock.close()
    eventually(lambda: rest("GET", f"{path}.json")[1] == {"n": 1})


def case_many_sockets_write_at_once():
    path = f"/cases/{uuid.uuid4().hex}"

    def write(number):
        socket = Socket()
        socket.ask("gauth", {"cred": "owner"})
        ids = [socket.send("p", {"p": f"{path}/{number}/{i}", "d": i}) for i in range(100)]
        for id in ids:
            equal(socket.reply(id)["s"], "ok")

    failed = []

    def guarded(number):
        try:
            write(number)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    equal(failed, [])
    value = rest("GET", f"{path}.json")[1]
    equal([len(child) for child in value], [100] * 8)


run(sys.modules[__name__], sys.argv[1:])
