"""Requests and clients that mean harm, against every port: the server answers, stays, and serves others meanwhile."""
import concurrent.futures
import http.client
import json
import os
import random
import socket
import sys
import threading
import time

from cases import equal, expect, run

PORTS = {name: os.environ[name] for name in (
    "FIRESTORE_EMULATOR_HOST", "FIREBASE_AUTH_EMULATOR_HOST", "FIREBASE_STORAGE_EMULATOR_HOST", "FIREBASE_EMULATOR_HUB",
    "FIREBASE_DATABASE_EMULATOR_HOST", "FUNCTIONS_EMULATOR_HOST", "VESTA_HOST")}
FIRESTORE = PORTS["FIRESTORE_EMULATOR_HOST"]
OWNER = {"Authorization": "Bearer owner"}


def request(host, method, target, body=None, fields=None, timeout=60):
    connection = http.client.HTTPConnection(host, timeout=timeout)
    try:
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in (fields or {}).items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def document(project, name):
    return f"/v1/projects/{project}/databases/(default)/documents/c/{name}"


def write(project, name, number):
    body = json.dumps({"fields": {"n": {"integerValue": str(number)}}}).encode()
    return request(FIRESTORE, "PATCH", document(project, name), body, OWNER)[0]


def read(project, name):
    status, text = request(FIRESTORE, "GET", document(project, name), None, OWNER)
    return int(json.loads(text)["fields"]["n"]["integerValue"]) if status == 200 else status


def case_requests_of_all_kinds_are_answered():
    random.seed(3)
    targets = [
        "/", "//", "/%", "/%00", "/%2e%2e/%2e%2e/etc/passwd", "/../../etc/passwd", "/" + "a" * 7_000, "/?" + "x=1&" * 1_500,
        "/v1/projects/p/databases/(default)/documents/a/b", "/v1/projects/p/databases/(default)/documents:commit",
        "/v1/projects/p/databases/(default)/documents:runQuery", "/v1/projects/%2F/databases/x/documents/a/b",
        "/emulator/v1/projects/p:securityRules", "/emulator/v1/projects/p:ruleCoverage", "/emulator/v1/projects/p/accounts",
        "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", "/identitytoolkit.googleapis.com/v1/accounts:lookup",
        "/securetoken.googleapis.com/v1/token?key=k", "/v0/b/b/o/o", "/v0/b/b/o?name=%FF", "/v0/b/b/o?name=n&uploadType=resumable",
        "/storage/v1/b/b/o", "/upload/storage/v1/b/b/o?uploadType=multipart", "/internal/setRules", "/_admin/export", "/emulators",
        "/google.firestore.v1.Firestore/Commit", "/google.firestore.v1.Firestore/Listen/channel?VER=8&RID=1",
        "/v1/projects/p/namespaces/firebase:fetch", "/v1/projects/p/remoteConfig", "/v1/projects/p/messages:send",
        "/v1/projects/p/installations", "/v1/projects/p/apps/a:exchangeDebugToken?key=k", "/v1/projects/p/databases",
        "/v1/projects/p/databases?databaseId=%00", "/v1/projects/p/databases/d/collectionGroups/c/indexes",
        "/v1/projects/p/databases/d/collectionGroups/c/fields/%60", "/v1/projects/p/databases/d/operations?pageSize=-1",
        "/v1/projects/p/databases/d:bulkDeleteDocuments", "/google.firestore.admin.v1.FirestoreAdmin/CreateIndex",
        "/google.longrunning.Operations/ListOperations", "/.json?ns=p", "/a/%23.json?ns=p", "/a.json?ns=p&orderBy=%22%00%22",
        "/a.json?ns=p&orderBy=%22$key%22&limitToFirst=-1&startAt={", "/a.json?ns=p&print=%FF&timeout=9e99s", "/.settings/rules.json?ns=p",
        "/.inspect/coverage.json?ns=p", "/.settings/functionTriggers.json?ns=p", "/.lp?start=t&cb=1&v=5&ns=p", "/.lp?id=1&pw=x&ns=p&d0=e30",
        "/p/us-central1/none", "/functions/projects/p/triggers/t", "/emulator/v1/projects/p/triggers/t", "/emulator/action?mode=signIn",
        "/identitytoolkit.googleapis.com/v2/projects/p/config?updateMask=a.b.c", "/identitytoolkit.googleapis.com/v2/projects/p/tenants",
        "/emulator/auth/handler?apiKey=k&providerId=%00&redirectUrl=%0d%0a", "/emulator/auth/handler?%FF", "/emulator/auth/iframe?",
        "/v1/projects/p/databases/d:exportDocuments", "/v1/projects/p/databases/d:importDocuments",
        "/storage/v1/b/b/o/o/rewriteTo/b/b/o/%FF", "/demo/x?X-Goog-Signature=00&X-Goog-Expires=9e9",
    ]
    bodies = [
        None, b"", b"{", b"[]", b"null", b"{}", b"\x1f\x8b\x08garbage", b"[" * 100_000, b'{"a":' * 50_000, b"\xff" * 1_000,
        json.dumps({"writes": [{"update": {"name": "x"}}] * 3}).encode(),
        json.dumps({"rules": {"files": [{"name": "f", "content": "(" * 50_000}]}}).encode(),
        json.dumps({"structuredQuery": {"where": {"compositeFilter": {"op": "AND", "filters": []}}, "limit": -1}}).encode(),
        json.dumps({"outputUriPrefix": "gs://b/../../x", "inputUriPrefix": "gs://b/../../x", "collectionIds": [""]}).encode(),
        json.dumps({"queryScope": 99, "fields": [{"order": -1}] * 200}).encode(),
        json.dumps({"queryScope": 1, "fields": [{"fieldPath": "`" * 300, "order": 1}] * 2}).encode(),
        json.dumps({".value": {".value": 1}, ".priority": [], "a/b": 1, "": {".sv": {"increment": "x"}}}).encode(),
        json.dumps({"message": {"topic": "\0", "data": {"a": 1}}, "debug_token": 7, "fid": "x", "appId": {}}).encode(),
        json.dumps({"path": "relative", "localId": "\0", "email": "a@" + "b" * 10_000, "password": 1}).encode(),
    ]
    fields = [{}, OWNER, {"Authorization": "Bearer " + "a." * 2_000}, {"Content-Type": "application/grpc", "TE": "trailers"},
              {"Content-Type": "multipart/related; boundary="}, {"X-Goog-Upload-Command": "upload, finalize",
               "X-Goog-Upload-Offset": "-1"}, {"Range": "bytes=9-1,5-"}, {"Content-Encoding": "gzip"}]
    wrong = []
    for host in PORTS.values():
        for target in targets:
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"]:
                body = random.choice(bodies) if method != "GET" else None
                status, text = request(host, method, target, body, random.choice(fields))
                # 501 is what Storage has for calls that it does not know.
                if status >= 500 and status != 501:
                    wrong.append((host, method, target[:60], body and body[:40], status, text[:200]))
    equal(wrong, [])


def case_bytes_that_are_no_http_close_the_connection():
    random.seed(5)
    starts = [b"", b"\0" * 100, b"GET", b"GET / HTTP/9.9\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(range(256)),
              b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 50_000,
              b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
              b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"]
    for host in PORTS.values():
        name, port = host.rsplit(":", 1)
        for start in starts + [random.randbytes(3_000) for _ in range(5)]:
            with socket.create_connection((name, int(port)), timeout=60) as connection:
                try:
                    connection.sendall(start)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65_536):
                        pass
                except OSError:  # The server has closed it already.
                    pass
    equal(write("demo", "after", 1), 200)


def case_bodies_beyond_limits_are_refused():
    large = b"x" * (12 << 20)
    for host, method, target in [
        (FIRESTORE, "POST", "/v1/projects/demo/databases/(default)/documents:commit"),
        (PORTS["FIREBASE_AUTH_EMULATOR_HOST"], "POST", "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k"),
        (PORTS["FIREBASE_STORAGE_EMULATOR_HOST"], "PATCH", "/v0/b/demo.appspot.com/o/x"),
        (PORTS["FIREBASE_STORAGE_EMULATOR_HOST"], "PUT", "/internal/setRules"),
        (PORTS["FIREBASE_EMULATOR_HUB"], "POST", "/_admin/export"),
    ]:
        try:
            status, _ = request(host, method, target, large, OWNER)
            expect(400 <= status < 500, f"{target}: {status}")
        except (ConnectionError, BrokenPipeError):
            # The answer is lost where the client still sends.
            pass
    # A document of a mebibyte and more is refused as such.
    body = json.dumps({"fields": {"t": {"stringValue": "x" * 1_100_000}}}).encode()
    equal(request(FIRESTORE, "PATCH", document("demo", "large"), body, OWNER)[0], 400)


def case_slow_clients_hold_up_nobody():
    stop = threading.Event()
    sockets = []
    for number in range(300):
        host = list(PORTS.values())[number % len(PORTS)]
        name, port = host.rsplit(":", 1)
        sockets.append(socket.create_connection((name, int(port)), timeout=60))
    def drip():
        text = b"POST /v1/projects/demo/databases/(default)/documents:commit HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
        for position in range(len(text)):
            for connection in sockets:
                try:
                    connection.send(text[position:position + 1])
                except OSError:
                    pass
            if stop.wait(0.05):
                return
    thread = threading.Thread(target=drip)
    thread.start()
    for number in range(200):
        equal(write("demo", f"slow{number % 7}", number), 200)
    stop.set()
    thread.join()
    for connection in sockets:
        connection.close()


def case_readers_that_do_not_read_hold_up_nobody():
    body = json.dumps({"fields": {"t": {"stringValue": "x" * 900_000}}}).encode()
    for number in range(12):
        equal(request(FIRESTORE, "PATCH", document("demo", f"big{number}"), body, OWNER)[0], 200)
    name, port = FIRESTORE.rsplit(":", 1)
    query = json.dumps({"structuredQuery": {"from": [{"collectionId": "c"}]}}).encode()
    head = (b"POST /v1/projects/demo/databases/(default)/documents:runQuery HTTP/1.1\r\nHost: x\r\n"
            b"Authorization: Bearer owner\r\nContent-Length: %d\r\n\r\n" % len(query)) + query
    sockets = []
    for _ in range(8):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.connect((name, int(port)))
        connection.sendall(head)
        sockets.append(connection)
    for number in range(100):
        equal(write("demo", "others", number), 200)
    for connection in sockets:
        connection.close()


def case_a_hundred_projects_at_once_know_nothing_of_each_other():
    projects = [f"many-{number}" for number in range(100)]
    def work(number):
        project = projects[number]
        for round in range(5):
            equal(write(project, "same", number * 10 + round), 200)
            equal(read(project, "same"), number * 10 + round)
        fields = {"Content-Type": "application/json"}
        body = json.dumps({"email": f"u@{project}.example.com", "password": "long enough", "returnSecureToken": True}).encode()
        target = f"/identitytoolkit.googleapis.com/v1/projects/{project}/accounts"
        return request(PORTS["FIREBASE_AUTH_EMULATOR_HOST"], "POST", target, body, {**fields, **OWNER})[0]
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        equal(set(pool.map(work, range(100))), {200})
    for number, project in enumerate(projects):
        equal(read(project, "same"), number * 10 + 4)
    equal(read("many-none", "same"), 404)


def case_a_storm_of_listeners_is_told_of_a_write():
    import grpc
    from google.cloud.firestore_v1.types import firestore as messages
    database = "projects/storm/databases/(default)"
    metadata = [("authorization", "Bearer owner"), ("google-cloud-resource-prefix", database)]
    equal(write("storm", "one", 0), 200)
    count, per_channel = 1_000, 50
    told = threading.Semaphore(0)
    current = threading.Semaphore(0)
    channels = [grpc.insecure_channel(FIRESTORE, options=[("grpc.use_local_subchannel_pool", 1)])
                for _ in range(count // per_channel)]
    ends = threading.Event()
    loops = []
    def follow(channel):
        call = channel.stream_stream(
            "/google.firestore.v1.Firestore/Listen", request_serializer=messages.ListenRequest.serialize,
            response_deserializer=messages.ListenResponse.deserialize)
        def requests():
            yield messages.ListenRequest(
                {"database": database, "add_target": {"target_id": 1, "documents": {
                    "documents": [f"{database}/documents/c/one"]}}})
            ends.wait()
        stream = call(requests(), metadata=metadata)
        loops.append(stream)
        def take():
            try:
                for response in stream:
                    change = response.target_change
                    if "target_change" in response and change.target_change_type == 3:
                        current.release()
                    if "document_change" in response and response.document_change.document.fields["n"].integer_value == 77:
                        told.release()
            except grpc.RpcError:
                pass
        threading.Thread(target=take, daemon=True).start()
    for index in range(count):
        follow(channels[index // per_channel])
    for _ in range(count):
        expect(current.acquire(timeout=120), "a listener is not current")
    start = time.monotonic()
    equal(write("storm", "one", 77), 200)
    for _ in range(count):
        expect(told.acquire(timeout=120), "a listener was not told")
    print(f"{count} listeners were told in {time.monotonic() - start:.2f} s", flush=True)
    for stream in loops:
        stream.cancel()
    ends.set()
    equal(write("storm", "one", 78), 200)


if __name__ == "__main__":
    run(sys.modules[__name__], sys.argv[1:])
