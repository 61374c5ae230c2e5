"""Remote Config as its REST APIs have it, against a server: VESTA_HOST says where."""
import json
import os
import sys
import threading
import urllib.error
import urllib.request

from cases import equal, eventually, expect, run

HOST = os.environ["VESTA_HOST"]
ADMIN = f"http://{HOST}/v1/projects/demo/remoteConfig"
CLIENT = f"http://{HOST}/v1/projects/demo/namespaces/firebase"


def request(method, url, body=None, fields=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer owner", **(fields or {})}
    return urllib.request.Request(url, data, headers, method=method)


def call(method, url, body=None, fields=None):
    try:
        with urllib.request.urlopen(request(method, url, body, fields), timeout=60) as response:
            return response.status, json.loads(response.read() or b"{}"), response.headers
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}"), error.headers


def template(value):
    return {"parameters": {"welcome": {"defaultValue": {"value": value}}}}


def publish(value):
    status, answer, fields = call("PUT", ADMIN, template(value), {"If-Match": "*"})
    equal((status, answer if status != 200 else None), (200, None))
    return fields["ETag"]


def fetch():
    body = {"appId": "1:2:web:3", "appInstanceId": "abcdefghijklmnopqrstuv", "appInstanceIdToken": "token", "sdkVersion": "1"}
    return call("POST", f"{CLIENT}:fetch?key=any", body, {"Authorization": ""})


def case_what_is_published_is_fetched():
    publish("Hello")
    status, answer, _ = fetch()
    equal((status, answer["state"], answer["entries"]), (200, "UPDATE", {"welcome": "Hello"}))


def case_a_publish_over_another_one_is_refused():
    old = publish("one")
    publish("two")
    equal(call("PUT", ADMIN, template("three"), {"If-Match": old})[0], 412)
    equal(fetch()[1]["entries"], {"welcome": "two"})


def case_versions_are_listed_and_restored():
    publish("before")
    version = call("GET", ADMIN)[1]["version"]["versionNumber"]
    publish("after")
    equal(call("POST", f"{ADMIN}:rollback", {"versionNumber": version})[0], 200)
    equal(fetch()[1]["entries"], {"welcome": "before"})
    expect(len(call("GET", f"{ADMIN}:listVersions?pageSize=2")[1]["versions"]) == 2)


def case_a_publish_is_announced():
    publish("quiet")
    version = call("GET", ADMIN)[1]["version"]["versionNumber"]
    body = {"project": "demo", "namespace": "firebase", "lastKnownVersionNumber": version, "appId": "1:2:web:3",
            "sdkVersion": "1", "appInstanceId": "abcdefghijklmnopqrstuv"}
    lines = []
    response = urllib.request.urlopen(
        request("POST", f"{CLIENT}:streamFetchInvalidations?key=any", body, {"Authorization": ""}), timeout=60)
    threading.Thread(target=lambda: lines.extend(iter(lambda: response.read1(4096), b"")), daemon=True).start()
    publish("loud")
    eventually(lambda: f'"{int(version) + 1}"' in b"".join(lines).decode())


def case_owners_alone_publish():
    equal(call("PUT", ADMIN, template("x"), {"If-Match": "*", "Authorization": ""})[0], 403)


run(sys.modules[__name__], sys.argv[1:])
