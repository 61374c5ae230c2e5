"""Rules as test kits set and read them, and files of rules that change: RULES_FILE is the file of Firestore's."""
import json
import os
import sys
import urllib.error
import urllib.request

from cases import equal, eventually, expect, raises, run

FIRESTORE = os.environ["FIRESTORE_EMULATOR_HOST"]
STORAGE = os.environ["FIREBASE_STORAGE_EMULATOR_HOST"]
DOCUMENT = f"http://{FIRESTORE}/v1/projects/demo/databases/(default)/documents/notes/n"


def call(method, url, body=None, fields=None):
    data = None if body is None else body.encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, fields or {}, method=method), timeout=60) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def firestore(condition):
    return f"""rules_version = '2';
service cloud.firestore {{ match /databases/{{d}}/documents/notes/{{id}} {{
  allow read: if {condition};
}} }}"""


def case_a_file_that_changes_is_in_force_and_a_wrong_one_is_not():
    path = os.environ["RULES_FILE"]
    equal(call("GET", DOCUMENT)[0], 404)
    with open(path, "w") as file:
        file.write(firestore("false"))
    eventually(lambda: call("GET", DOCUMENT)[0] == 403)
    with open(path, "w") as file:
        file.write("service {")
    equal(call("GET", DOCUMENT)[0], 403)
    with open(path, "w") as file:
        file.write(firestore("true"))
    eventually(lambda: call("GET", DOCUMENT)[0] == 404)


def case_denials_say_why_and_outcomes_are_counted():
    place = f"http://{FIRESTORE}/emulator/v1/projects/demo"
    # As the kit sends it: without a content type, a name and a credential.
    body = json.dumps({"rules": {"files": [{"content": firestore("request.auth != null")}]}})
    equal(call("PUT", f"{place}:securityRules", body, {"Content-Type": "text/plain"})[0], 200)
    status, text = call("GET", DOCUMENT)
    equal(status, 403)
    equal(json.loads(text)["error"]["message"], "\nfalse for 'get' @ L3")
    status, text = call("GET", f"{place}:ruleCoverage")
    equal(status, 200)
    report = json.loads(text)
    equal(report["report"][0]["values"], [{"value": {"boolValue": False}, "count": 1}])
    expect("request.auth" in report["rules"]["files"][0]["content"])
    status, page = call("GET", f"{place}:ruleCoverage.html")
    expect(status == 200 and page.startswith("<!DOCTYPE html>") and "false: 1" in page)


def case_denials_over_grpc_say_why():
    import grpc
    from google.cloud.firestore_v1.types import firestore as messages
    place = f"http://{FIRESTORE}/emulator/v1/projects/demo:securityRules"
    equal(call("PUT", place, json.dumps({"rules": {"files": [{"content": firestore("id == 'open'")}]}}))[0], 200)
    database = "projects/demo/databases/(default)"
    metadata = [("google-cloud-resource-prefix", database)]
    channel = grpc.insecure_channel(FIRESTORE)
    read = channel.unary_stream(
        "/google.firestore.v1.Firestore/BatchGetDocuments",
        request_serializer=messages.BatchGetDocumentsRequest.serialize,
        response_deserializer=messages.BatchGetDocumentsResponse.deserialize)
    request = messages.BatchGetDocumentsRequest({"database": database, "documents": [f"{database}/documents/notes/n"]})
    error = raises(grpc.RpcError, lambda: list(read(request, metadata=metadata)))
    equal((error.code(), error.details()), (grpc.StatusCode.PERMISSION_DENIED, "\nfalse for 'get' @ L3"))


def case_a_caller_that_may_write_and_not_read_is_answered():
    place = f"http://{FIRESTORE}/emulator/v1/projects/demo:securityRules"
    rules = firestore("false").replace("allow read: if false", "allow write: if true")
    equal(call("PUT", place, json.dumps({"rules": {"files": [{"content": rules}]}}))[0], 200)
    body = json.dumps({"fields": {"n": {"integerValue": "1"}}})
    status, text = call("POST", DOCUMENT[:-2] + "?documentId=w", body)
    equal((status, json.loads(text)["fields"]), (200, {"n": {"integerValue": "1"}}))
    status, text = call("PATCH", DOCUMENT[:-1] + "w", body)
    equal((status, json.loads(text)["fields"]), (200, {"n": {"integerValue": "1"}}))
    equal(call("GET", DOCUMENT[:-1] + "w")[0], 403)
    equal(call("DELETE", DOCUMENT[:-1] + "w")[0], 200)


def case_rules_of_storage_are_set_for_all_buckets():
    place = f"http://{STORAGE}/internal/setRules"
    def rules(condition):
        text = "rules_version = '2'; service firebase.storage { match /b/{b}/o/{p=**} { allow read: if %s; } }" % condition
        return json.dumps({"rules": {"files": [{"name": "storage.rules", "content": text}]}})
    equal(call("PUT", place, rules("false"), {"Content-Type": "application/json"}),
          (200, '{"message":"Rules updated successfully"}'))
    for bucket in ["demo", "other.appspot.com"]:
        equal(call("GET", f"http://{STORAGE}/v0/b/{bucket}/o/none")[0], 403)
    equal(call("PUT", place, rules("true"))[0], 200)
    equal(call("GET", f"http://{STORAGE}/v0/b/demo/o/none")[0], 404)
    equal(call("PUT", place, rules("("))[0], 400)
    equal(call("PUT", place, "{}"), (400, '{"message":"Request body must include \'rules.files\' array"}'))
    equal(call("GET", f"http://{STORAGE}/v0/b/demo/o/none")[0], 404)


def case_rules_of_storage_are_set_for_several_buckets():
    place = f"http://{STORAGE}/internal/setRules"
    def file(condition, **members):
        text = "rules_version = '2'; service firebase.storage { match /b/{b}/o/{p=**} { allow read: if %s; } }" % condition
        return {"name": "storage.rules", "content": text, **members}
    def put(*files):
        return call("PUT", place, json.dumps({"rules": {"files": files}}), {"Content-Type": "application/json"})
    def found():
        return [call("GET", f"http://{STORAGE}/v0/b/{bucket}/o/none")[0] for bucket in ("one", "two", "three")]
    updated = (200, '{"message":"Rules updated successfully"}')
    equal(put(file("true", resource="one"), file("false", resource="two")), updated)
    # A bucket that is not named has no rules.
    equal(found(), [404, 403, 403])
    equal(put(file("false", resource="one"), file("(", resource="two"))[0], 400)
    equal(put(file("false", resource="one"), file("true"))[0], 400)
    equal(found(), [404, 403, 403])
    equal(put(file("true", resource="three"), file("false", resource="four")), updated)
    equal(found(), [403, 403, 404])
    # One file is that of all buckets, whatever it names.
    equal(put(file("true", resource="three")), updated)
    equal(found(), [404, 404, 404])


if __name__ == "__main__":
    run(sys.modules[__name__], sys.argv[1:])
