"""Firestore's REST, with nothing but the standard library: FIRESTORE_EMULATOR_HOST says where."""
import base64
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
import uuid

from cases import equal, expect, run

HOST = os.environ["FIRESTORE_EMULATOR_HOST"]


def call(method, path, body=None, headers=None):
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{HOST}{path}", data=data, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


class Database:
    def __init__(self):
        self.name = f"projects/p-{uuid.uuid4().hex[:8]}/databases/(default)"
        self.root = f"/v1/{self.name}/documents"

    def __call__(self, method, path, body=None, status=200, headers=None):
        got, _, text = call(method, self.root + path, body, {"Authorization": "Bearer owner", **(headers or {})})
        answer = json.loads(text)
        if got != status:
            raise AssertionError(f"{method} {path}: {got} {answer}")
        return answer

    def document(self, path):
        return f"{self.name}/documents/{path}"


def case_documents():
    db = Database()
    made = db("POST", "/a?documentId=b", {"fields": {"x": {"integerValue": "1"}, "y": {"stringValue": "z"}}})
    equal(made["name"], db.document("a/b"))
    equal(made["createTime"], made["updateTime"])
    equal(db("GET", "/a/b"), made)
    equal(db("GET", "/a/b?mask.fieldPaths=x")["fields"], {"x": {"integerValue": "1"}})
    patched = db("PATCH", "/a/b?updateMask.fieldPaths=y&updateMask.fieldPaths=w", {"fields": {"w": {"booleanValue": True}}})
    equal(patched["fields"], {"x": {"integerValue": "1"}, "w": {"booleanValue": True}})
    equal(patched["createTime"], made["createTime"])
    equal(db("PATCH", "/a/b", {"fields": {}}).get("fields"), None)
    equal(db("DELETE", "/a/b"), {})
    missing = db("GET", "/a/b", status=404)
    equal(missing["error"]["status"], "NOT_FOUND")
    expect("not found" in missing["error"]["message"])
    chosen = db("POST", "/a", {"fields": {}})
    equal(len(chosen["name"].rsplit("/", 1)[1]), 20)


def case_what_is_created_is_returned_as_it_is_stored():
    db = Database()
    time = {"timestampValue": "2024-02-03T04:05:06.123456789Z"}
    fields = {
        "time": time, "list": {"arrayValue": {"values": [time, {"mapValue": {"fields": {"t": time}}}, {"doubleValue": "NaN"}]}},
        "zero": {"doubleValue": -0.0}, "whole": {"doubleValue": 3}, "empty": {"arrayValue": {}}, "none": {"mapValue": {}},
        "bytes": {"bytesValue": "AP8="}, "a.b": {"stringValue": "x"}, "old": {"timestampValue": "1969-12-31T23:59:59.9999999Z"},
    }
    made = db("POST", "/a?documentId=b", {"fields": fields})
    equal(made["fields"]["time"], {"timestampValue": "2024-02-03T04:05:06.123456Z"})
    equal(db("GET", "/a/b"), made)
    equal(db("POST", "/a?documentId=c&mask.fieldPaths=zero", {"fields": fields})["fields"], {"zero": {"doubleValue": -0.0}})


def case_preconditions():
    db = Database()
    equal(db("PATCH", "/a/b?currentDocument.exists=true", {}, 404)["error"]["status"], "NOT_FOUND")
    made = db("PATCH", "/a/b?currentDocument.exists=false", {})
    equal(db("POST", "/a?documentId=b", {}, 409)["error"]["status"], "ALREADY_EXISTS")
    db("PATCH", "/a/b", {"fields": {"x": {"nullValue": None}}})
    time = made["updateTime"]
    equal(db("DELETE", f"/a/b?currentDocument.updateTime={time}", status=400)["error"]["status"], "FAILED_PRECONDITION")


def case_names_with_every_character():
    db = Database()
    for written, name in [("a%20b", "a b"), ("%C3%A9", "é"), ("a:b", "a:b"), ("a%3Ab", "a:b"), ("x:commit", "x:commit")]:
        db("PATCH", f"/c/{written}", {})
        equal(db("GET", f"/c/{written}")["name"], db.document(f"c/{name}"))
    encoded = db.root.replace("(default)", "%28default%29")
    status, _, text = call("GET", f"{encoded}/c/a%20b", None, {"Authorization": "Bearer owner"})
    equal(status, 200)
    equal(json.loads(text)["name"], db.document("c/a b"))
    equal(db("GET", "/c/a%2Fb", status=400)["error"]["status"], "INVALID_ARGUMENT")


def case_lists():
    db = Database()
    for number in range(5):
        db("PATCH", f"/a/{number}", {"fields": {"n": {"integerValue": str(-number)}}})
    db("PATCH", "/a/deep/b/c", {})
    first = db("GET", "/a?pageSize=3")
    equal([d["name"][-1] for d in first["documents"]], ["0", "1", "2"])
    second = db("GET", f"/a?pageSize=3&pageToken={urllib.parse.quote(first['nextPageToken'])}")
    equal([d["name"][-1] for d in second["documents"]], ["3", "4"])
    expect("nextPageToken" not in second)
    equal([d["name"][-1] for d in db("GET", "/a?orderBy=n")["documents"]], ["4", "3", "2", "1", "0"])
    equal(len(db("GET", "/a?showMissing=true")["documents"]), 6)
    equal(db("GET", "/none"), {})
    equal(db("POST", ":listCollectionIds", {})["collectionIds"], ["a"])


def case_commits_and_reads_of_many():
    db = Database()
    write = {"update": {"name": db.document("a/b"), "fields": {"n": {"integerValue": 1}}}}
    transform = {"transform": {"document": db.document("a/b"), "fieldTransforms": [
        {"fieldPath": "n", "increment": {"integerValue": "2"}}, {"fieldPath": "at", "setToServerValue": "REQUEST_TIME"}]}}
    done = db("POST", ":commit", {"writes": [write, transform]})
    equal(len(done["writeResults"]), 2)
    equal(done["writeResults"][1]["transformResults"][0], {"integerValue": "3"})
    expect(done["commitTime"].endswith("Z"))
    found = db("POST", ":batchGet", {"documents": [db.document("a/b"), db.document("a/none")]})
    equal(sorted(k for entry in found for k in entry if k != "readTime"), ["found", "missing"])
    failed = db("POST", ":commit", {"writes": [{"delete": db.document("a/c"), "currentDocument": {"exists": True}}]}, 404)
    equal(failed["error"]["code"], 404)
    many = db("POST", ":batchWrite", {"writes": [
        {"update": {"name": db.document("a/d"), "fields": {}}},
        {"delete": db.document("a/e"), "currentDocument": {"exists": True}}]})
    equal([s.get("code", 0) for s in many["status"]], [0, 5])


def case_queries():
    db = Database()
    query = {"structuredQuery": {"from": [{"collectionId": "a"}]}}
    empty = db("POST", ":runQuery", query)
    equal(len(empty), 1)
    equal(list(empty[0]), ["readTime"])
    for number in range(3):
        db("PATCH", f"/a/{number}", {"fields": {"n": {"integerValue": str(number)}}})
    query["structuredQuery"]["where"] = {
        "fieldFilter": {"field": {"fieldPath": "n"}, "op": "GREATER_THAN", "value": {"integerValue": 0}}}
    query["structuredQuery"]["limit"] = 5
    equal([r["document"]["name"][-1] for r in db("POST", ":runQuery", query) if "document" in r], ["1", "2"])
    count = {"structuredAggregationQuery": {**query, "aggregations": [{"count": {}, "alias": "n"}]}}
    equal(db("POST", ":runAggregationQuery", count)[0]["result"]["aggregateFields"]["n"], {"integerValue": "2"})
    wrong = db("POST", ":runQuery", {"structuredQuery": {"from": [{"collectionId": "a/b"}]}}, 400)
    equal(wrong[0]["error"]["status"], "INVALID_ARGUMENT")


def case_transactions():
    db = Database()
    db("PATCH", "/a/b", {"fields": {"n": {"integerValue": "1"}}})
    transaction = db("POST", ":beginTransaction", {})["transaction"]
    got = db("POST", ":batchGet", {"documents": [db.document("a/b")], "transaction": transaction})
    equal(got[0]["found"]["fields"], {"n": {"integerValue": "1"}})
    write = {"update": {"name": db.document("a/b"), "fields": {"n": {"integerValue": "2"}}}}
    db("POST", ":commit", {"writes": [write], "transaction": transaction})
    equal(db("GET", "/a/b")["fields"], {"n": {"integerValue": "2"}})
    begun = db("POST", ":batchGet", {"documents": [db.document("a/b")], "newTransaction": {"readOnly": {}}})
    equal(list(begun[0]), ["transaction"])
    equal(db("POST", ":rollback", {"transaction": begun[0]["transaction"]}), {})


def case_what_is_wrong_has_the_envelope():
    db = Database()
    for method, path, body, status in [
        ("GET", "/a/b?unknown=1", None, 400), ("POST", ":commit", b"{", 400), ("POST", ":commit", {"what": 1}, 400),
        ("PATCH", "/a/b", {"fields": {"x": {"integerValue": "1.5"}}}, 400), ("POST", "/a/b", {}, 404),
        ("PUT", "/a/b", {}, 404), ("GET", "/a/b?readTime=yesterday", None, 400),
        ("POST", "/a?documentId=__x__", {}, 400),
    ]:
        got, fields, text = call(method, db.root + path, body, {"Authorization": "Bearer owner"})
        equal((method, path, got), (method, path, status))
        expect(fields["Content-Type"].startswith("application/json"))
        error = json.loads(text)["error"]
        expect(error["code"] == status and error["message"] and error["status"], error)
    for path in [":executePipeline", ":listen", ":write"]:
        equal(db("POST", path, {}, 501)[0]["error"]["status"], "UNIMPLEMENTED")
    too_large = call("PATCH", f"{db.root}/a/b", b" " * (12 << 20))
    equal(too_large[0], 413)
    equal(json.loads(too_large[2])["error"]["status"], "INVALID_ARGUMENT")


def case_browsers_may_call():
    db = Database()
    status, fields, _ = call("OPTIONS", f"{db.root}:commit", None, {
        "Origin": "http://app.example", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,x-goog-api-client"})
    equal(status, 204)
    equal(fields["Access-Control-Allow-Origin"], "http://app.example")
    equal(fields["Access-Control-Allow-Credentials"], "true")
    _, fields, _ = call("GET", f"{db.root}/a/none", None, {"Origin": "http://app.example"})
    equal(fields["Access-Control-Allow-Origin"], "http://app.example")
    # Text as pages send it, so that browsers do not ask first.
    db("POST", ":commit", {"writes": []}, headers={"Content-Type": "text/plain"})


def case_clearing_and_readiness():
    status, _, text = call("GET", "/")
    equal((status, text.strip()), (200, b"Ok"))
    db = Database()
    for number in range(3):
        db("PATCH", f"/a/{number}/b/{number}", {})
    status, _, text = call("DELETE", f"/emulator/{db.root[1:]}")
    equal((status, json.loads(text)), (200, {}))
    equal(db("GET", "/a?showMissing=true"), {})
    # A database that was never written to.
    equal(call("DELETE", f"/emulator/{Database().root[1:]}")[0], 200)


def token(claims):
    """An unsigned token, as local test kits make them."""
    parts = [{"alg": "none", "type": "JWT"}, {"iat": 0, "exp": 3600, **claims}]
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


def rules(condition):
    return "rules_version = '2'; service cloud.firestore { match /databases/{d}/documents { match /a/{id} { %s } } }" % condition


def case_rules_decide():
    db = Database()
    place = f"/emulator/v1/projects/{db.name.split('/')[1]}:securityRules"

    def put(source, **more):
        status, _, text = call("PUT", place, {"rules": {"files": [{"content": source}]}, **more})
        return status, json.loads(text)

    ada, grace = ({"Authorization": f"Bearer {token({'sub': name, 'user_id': name})}"} for name in ["ada", "grace"])
    equal(put(rules("allow read, write: if request.auth.uid == id;")), (200, {}))
    db("PATCH", "/a/ada", {}, headers=ada)
    db("GET", "/a/ada", headers=ada)
    equal(db("GET", "/a/ada", status=403, headers=grace)["error"]["status"], "PERMISSION_DENIED")
    db("PATCH", "/a/ada", {}, status=403, headers=grace)
    db("GET", "/a/ada", status=403, headers={"Authorization": ""})
    db("GET", "/a/ada")
    db("GET", "/a/ada", status=401, headers={"Authorization": "Bearer a.b.c"})
    # Rules that do not compile change nothing.
    status, answer = put("service cloud.firestore { match }")
    equal((status, answer["error"]["status"]), (400, "INVALID_ARGUMENT"))
    status, answer = put("service cloud.firestore { match }", ignore_errors=True)
    equal(status, 200)
    errors = [issue for issue in answer["issues"] if issue["severity"] == "ERROR"]
    equal(errors[0]["sourcePosition"]["line"], 1)
    db("GET", "/a/ada", headers=ada)
    equal(put(rules("allow read: if true;"))[0], 200)
    db("GET", "/a/ada", headers=grace)
    db("PATCH", "/a/ada", {}, status=403, headers=ada)
    equal(call("PUT", place, {"rules": {}})[0], 400)


if __name__ == "__main__":
    run(sys.modules[__name__], sys.argv[1:])
