"""Clients that go on while their server is killed and started again: nothing acknowledged is lost or doubled.

  goes_on.py STOP   works until the file STOP exists, with a line for each acknowledged call; then checks everything
"""
import io
import json
import os
import random
import sys
import threading
import time
import urllib.error
import urllib.request

from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore, storage

from cases import equal, eventually, expect

AUTH = os.environ["FIREBASE_AUTH_EMULATOR_HOST"]
DATABASE = os.environ["FIREBASE_DATABASE_EMULATOR_HOST"]
STORAGE = os.environ["FIREBASE_STORAGE_EMULATOR_HOST"]
PROJECT = "crash"
ACCOUNTS = f"http://{AUTH}/identitytoolkit.googleapis.com/v1"
acknowledged = {}
print_lock = threading.Lock()


def is_over():
    return os.path.exists(sys.argv[1])


def done(kind, name):
    acknowledged.setdefault(kind, []).append(name)
    with print_lock:
        print(f"acknowledged {kind}", flush=True)


def call(method, url, body=None, fields=None):
    data = None if body is None else json.dumps(body).encode()
    fields = {"Content-Type": "application/json", **(fields or {})}
    with urllib.request.urlopen(urllib.request.Request(url, data, fields, method=method), timeout=20) as response:
        return json.loads(response.read() or b"null")


def repeatedly(kind, attempt, taken=lambda error: False):
    """Makes calls with new names, each until it succeeds, or until its name is taken by a call without an answer."""
    number = 0
    while not is_over():
        name, unknown = f"n{number}", False
        number += 1
        while True:
            try:
                attempt(name)
                break
            except Exception as error:
                if taken(error):
                    expect(unknown, f"{kind} {name} was doubled")
                    break
                unknown = True
                time.sleep(0.05)
        done(kind, name)


def documents():
    db = firestore.Client(project=PROJECT)
    repeatedly("documents", lambda name: db.document(f"made/{name}").create({"name": name}, timeout=10, retry=None),
               lambda error: isinstance(error, exceptions.AlreadyExists))


def counters():
    """Two counters that one commit adds to: a commit without an answer has happened once or not at all."""
    db = firestore.Client(project=PROJECT)
    while not is_over():
        batch = db.batch()
        for name in ["a", "b"]:
            batch.set(db.document(f"counters/{name}"), {"n": firestore.Increment(1)}, merge=True)
        try:
            batch.commit(timeout=10, retry=None)
            done("counters", None)
        except Exception:
            acknowledged.setdefault("unknown", []).append(None)
            time.sleep(0.05)


def transfers():
    db = firestore.Client(project=PROJECT)

    @firestore.transactional
    def move(transaction):
        found = [db.document(f"bank/{name}").get(transaction=transaction).to_dict() or {"n": 0} for name in ["a", "b"]]
        for name, amount in [("a", found[0]["n"] - 1), ("b", found[1]["n"] + 1)]:
            transaction.set(db.document(f"bank/{name}"), {"n": amount})

    while not is_over():
        try:
            move(db.transaction())
            done("transfers", None)
        except Exception:
            time.sleep(0.05)


def accounts():
    def attempt(name):
        call("POST", f"{ACCOUNTS}/accounts:signUp?key=k", {"email": f"{name}@example.com", "password": "long enough"})
    repeatedly("accounts", attempt, lambda error: isinstance(error, urllib.error.HTTPError) and b"EMAIL_EXISTS" in error.read())


def values():
    repeatedly("values", lambda name: call("PUT", f"http://{DATABASE}/made/{name}.json?ns=crash-default-rtdb", name))


def content(name):
    return random.Random(name).randbytes(600_000)


def bucket():
    client = storage.Client(
        project=PROJECT, credentials=AnonymousCredentials(), client_options={"api_endpoint": f"http://{STORAGE}"})
    return client.bucket("crash.appspot.com")


def objects():
    def attempt(name):
        blob = place.blob(f"made/{name}", chunk_size=262_144)
        blob.upload_from_file(io.BytesIO(content(name)), size=600_000, timeout=10)
    place = bucket()
    repeatedly("objects", attempt)


def check(heard):
    db = firestore.Client(project=PROJECT)
    expect(set(acknowledged["documents"]) <= {document.id for document in db.collection("made").stream()})
    counted = [db.document(f"counters/{name}").get().get("n") for name in ["a", "b"]]
    low = len(acknowledged["counters"])
    equal(counted[0], counted[1])
    expect(low <= counted[0] <= low + len(acknowledged.get("unknown", [])), f"{counted} of {low}")
    bank = [db.document(f"bank/{name}").get().get("n") for name in ["a", "b"]]
    expect(bank[0] == -bank[1] and bank[1] >= len(acknowledged["transfers"]), f"{bank}")
    users = call("GET", f"{ACCOUNTS}/projects/{PROJECT}/accounts:batchGet?maxResults=1000",
                 fields={"Authorization": "Bearer owner"})["users"]
    equal(sorted(user["email"] for user in users), sorted(f"{name}@example.com" for name in acknowledged["accounts"]))
    found = call("GET", f"http://{DATABASE}/made.json?ns=crash-default-rtdb")
    equal(found, {name: name for name in acknowledged["values"]})
    blobs = {blob.name: blob for blob in bucket().list_blobs(prefix="made/")}
    equal(set(blobs), {f"made/{name}" for name in acknowledged["objects"]})
    for name in acknowledged["objects"]:
        expect(blobs[f"made/{name}"].download_as_bytes() == content(name), name)
    eventually(lambda: heard == {"a": counted[0], "b": counted[1]})


def main():
    heard = {}
    db = firestore.Client(project=PROJECT)
    watch = db.collection("counters").on_snapshot(
        lambda documents, changes, time: heard.update({one.id: one.get("n") for one in documents}))
    failures = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            failures.append(repr(error))

    threads = [threading.Thread(target=guarded, args=(work,)) for work in
               [documents, counters, transfers, accounts, values, objects]]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    try:
        equal(failures, [])
        check(heard)
        print("passed", flush=True)
        os._exit(0)
    except BaseException as error:
        print(f"FAILED {error!r}"[:2_000], flush=True)
        os._exit(1)


main()
