"""An export: `fill` makes data of all products, `check` finds it, `export PATH` asks the hub for one."""
import base64
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore

from cases import equal, expect

AUTH = os.environ["FIREBASE_AUTH_EMULATOR_HOST"]
DATABASE = os.environ["FIREBASE_DATABASE_EMULATOR_HOST"]
STORAGE = os.environ["FIREBASE_STORAGE_EMULATOR_HOST"]
OWNER = {"Authorization": "Bearer owner"}
CONTENT = bytes(range(256)) * 5_000
TREE = {"rooms": {".priority": 3, "a": {".value": "grüße \n", ".priority": "p"}, "b": {"deep": {"er": True}}, "c": 0.5},
        "list": [1, None, {"x": -7}], ".priority": 1, "many": {f"k{number:05}": "x" * 40 for number in range(3_000)}}
# The second one is named after another project.
BUCKETS = ["demo.appspot.com", "third.appspot.com", "other"]
TIME = "2024-02-03T04:05:06.789012Z"


def call(method, url, body=None, fields=None):
    fields = {"Content-Type": "application/json", **OWNER, **(fields or {})}
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, fields, method=method), timeout=60) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def value(client):
    import datetime
    return {
        "null": None, "bool": True, "int": -(2 ** 62), "double": -0.5, "whole": 3.0, "text": "grüße \0", "bytes": b"\0\xff",
        "time": datetime.datetime(2024, 2, 3, 4, 5, 6, 789012, tzinfo=datetime.timezone.utc),
        "place": firestore.GeoPoint(48.2, 16.4), "none": [], "empty": {}, "a.b": 1,
        "list": [1, "x", None, {"deep": {"deeper": [True]}}, {}], "where": client.document("c/d"),
    }


def fill(client):
    for number in range(30):
        client.document(f"numbers/{number:02}").set({"n": number})
    client.document("c/d/e/f").set(value(client))
    client.document("big/one").set({"text": "x" * 900_000})
    place = f"http://{AUTH}/identitytoolkit.googleapis.com/v1/projects/demo/accounts"
    status, text = call("POST", place, {"localId": "ada", "email": "ada@example.com", "password": "correct horse",
                                        "displayName": "Ada \"{[", "phoneNumber": "+15555550100"})
    equal((status, json.loads(text).get("error")), (200, None))
    call("POST", f"{place}:update", {"localId": "ada", "customAttributes": "{\"admin\":true}"})
    tenants = f"http://{AUTH}/identitytoolkit.googleapis.com/v2/projects/demo/tenants"
    tenant = json.loads(call("POST", tenants, {"displayName": "club", "allowPasswordSignup": True})[1])["tenantId"]
    equal(call("POST", f"{place[:-9]}/tenants/{tenant}/accounts",
               {"localId": "eve", "email": "eve@example.com", "password": "battery staple"})[0], 200)
    equal(call("PUT", f"http://{DATABASE}/.json?ns=demo-default-rtdb", TREE)[0], 200)
    equal(call("PUT", f"http://{DATABASE}/other.json?ns=second", TREE["list"])[0], 200)
    for bucket in BUCKETS:
        name = urllib.parse.quote("a b/ü.bin", safe="")
        status, text = call("POST", f"http://{STORAGE}/v0/b/{bucket}/o?name={name}", CONTENT,
                            {"Content-Type": "image/x-test"})
        equal(status, 200)
    tokens = json.loads(text)["downloadTokens"]
    print(f"token {tokens}", flush=True)


def check(client, token):
    numbers = client.collection("numbers").stream()
    equal([one.to_dict()["n"] for one in numbers], list(range(30)))
    equal(client.document("c/d/e/f").get().to_dict(), value(client))
    equal(client.document("c/d").get().exists, False)
    equal(len(client.document("big/one").get().to_dict()["text"]), 900_000)
    url = f"http://{AUTH}/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=k"
    status, text = call("POST", url, {"email": "ada@example.com", "password": "correct horse", "returnSecureToken": True})
    equal(status, 200)
    signed = json.loads(text)
    payload = signed["idToken"].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    equal((signed["localId"], signed["displayName"], claims["admin"]), ("ada", "Ada \"{[", True))
    tenants = json.loads(call("GET", f"http://{AUTH}/identitytoolkit.googleapis.com/v2/projects/demo/tenants")[1])["tenants"]
    equal(len(tenants), 1)
    status, text = call("POST", url, {"email": "eve@example.com", "password": "battery staple", "returnSecureToken": True,
                                      "tenantId": tenants[0]["tenantId"]})
    equal((status, json.loads(text)["localId"]), (200, "eve"))
    tree(json.loads(call("GET", f"http://{DATABASE}/.json?ns=demo-default-rtdb&format=export")[1]))
    equal(json.loads(call("GET", f"http://{DATABASE}/other.json?ns=second")[1]), TREE["list"])
    for bucket in BUCKETS:
        place = f"http://{STORAGE}/v0/b/{bucket}/o/{urllib.parse.quote('a b/ü.bin', safe='')}"
        status, content = call("GET", f"{place}?alt=media")
        equal((status, content == CONTENT), (200, True))
        equal(json.loads(call("GET", place)[1])["contentType"], "image/x-test")
    equal(json.loads(call("GET", place)[1])["downloadTokens"], token)


def tree(found):
    """Compares a tree with the one that was filled in: a list has become an object."""
    equal(found, {**TREE, "list": {"0": 1, "2": {"x": -7}}})


def hub(path):
    place = f"http://{os.environ['FIREBASE_EMULATOR_HUB']}/_admin/export"
    equal(call("POST", place, {"path": path, "initiatedBy": "t"}, {"Origin": "http://x"})[0], 403)
    equal(call("POST", place, {"path": "relative"})[0], 400)
    equal(call("POST", place, {"path": path, "initiatedBy": "t"}), (200, b'{"message":"OK"}'))
    # A second one replaces the first; a directory of something else is never replaced.
    equal(call("POST", place, {"path": path, "targets": ["firestore", "auth", "database", "storage"]})[0], 200)
    with open(f"{path}/firebase-export-metadata.json") as file:
        metadata = json.load(file)
    equal(list(metadata), ["version", "firestore", "database", "auth", "storage"])
    equal(metadata["firestore"]["metadata_file"], "firestore_export/firestore_export.overall_export_metadata")
    equal(metadata["database"]["path"], "database_export")
    equal(sorted(os.listdir(f"{path}/database_export")), ["demo-default-rtdb.json", "second.json"])
    with open(f"{path}/database_export/demo-default-rtdb.json") as file:
        tree(json.load(file))
    foreign = f"{path}-foreign"
    os.makedirs(foreign)
    open(f"{foreign}/precious", "w").close()
    equal(call("POST", place, {"path": foreign})[0], 500)
    expect(os.path.exists(f"{foreign}/precious"))


CLIENT = firestore.Client(project="demo", credentials=AnonymousCredentials())
if sys.argv[1] == "fill":
    fill(CLIENT)
elif sys.argv[1] == "check":
    check(CLIENT, sys.argv[2])
else:
    hub(sys.argv[2])
sys.stdout.flush()
os._exit(0)
