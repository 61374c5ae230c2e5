"""Rules of single databases, buckets and instances: each place has those of firebase.json."""
import json
import os
import sys
import urllib.error
import urllib.request

from cases import equal, eventually, run

FIRESTORE = os.environ["FIRESTORE_EMULATOR_HOST"]
DATABASE = os.environ["FIREBASE_DATABASE_EMULATOR_HOST"]
STORAGE = os.environ["FIREBASE_STORAGE_EMULATOR_HOST"]
OWNER = {"Authorization": "Bearer owner"}


def status(method, host, path, body=None, fields=None):
    request = urllib.request.Request(f"http://{host}{path}", body, fields or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


def document(database):
    return status("PATCH", FIRESTORE, f"/v1/projects/demo/databases/{database}/documents/a/b",
                  b'{"fields":{}}', {"Content-Type": "application/json"})


def value(name):
    return status("PUT", DATABASE, f"/a.json?ns={name}", b"1")


def content(bucket):
    return status("POST", STORAGE, f"/v0/b/{bucket}/o?name=a", b"x", {"Content-Type": "text/plain"})


def case_each_database_of_documents_has_its_rules():
    equal([document(name) for name in ("(default)", "open", "unnamed")], [403, 200, 403])


def case_each_bucket_has_its_rules_by_name_and_by_target():
    equal([content(name) for name in ("shut", "wide", "wider", "unnamed")], [403, 200, 200, 403])


def case_each_database_of_the_tree_has_its_rules():
    equal([value(name) for name in ("demo-default-rtdb", "notes", "more-notes")], [401, 200, 200])


def case_databases_of_the_configuration_belong_to_the_project():
    request = urllib.request.Request(f"http://{DATABASE}/.inspect/databases.json?ns=demo-default-rtdb", headers=OWNER)
    with urllib.request.urlopen(request, timeout=60) as response:
        equal([entry["name"] for entry in json.loads(response.read())], ["more-notes", "notes"])


def case_rules_of_one_database_are_set_and_read():
    shut = b'{"rules":{".read":false,".write":false}}'
    equal(status("PUT", DATABASE, "/.settings/rules.json?ns=notes", shut, OWNER), 200)
    equal([value(name) for name in ("demo-default-rtdb", "notes", "more-notes")], [401, 401, 200])
    request = urllib.request.Request(f"http://{DATABASE}/.settings/rules.json?ns=notes", headers=OWNER)
    with urllib.request.urlopen(request, timeout=60) as response:
        equal(response.read(), shut)


def case_a_changed_file_counts_for_its_place_alone():
    with open(os.environ["OPEN_STORAGE"], "w") as file:
        file.write("rules_version = '2'; service firebase.storage { match /b/{b}/o { match /{o=**} { allow read; } } }")
    # The rules of the two buckets are replaced one after the other.
    eventually(lambda: [content(name) for name in ("wide", "wider")] == [403, 403])
    equal(content("shut"), 403)
    equal(document("open"), 200)


run(sys.modules[__name__], sys.argv[1:])
