"""WebChannel as browsers speak it, with nothing but the standard library: FIRESTORE_EMULATOR_HOST says where."""
import http.client
import json
import os
import sys
import urllib.parse

from cases import equal, expect, run

HOST = os.environ["FIRESTORE_EMULATOR_HOST"]
DATABASE = "projects/channels/databases/(default)"


def frames(text):
    """The arrays of frames: a length in UTF-16 units, the end of a line, JSON. The text is ASCII."""
    found = []
    while text:
        length, text = text.split(b"\n", 1)
        found += json.loads(text[:int(length)])
        text = text[int(length):]
    return found


class Channel:
    def __init__(self, call, messages, token="owner"):
        self.path = f"/google.firestore.v1.Firestore/{call}/channel"
        self.sent = 0
        self.confirmed = 0
        self.rest = b""
        self.number = 100
        headers = f"Authorization:Bearer {token}\r\nX-Goog-Api-Client:gl-js/ fire/11.0.0\r\n"
        status, fields, text = self.post(
            {"CVER": 22, "X-HTTP-Session-Id": "gsessionid", "RID": self.number}, messages, {"headers": headers})
        equal(status, 200)
        self.http = fields["X-HTTP-Session-Id"]
        [[number, opened]] = frames(text)
        equal((number, opened[0], opened[3]), (0, "c", 8))
        self.id = opened[1]

    def url(self, parameters):
        query = {"VER": 8, "database": DATABASE, **parameters, "zx": "x", "t": 1}
        return f"{self.path}?{urllib.parse.urlencode(query)}"

    def request(self, method, url, body=None):
        connection = http.client.HTTPConnection(HOST, timeout=30)
        connection.request(method, url, body, {"Origin": "http://app.example"})
        return connection.getresponse()

    def post(self, parameters, messages, fields=None):
        form = {**(fields or {}), "count": len(messages)}
        if messages:
            form["ofs"] = self.sent
        for number, message in enumerate(messages):
            form[f"req{number}___data__"] = message if isinstance(message, str) else json.dumps(message)
        self.sent += len(messages)
        response = self.request("POST", self.url(parameters), urllib.parse.urlencode(form))
        return response.status, response.headers, response.read()

    def place(self):
        return {"gsessionid": self.http, "SID": self.id, "AID": self.confirmed}

    def send(self, *messages):
        self.number += 1
        status, _, text = self.post({**self.place(), "RID": self.number}, messages)
        equal(status, 200)
        length, answer = text.split(b"\n", 1)
        equal(int(length), len(answer))
        equal(len(json.loads(answer)), 3)

    def wait(self):
        """Opens a streaming back channel."""
        self.response = self.request("GET", self.url({**self.place(), "RID": "rpc", "CI": 0, "TYPE": "xmlhttp"}))
        equal(self.response.status, 200)
        self.rest = b""

    def poll(self, milliseconds=5000):
        """Long polling: the arrays of one response."""
        parameters = {**self.place(), "RID": "rpc", "CI": 1, "TO": milliseconds, "TYPE": "xmlhttp"}
        response = self.request("GET", self.url(parameters))
        equal(response.status, 200)
        got = frames(response.read())
        expect(got, "a response has nothing")
        self.confirmed = got[-1][0]
        return [array[0] for _, array in got]

    def next(self):
        """The next array that is no noop."""
        while True:
            while b"\n" not in self.rest or len(self.rest.split(b"\n", 1)[1]) < int(self.rest.split(b"\n", 1)[0]):
                piece = self.response.read1(65536)
                if not piece:
                    return None
                self.rest += piece
            length, text = self.rest.split(b"\n", 1)
            self.rest = text[int(length):]
            [[number, array]] = json.loads(text[:int(length)])
            equal(number, self.confirmed + 1)
            self.confirmed = number
            if array != ["noop"]:
                return array[0]

    def until(self, condition):
        while True:
            message = self.next()
            expect(message is not None, "the back channel has ended")
            if condition(message):
                return message


def target(document, number=2):
    return {"database": DATABASE, "addTarget": {
        "targetId": number, "documents": {"documents": [f"{DATABASE}/documents/{document}"]}}}


def write(document, value):
    path = f"/v1/{DATABASE}/documents/{document}"
    connection = http.client.HTTPConnection(HOST, timeout=30)
    body = json.dumps({"fields": {"x": {"stringValue": value}}})
    connection.request("PATCH", path, body, {"Authorization": "Bearer owner"})
    equal(connection.getresponse().status, 200)


def is_snapshot(message):
    change = message.get("targetChange", {})
    return "readTime" in change and not change.get("targetIds")


def case_a_listener_streams():
    channel = Channel("Listen", [target("a/b")])
    channel.wait()
    equal(channel.next()["targetChange"]["targetChangeType"], "ADD")
    channel.until(is_snapshot)
    write("a/b", "é😀")
    changed = channel.until(lambda m: "documentChange" in m)
    equal(changed["documentChange"]["document"]["fields"]["x"]["stringValue"], "é😀")
    channel.until(is_snapshot)
    channel.send({"database": DATABASE, "removeTarget": 2}, target("a/c", 4))
    channel.until(lambda m: m.get("targetChange", {}).get("targetIds") == [4])


def case_a_connection_that_is_lost_loses_nothing():
    channel = Channel("Listen", [target("c/d")])
    channel.wait()
    channel.until(is_snapshot)
    channel.response.close()
    for value in ["one", "two", "three"]:
        write("c/d", value)
    channel.wait()
    channel.until(lambda m: m.get("documentChange", {}).get("document", {}).get("fields", {})
                  .get("x", {}).get("stringValue") == "three")


def case_long_polling():
    channel = Channel("Listen", [target("e/f")])
    got = channel.poll()
    while not any(isinstance(m, dict) and is_snapshot(m) for m in got):
        got = channel.poll()
    equal(channel.poll(50), ["noop"])
    write("e/f", "polled")
    got = []
    while not any(isinstance(m, dict) and "documentChange" in m for m in got):
        got = channel.poll()


def case_a_stream_of_writes():
    channel = Channel("Write", [{"database": DATABASE}])
    channel.wait()
    token = channel.next()["streamToken"]
    update = {"update": {"name": f"{DATABASE}/documents/w/x", "fields": {"n": {"integerValue": "1"}}}}
    channel.send({"streamToken": token, "writes": [update]}, {"streamToken": token, "writes": [update]})
    times = [channel.next()["commitTime"] for _ in range(2)]
    expect(times[0] <= times[1])
    refused = {"delete": f"{DATABASE}/documents/w/none", "currentDocument": {"exists": True}}
    channel.send({"streamToken": token, "writes": [refused]})
    equal(channel.next()["error"]["status"], "NOT_FOUND")
    equal(channel.next(), None)


def case_messages_that_are_sent_again_count_once():
    channel = Channel("Write", [{"database": DATABASE}])
    channel.wait()
    token = channel.next()["streamToken"]
    add = {"streamToken": token, "writes": [{"transform": {
        "document": f"{DATABASE}/documents/w/again",
        "fieldTransforms": [{"fieldPath": "n", "increment": {"integerValue": "1"}}]}}]}
    channel.send(add)
    channel.sent -= 1
    channel.number -= 1
    channel.send(add)
    results = channel.next()["writeResults"]
    equal(results[0]["transformResults"], [{"integerValue": "1"}])
    channel.send({"streamToken": token, "writes": []})
    equal(channel.next().get("writeResults", []), [])


def case_what_is_wrong_is_said():
    channel = Channel("Listen", [], token="a.b.c")
    channel.wait()
    equal(channel.next()["error"]["status"], "UNAUTHENTICATED")
    lost = Channel("Listen", [])
    lost.id = "0" * 32
    response = lost.request("GET", lost.url({**lost.place(), "RID": "rpc", "CI": 0, "TYPE": "xmlhttp"}))
    equal(response.status, 400)
    expect(response.read().find(b"Unknown SID") > 0)
    # The id of a session alone is not enough.
    other = Channel("Listen", [])
    other.http = "x"
    equal(other.request("GET", other.url({**other.place(), "RID": "rpc", "CI": 0, "TYPE": "xmlhttp"})).status, 400)
    ended = Channel("Listen", [target("a/b")])
    equal(ended.request("POST", ended.url({**ended.place(), "RID": 200, "TYPE": "terminate"}), "").status, 200)
    equal(ended.request("GET", ended.url({**ended.place(), "RID": "rpc", "CI": 0})).status, 400)
    for url in ["?VER=7&RID=1", "?VER=8&RID=1&SID=x&AID=y", "?VER=8"]:
        expect(ended.request("GET", ended.path + url).status == 400)


if __name__ == "__main__":
    run(sys.modules[__name__], sys.argv[1:])
