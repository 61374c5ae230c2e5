"""Functions of another program that have events: WORKER_PORT says where the program listens.

With `cases` everything; with `before FILE` registrations and changes while the program is away, and with `after FILE` that
all of them arrive, at another process of the server.
"""
import base64
import http.server
import json
import os
import sys
import threading
import urllib.error
import urllib.request

from cases import equal, eventually, expect, run

FIRESTORE = os.environ["FIRESTORE_EMULATOR_HOST"]
DATABASE = os.environ["FIREBASE_DATABASE_EMULATOR_HOST"]
AUTH = os.environ["FIREBASE_AUTH_EMULATOR_HOST"]
STORAGE = os.environ["FIREBASE_STORAGE_EMULATOR_HOST"]
FUNCTIONS = os.environ["FUNCTIONS_EMULATOR_HOST"]
HUB = os.environ["FIREBASE_EMULATOR_HUB"]
OWNER = {"Authorization": "Bearer owner"}


class Worker(http.server.BaseHTTPRequestHandler):
    """The functions emulator, as far as a server that has events for it sees."""

    protocol_version = "HTTP/1.1"
    seen = []
    # The statuses of the next answers for a path.
    failures = {}

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        Worker.seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        pending = Worker.failures.get(self.path)
        status = pending.pop(0) if pending else 200
        self.send_response(status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments):
        pass

    @staticmethod
    def calls(key, project="demo"):
        """The calls of a function, with bodies of JSON read."""
        path = f"/functions/projects/{project}/{'triggers/' + key if key else 'trigger_multicast'}"
        return [(headers, read(body)) for seen, headers, body in Worker.seen if seen == path]


def read(body):
    try:
        return json.loads(body)
    except ValueError:
        return body


def start():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["WORKER_PORT"])), Worker)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def send(method, host, path, body=None, fields=None):
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{host}{path}", data, fields or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, read(response.read())
    except urllib.error.HTTPError as error:
        return error.code, read(error.read())


def register_documents(key, verb, pattern, database="(default)"):
    return send("PUT", FIRESTORE, f"/emulator/v1/projects/demo/triggers/{key}", {"eventTrigger": {
        "resource": f"projects/demo/databases/{database}/documents/{pattern}",
        "eventType": f"providers/cloud.firestore/eventTypes/document.{verb}", "service": "firestore.googleapis.com"}})


def write(path, **fields):
    values = {name: {"stringValue": value} for name, value in fields.items()}
    status, answer = send("PATCH", FIRESTORE, f"/v1/projects/demo/databases/(default)/documents/{path}",
                          {"fields": values}, OWNER)
    equal(status, 200)
    return answer


def one(key):
    eventually(lambda: Worker.calls(key))
    equal(len(Worker.calls(key)), 1)
    return Worker.calls(key)[0]


def case_documents_reach_a_function_of_the_first_generation():
    equal(register_documents("us-central1-written-0", "write", "rooms/{room}"), (200, {}))
    equal(register_documents("us-central1-deleted-0", "delete", "rooms/{room}"), (200, {}))
    write("rooms/a", title="火🔥")
    headers, event = one("us-central1-written-0")
    equal(headers["content-type"], "application/json")
    equal(event["data"]["value"]["fields"], {"title": {"stringValue": "火🔥"}})
    equal(event["data"]["updateMask"], {})
    expect("oldValue" not in event["data"])
    equal(event["context"]["eventType"], "providers/cloud.firestore/eventTypes/document.write")
    equal(event["context"]["resource"], {"name": "projects/demo/databases/(default)/documents/rooms/a",
                                         "service": "firestore.googleapis.com"})
    write("rooms/a", title="b", topic="c")
    eventually(lambda: len(Worker.calls("us-central1-written-0")) == 2)
    event = Worker.calls("us-central1-written-0")[1][1]
    equal(event["data"]["updateMask"], {"fieldPaths": ["title", "topic"]})
    equal(event["data"]["oldValue"]["fields"]["title"], {"stringValue": "火🔥"})
    send("DELETE", FIRESTORE, "/v1/projects/demo/databases/(default)/documents/rooms/a", None, OWNER)
    event = one("us-central1-deleted-0")[1]
    expect("value" not in event["data"] and "oldValue" in event["data"])
    # A change of another collection is none of these functions'.
    write("halls/a", title="x")
    eventually(lambda: len(Worker.calls("us-central1-written-0")) == 3)


def case_documents_reach_a_function_of_the_second_generation():
    from google.cloud.firestore_v1 import types
    body = {"eventType": "google.cloud.firestore.document.v1.created", "database": "(default)",
            "namespace": "(default)", "document": {"value": "notes/{note}", "matchType": "PATH_PATTERN"}}
    path = "/emulator/v1/projects/demo/eventarcTrigger?eventarcTriggerId=us-central1-created-0"
    equal(send("POST", FIRESTORE, path, body), (200, body))
    name = write("notes/n", title="ü")["name"]
    fields, event = one("us-central1-created-0")
    equal([fields[field] for field in ("content-type", "ce-type", "ce-subject", "ce-document", "ce-project",
                                       "ce-database", "ce-specversion", "ce-datacontenttype")],
          ["application/protobuf", "google.cloud.firestore.document.v1.created", "documents/notes/n", "notes/n",
           "demo", "(default)", "1.0", "application/protobuf"])
    data = base64.b64decode(event)
    # DocumentEventData: the field 1 is a document.
    equal(data[0], 0x0A)
    size, shift, index = 0, 0, 1
    while True:
        size |= (data[index] & 127) << shift
        shift += 7
        index += 1
        if data[index - 1] < 128:
            break
    document = types.Document.pb().FromString(data[index:index + size])
    equal((document.name, document.fields["title"].string_value), (name, "ü"))


def case_a_program_that_is_not_ready_is_called_again_with_the_same_event():
    register_documents("us-central1-fails-0", "create", "tries/{id}")
    Worker.failures["/functions/projects/demo/triggers/us-central1-fails-0"] = [404, 503]
    write("tries/one", a="b")
    eventually(lambda: len(Worker.calls("us-central1-fails-0")) == 3)
    equal(len({event["context"]["eventId"] for _, event in Worker.calls("us-central1-fails-0")}), 1)
    # A function that fails is not called again.
    Worker.failures["/functions/projects/demo/triggers/us-central1-fails-0"] = [500]
    write("tries/two", a="b")
    write("tries/three", a="b")
    eventually(lambda: len(Worker.calls("us-central1-fails-0")) == 5)
    equal(len({event["context"]["eventId"] for _, event in Worker.calls("us-central1-fails-0")}), 3)


def case_values_of_the_tree_reach_functions_of_both_generations():
    first = {"name": "projects/demo/locations/_/functions/us-central1-value-0", "path": "rooms/{room}",
             "event": "providers/google.firebase.database/eventTypes/ref.write", "topic": "projects/demo/topics/x"}
    equal(send("POST", DATABASE, "/.settings/functionTriggers.json?ns=demo-default-rtdb", first, OWNER), (200, {}))
    second = {"name": "projects/demo/locations/us-central1/triggers/us-central1-value2-0", "path": "rooms/{room}",
              "event": "google.firebase.database.ref.v1.updated", "topic": "x", "namespacePattern": "demo-*"}
    equal(send("POST", DATABASE, "/.settings/functionTriggers.json", second, OWNER), (200, {}))
    equal(send("POST", DATABASE, "/.settings/functionTriggers.json", second)[0], 401)
    send("PUT", DATABASE, "/rooms/a.json?ns=demo-default-rtdb", {"title": "x", "old": 1}, OWNER)
    event = one("us-central1-value-0")[1]
    equal(event["data"], {"data": None, "delta": {"title": "x", "old": 1}})
    equal(event["context"]["params"], {"room": "a"})
    equal(event["context"]["resource"], "projects/_/instances/demo-default-rtdb/refs/rooms/a")
    equal(event["context"]["auth"], {"admin": True})
    send("PATCH", DATABASE, "/rooms/a.json?ns=demo-default-rtdb", {"title": "y", "old": None}, OWNER)
    headers, event = one("us-central1-value2-0")
    equal(headers["content-type"], "application/cloudevents+json")
    equal(event["data"], {"data": {"title": "x", "old": 1}, "delta": {"title": "y", "old": None}})
    equal((event["instance"], event["ref"], event["type"], event["authtype"]),
          ("demo-default-rtdb", "rooms/a", "google.firebase.database.ref.v1.updated", "service_account"))
    # As the suite imports: no function has these changes.
    send("PUT", DATABASE, "/rooms/b.json?ns=demo-default-rtdb&disableTriggers=true", {"title": "z"}, OWNER)
    send("PUT", DATABASE, "/rooms/c.json?ns=demo-default-rtdb", {"title": "z"}, OWNER)
    eventually(lambda: len(Worker.calls("us-central1-value-0")) == 3)
    # Places do not wait for one another.
    rooms = [event["context"]["params"]["room"] for _, event in Worker.calls("us-central1-value-0")]
    equal(sorted(rooms), ["a", "a", "c"])


def case_accounts_and_objects_reach_the_host_of_the_functions():
    status, answer = send("POST", AUTH, "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k",
                          {"email": "ada@example.com", "password": "secret12"}, {"Content-Type": "application/json"})
    equal(status, 200)
    eventually(lambda: Worker.calls(None))
    event = Worker.calls(None)[0][1]
    equal((event["eventType"], event["data"]["uid"], event["data"]["email"], event["resource"]["service"]),
          ("providers/firebase.auth/eventTypes/user.create", answer["localId"], "ada@example.com",
           "firebaseauth.googleapis.com"))
    expect("creationTime" in event["data"]["metadata"] and "passwordHash" not in event["data"])
    equal(send("POST", STORAGE, "/upload/storage/v1/b/demo.appspot.com/o?uploadType=media&name=a/b.txt", b"hello",
               {"Content-Type": "text/plain", **OWNER})[0], 200)
    eventually(lambda: len(Worker.calls(None)) == 3)
    legacy, modern = [event for _, event in Worker.calls(None)[1:]]
    equal((legacy["eventType"], legacy["data"]["name"], legacy["data"]["bucket"], legacy["data"]["size"]),
          ("google.storage.object.finalize", "a/b.txt", "demo.appspot.com", "5"))
    equal((modern["type"], modern["source"], modern["data"]["contentType"]),
          ("google.cloud.storage.object.v1.finalized",
           "//storage.googleapis.com/projects/_/buckets/demo.appspot.com/objects/a/b.txt", "text/plain"))


def case_a_function_is_registered_at_the_port_of_functions_and_removed():
    path = "/functions/projects/demo/triggers/us-central1-own-0"
    definition = {"eventTrigger": {"eventType": "google.cloud.storage.object.v1.deleted",
                                   "eventFilters": {"bucket": "demo.appspot.com"}}}
    equal(send("PUT", FUNCTIONS, path, definition), (200, {}))
    listed = send("GET", FUNCTIONS, "/functions/projects/demo/triggers")[1]["triggers"]
    expect("us-central1-own-0" in [trigger["key"] for trigger in listed])
    send("POST", STORAGE, "/upload/storage/v1/b/demo.appspot.com/o?uploadType=media&name=gone", b"x", OWNER)
    send("DELETE", STORAGE, "/storage/v1/b/demo.appspot.com/o/gone", None, OWNER)
    equal(one("us-central1-own-0")[1]["data"]["name"], "gone")
    equal(send("DELETE", FUNCTIONS, path)[0], 200)
    equal(send("DELETE", FUNCTIONS, path)[0], 404)


def case_functions_are_turned_off_and_on_by_the_hub():
    register_documents("us-central1-switched-0", "create", "switched/{id}")
    equal(send("PUT", HUB, "/functions/disableBackgroundTriggers"), (200, {"enabled": False}))
    write("switched/off", a="b")
    register_documents("us-central1-after-0", "create", "after/{id}")
    # The queue of a function is in order, and a moment passes until an event is due.
    for number in range(50):
        write(f"switched/{number}", a="b")
    import time
    end = time.monotonic() + 1
    eventually(lambda: time.monotonic() > end)
    equal(send("PUT", HUB, "/functions/enableBackgroundTriggers"), (200, {"enabled": True}))
    write("switched/on", a="b")
    eventually(lambda: Worker.calls("us-central1-switched-0"))
    names = [event["context"]["resource"]["name"] for _, event in Worker.calls("us-central1-switched-0")]
    equal(names, ["projects/demo/databases/(default)/documents/switched/on"])


def case_what_is_no_registration_is_refused():
    path = "/emulator/v1/projects/demo/triggers/bad"
    for body in (b"", b"[]", b"{", {"eventTrigger": 1}, {"eventTrigger": {"eventType": "a"}},
                 {"eventTrigger": {"eventType": "providers/cloud.firestore/eventTypes/document.write",
                                   "resource": "projects/demo/databases/(default)/documents/rooms"}},
                 {"eventTrigger": {"eventType": "providers/cloud.firestore/eventTypes/document.write",
                                   "resource": "projects/demo/databases/(default)/documents/a{b/c"}}):
        status, answer = send("PUT", FIRESTORE, path, body)
        equal((status, answer["error"]["status"]), (400, "INVALID_ARGUMENT"))
        equal(send("PUT", FUNCTIONS, "/functions/projects/demo/triggers/bad", body)[0], 400)
    for body in (b"", {"event": 1}, {"event": "google.firebase.database.ref.v1.written", "name": "a", "path": ""},
                 {"event": "google.firebase.database.ref.v1.written", "name": "a", "path": "a/{b=**}"}):
        equal(send("POST", DATABASE, "/.settings/functionTriggers.json?ns=demo", body, OWNER)[0], 400)
    equal(register_documents("x" * 2_000, "write", "a/{b}")[0], 400)


def before(path):
    """Changes while the program of the functions is away."""
    equal(register_documents("us-central1-kept-0", "write", "kept/{id}"), (200, {}))
    names = [write(f"kept/{number}", a=str(number))["name"] for number in range(30)]
    with open(path, "w") as file:
        json.dump(names, file)


def after(path):
    """All of them arrive, though the server was killed and nothing was registered again."""
    start()
    with open(path) as file:
        names = set(json.load(file))
    eventually(lambda: names <= {event["context"]["resource"]["name"]
                                 for _, event in Worker.calls("us-central1-kept-0")}, 60)
    write("kept/new", a="b")
    eventually(lambda: any(event["context"]["resource"]["name"].endswith("/new")
                           for _, event in Worker.calls("us-central1-kept-0")))


if sys.argv[1] == "cases":
    start()
    run(sys.modules[__name__], sys.argv[2:])
else:
    {"before": before, "after": after}[sys.argv[1]](sys.argv[2])
