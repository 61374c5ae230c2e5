"""A server with rules of a file: users reach what is theirs. FIREBASE_DATABASE_EMULATOR_HOST says where it is."""
import base64
import json
import os
import sys
import urllib.error
import urllib.request

import websocket

from cases import equal, eventually, expect, run

HOST = os.environ["FIREBASE_DATABASE_EMULATOR_HOST"]


def token(uid, **claims):
    """An unsigned token, as test kits make them."""
    parts = [{"alg": "none", "typ": "JWT"}, {"sub": uid, "user_id": uid, "iat": 1, "aud": "demo", **claims}]
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


def rest(method, path, body=None, auth=None, owner=False):
    target = f"http://{HOST}{path}{'&' if '?' in path else '?'}ns=demo" + (f"&auth={auth}" if auth else "")
    fields = {"Authorization": "Bearer owner"} if owner else {}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(target, data, fields, method=method), timeout=60) as response:
            return response.status, json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


def case_users_write_what_is_theirs():
    equal(rest("PUT", "/users/ada/name.json", "Ada", token("ada")), (200, "Ada"))
    equal(rest("PUT", "/users/ada/name.json", "Eve", token("eve")), (401, {"error": "Permission denied"}))
    equal(rest("PUT", "/users/ada/name.json", "Eve")[0], 401)
    equal(rest("PUT", "/users/ada/name.json", 7, token("ada"))[0], 401)
    equal(rest("GET", "/users/ada/name.json", auth=token("ada")), (200, "Ada"))
    equal(rest("GET", "/users/ada.json", auth=token("eve"))[0], 401)
    equal(rest("GET", "/users.json", owner=True)[1]["ada"], {"name": "Ada"})


def case_outcomes_of_rules_are_counted():
    rest("PUT", "/users/eve/name.json", "Eve", token("eve"))
    status, report = rest("GET", "/.inspect/coverage.json")
    equal((status, '"count"' in json.dumps(report)), (200, True))


def case_claims_decide():
    equal(rest("PUT", "/staff/x.json", 1, token("ada"))[0], 401)
    equal(rest("PUT", "/staff/x.json", 1, token("ada", admin=True))[0], 200)


def case_indexes_are_those_of_the_rules():
    rest("PUT", "/rooms.json", {"a": {"size": 3}, "b": {"size": 1}, "c": {"size": 2}}, owner=True)
    status, value = rest("GET", "/rooms.json?orderBy=%22size%22&limitToFirst=2")
    equal((status, value), (200, {"b": {"size": 1}, "c": {"size": 2}}))
    status, value = rest("GET", "/rooms.json?orderBy=%22name%22")
    equal((status, "Index not defined" in value["error"]), (400, True))


def case_a_socket_is_held_to_the_rules():
    socket = websocket.create_connection(f"ws://{HOST}/.ws?v=5&ns=demo", timeout=60)
    socket.recv()

    def ask(number, action, body):
        socket.send(json.dumps({"t": "d", "d": {"r": number, "a": action, "b": body}}))
        while True:
            content = json.loads(socket.recv())["d"]
            if content.get("r") == number:
                return content["b"]

    equal(ask(1, "q", {"p": "/users/bob", "h": ""})["s"], "permission_denied")
    reply = ask(2, "auth", {"cred": token("bob")})
    equal((reply["s"], reply["d"]["auth"]["uid"]), ("ok", "bob"))
    equal(ask(3, "q", {"p": "/users/bob", "h": ""})["s"], "ok")
    equal(ask(4, "p", {"p": "/users/bob/name", "d": "Bob"})["s"], "ok")
    equal(ask(5, "p", {"p": "/users/ada/name", "d": "Bob"})["s"], "permission_denied")
    equal(ask(6, "auth", {"cred": "nonsense"})["s"], "invalid_token")


def stream(path, auth=None):
    target = f"http://{HOST}{path}?ns=demo" + (f"&auth={auth}" if auth else "")
    return urllib.request.urlopen(
        urllib.request.Request(target, headers={"Accept": "text/event-stream"}), timeout=60)


def case_streams_are_held_to_the_rules():
    try:
        stream("/users/cy.json")
        raise AssertionError("it was opened")
    except urllib.error.HTTPError as error:
        equal((error.code, json.loads(error.read())), (401, {"error": "Permission denied"}))
    response = stream("/users/cy.json", token("cy"))
    equal(response.readline(), b"event: put\n")
    equal(response.readline(), b'data: {"path":"/","data":null}\n')


def case_rules_are_replaced_while_others_listen():
    # Last: the rules of the file are gone afterwards.
    response = stream("/users/dan.json", token("dan"))
    equal(response.readline(), b"event: put\n")
    equal(response.readline(), b'data: {"path":"/","data":null}\n')
    rules = {"rules": {"open": {".read": True, ".write": True, ".indexOn": "n"}}}
    equal(rest("PUT", "/.settings/rules.json", rules)[0], 401)
    equal(rest("PUT", "/.settings/rules.json", {"rules": {".read": "nonsense("}}, owner=True)[0], 400)
    equal(rest("PUT", "/.settings/rules.json", rules, owner=True), (200, {"status": "ok"}))
    equal(rest("GET", "/.settings/rules.json", owner=True), (200, rules))
    equal([response.readline() for _ in range(3)], [b"\n", b"event: cancel\n", b"data: null\n"])
    equal(rest("PUT", "/open.json", {"a": {"n": 2}, "b": {"n": 1}})[0], 200)
    equal(rest("GET", "/open.json?orderBy=%22n%22&limitToFirst=1"), (200, {"b": {"n": 1}}))
    equal(rest("GET", "/users/ada/name.json", auth=token("ada"))[0], 401)
    expect({"name": "demo"} in rest("GET", "/.inspect/databases.json", owner=True)[1])


run(sys.modules[__name__], sys.argv[1:])
