"""Products that refuse calls without a valid App Check token."""
import json
import os
import sys
import urllib.error
import urllib.request

import websocket

from cases import equal, expect, run

PLACES = {
    "firestore": ("GET", "FIRESTORE_EMULATOR_HOST", "/v1/projects/demo/databases/(default)/documents/a/b", None, 404),
    "database": ("GET", "FIREBASE_DATABASE_EMULATOR_HOST", "/a.json?ns=demo-default-rtdb", None, 200),
    "storage": ("GET", "FIREBASE_STORAGE_EMULATOR_HOST", "/v0/b/demo.appspot.com/o/a", None, 404),
    "remoteconfig": ("POST", "VESTA_HOST", "/v1/projects/demo/namespaces/firebase:fetch?key=k",
                     {"appInstanceId": "abcdefghijklmnopqrstuv", "appId": "1:2:web:3"}, 200),
}


def call(product, fields):
    method, host, path, body, _ = PLACES[product]
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{os.environ[host]}{path}", data,
                                     {"Content-Type": "application/json", **fields}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def token():
    path = f"http://{os.environ['VESTA_HOST']}/v1/projects/demo/apps/1:2:web:3:exchangeDebugToken?key=any"
    request = urllib.request.Request(path, b'{"debug_token":"11111111-2222-4333-8444-555555555555"}',
                                     {"Content-Type": "application/json"}, method="POST")
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())["token"]


def case_calls_without_a_valid_token_are_refused():
    # What clients send that could not get a token.
    placeholder = "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ=="
    for product in PLACES:
        for fields in ({}, {"X-Firebase-AppCheck": placeholder}, {"X-Firebase-AppCheck": "a.b.c"}):
            equal((product, call(product, fields)[0]), (product, 401))
    expect(b"App Check token is invalid" in call("storage", {})[1])


def case_a_valid_token_and_owners_are_served():
    valid = token()
    for product, (*_, status) in PLACES.items():
        equal((product, call(product, {"X-Firebase-AppCheck": valid})[0]), (product, status))
    for product in ("firestore", "database", "storage"):
        equal((product, call(product, {"Authorization": "Bearer owner"})[0]), (product, PLACES[product][4]))


def case_a_connection_of_the_tree_needs_a_token():
    def listen(parameters):
        host = os.environ["FIREBASE_DATABASE_EMULATOR_HOST"]
        link = websocket.create_connection(f"ws://{host}/.ws?v=5&ns=demo-default-rtdb{parameters}", timeout=30)
        try:
            link.recv()
            link.send(json.dumps({"t": "d", "d": {"r": 1, "a": "q", "b": {"p": "/a", "h": ""}}}))
            while True:
                text = link.recv()
                if not text:
                    return "closed"
                message = json.loads(text)["d"]
                if message.get("r") == 1:
                    return message["b"]["s"]
        except (OSError, websocket.WebSocketException):
            return "closed"
        finally:
            link.close()
    equal(listen(f"&ac={token()}"), "ok")
    expect(listen("") != "ok")


run(sys.modules[__name__], sys.argv[1:])
