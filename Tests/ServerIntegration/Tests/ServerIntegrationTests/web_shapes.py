"""Requests as Firebase's JavaScript SDK makes them from a page, at the servers of the emulators' variables."""
import http.client
import json
import os
import sys
import urllib.parse
import uuid

from cases import equal, expect, run

AUTH, STORAGE = os.environ["FIREBASE_AUTH_EMULATOR_HOST"], os.environ["FIREBASE_STORAGE_EMULATOR_HOST"]
FIRESTORE, DATABASE = os.environ["FIRESTORE_EMULATOR_HOST"], os.environ["FIREBASE_DATABASE_EMULATOR_HOST"]
FUNCTIONS, ALL = os.environ["FUNCTIONS_EMULATOR_HOST"], os.environ["VESTA_HOST"]
ORIGIN = "http://localhost:5173"
DOCUMENTS = "/v1/projects/demo/databases/(default)/documents"
TOOLKIT = "/identitytoolkit.googleapis.com"
BUCKET = "/v0/b/demo.appspot.com/o"


def call(host, method, path, body=None, **fields):
    """A request of a page: the status, the fields in lower case, and the body as JSON where it is."""
    headers = {"Origin": ORIGIN, "Referer": f"{ORIGIN}/", "User-Agent": "Mozilla/5.0 Chrome/140.0",
               **{name.replace("_", "-"): value for name, value in fields.items()}}
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
        headers.setdefault("Content-Type", "application/json")
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    try:
        content = json.loads(content)
    except ValueError:
        pass
    return response.status, {name.lower(): value for name, value in response.getheaders()}, content


def names(text):
    return {name.strip().lower() for name in (text or "").split(",")}


AUTH_FIELDS = "content-type,x-client-version,x-firebase-appcheck,x-firebase-client,x-firebase-gmpid,x-firebase-locale"
STORAGE_FIELDS = ("authorization,content-type,x-firebase-appcheck,x-firebase-gmpid,x-firebase-storage-version,"
                  "x-goog-upload-command,x-goog-upload-header-content-length,x-goog-upload-header-content-type,"
                  "x-goog-upload-offset,x-goog-upload-protocol")
FIRESTORE_FIELDS = ("authorization,content-type,google-cloud-resource-prefix,x-client-protocol,x-firebase-appcheck,x-firebase-gmpid,"
                    "x-goog-api-client,x-goog-api-key,x-goog-request-params,x-webchannel-content-type")
PREFLIGHTS = [
    (AUTH, "POST", f"{TOOLKIT}/v1/accounts:signUp?key=k", AUTH_FIELDS),
    (AUTH, "POST", f"{TOOLKIT}/v2/accounts/mfaEnrollment:start?key=k", AUTH_FIELDS),
    (AUTH, "GET", f"{TOOLKIT}/v2/recaptchaConfig?key=k&clientType=CLIENT_TYPE_WEB&version=RECAPTCHA_ENTERPRISE", AUTH_FIELDS),
    (AUTH, "POST", "/securetoken.googleapis.com/v1/token?key=k", AUTH_FIELDS),
    (AUTH, "PATCH", "/emulator/v1/projects/demo/config", "content-type,authorization"),
    (AUTH, "DELETE", "/emulator/v1/projects/demo/accounts", "authorization"),
    (STORAGE, "GET", f"{BUCKET}/a", STORAGE_FIELDS), (STORAGE, "POST", f"{BUCKET}?name=a", STORAGE_FIELDS),
    (STORAGE, "PATCH", f"{BUCKET}/a", STORAGE_FIELDS), (STORAGE, "DELETE", f"{BUCKET}/a", STORAGE_FIELDS),
    (FIRESTORE, "POST", f"{DOCUMENTS}:commit", FIRESTORE_FIELDS), (FIRESTORE, "PATCH", f"{DOCUMENTS}/a/b", FIRESTORE_FIELDS),
    (FIRESTORE, "POST", "/google.firestore.v1.Firestore/Listen/channel?VER=8", FIRESTORE_FIELDS),
    (FIRESTORE, "DELETE", "/emulator/v1/projects/demo/databases/(default)/documents", "authorization"),
    (FIRESTORE, "PUT", "/emulator/v1/projects/demo:securityRules", "authorization,content-type"),
    (DATABASE, "PUT", "/a.json?ns=demo-default-rtdb", "authorization,content-type,if-match,x-firebase-etag,x-firebase-appcheck"),
    (DATABASE, "PUT", "/.settings/rules.json?ns=demo-default-rtdb", "authorization,content-type"),
    (ALL, "POST", "/v1/projects/demo/installations", "content-type,x-firebase-client,x-goog-api-key"),
    (ALL, "POST", "/v1/projects/demo/registrations", "content-type,x-goog-api-key,x-goog-firebase-installations-auth"),
    (ALL, "POST", "/v1/projects/demo/namespaces/firebase:fetch?key=k", "content-encoding,content-type,if-none-match"),
    (ALL, "POST", "/v1/projects/demo/apps/1:2:web:3:exchangeDebugToken?key=k", "content-type,x-firebase-client"),
]


def case_browsers_may_make_every_call():
    for host, method, path, fields in PREFLIGHTS:
        status, answer, _ = call(host, "OPTIONS", path, **{
            "Access-Control-Request-Method": method, "Access-Control-Request-Headers": fields,
            "Access-Control-Request-Private-Network": "true"})
        at = f"{method} {path}: {status} {answer}"
        expect(status in (200, 204), at)
        # Auth and Firestore are called with credentials, for which browsers want their own origin.
        expect(answer.get("access-control-allow-origin") in ([ORIGIN] if host in (AUTH, FIRESTORE) else [ORIGIN, "*"]), at)
        expect(method in {name.upper() for name in names(answer.get("access-control-allow-methods"))} or method in ("GET", "POST"), at)
        expect(names(fields) <= names(answer.get("access-control-allow-headers")), at)
        equal((host == ALL or answer.get("access-control-allow-private-network") == "true", at), (True, at))


def case_pages_may_read_every_answer_and_every_error():
    for host, method, path, body, wanted, fields in [
        (AUTH, "POST", f"{TOOLKIT}/v1/accounts:signUp?key=k", {"returnSecureToken": True}, 200, {}),
        (AUTH, "POST", f"{TOOLKIT}/v1/accounts:signInWithPassword?key=k", {"email": "no@example.com", "password": "x"}, 400, {}),
        (AUTH, "POST", f"{TOOLKIT}/v1/accounts:signUp?key=k", "{", 400, {"Content_Type": "application/json"}),
        (AUTH, "POST", f"{TOOLKIT}/v1/accounts:signUp", {}, 403, {}),
        (AUTH, "GET", "/none", None, 404, {}),
        (FIRESTORE, "GET", f"{DOCUMENTS}/none/none", None, 404, {"Authorization": "Bearer owner"}),
        (FIRESTORE, "GET", f"{DOCUMENTS}/none/none", None, 401, {"Authorization": "Bearer nonsense"}),
        (FIRESTORE, "POST", f"{DOCUMENTS}:commit", "{", 400, {}), (FIRESTORE, "GET", "/none", None, 404, {}),
        (FIRESTORE, "POST", "/google.firestore.v1.Firestore/Listen/channel?VER=8&SID=none&RID=1&AID=0", "count=0", 400, {}),
        (STORAGE, "GET", f"{BUCKET}/none", None, 404, {"X_Firebase_Storage_Version": "webjs/9.0.0"}),
        (STORAGE, "GET", f"{BUCKET}?prefix=&delimiter=%2F&maxResults=2", None, 200, {}),
        (STORAGE, "GET", "/none", None, 501, {}),
        (DATABASE, "GET", "/none.json?ns=demo-default-rtdb", None, 200, {}),
        (DATABASE, "GET", "/a.json?ns=demo-default-rtdb&orderBy=wrong", None, 400, {}),
        (FUNCTIONS, "POST", "/demo/us-central1/none", {"data": None}, 404, {}),
        (ALL, "POST", "/v1/projects/demo/installations", {}, 400, {"x_goog_api_key": "k"}),
    ]:
        status, answer, content = call(host, method, path, body, **fields)
        at = f"{method} {path}: {status} {answer} {content}"
        equal((status, at), (wanted, at))
        expect(answer.get("access-control-allow-origin") in (ORIGIN, "*"), at)


def case_auth_calls_as_pages_make_them():
    fields = {"X_Client_Version": "Chrome/JsCore/12.0.0/FirebaseCore-web", "X_Firebase_gmpid": "1:2:web:3",
              "X_Firebase_Client": "eyJ2ZXJzaW9uIjoyfQ", "X_Firebase_AppCheck": "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==",
              "X_Firebase_Locale": "de"}
    address = f"{uuid.uuid4().hex}@example.com"
    for version in ["/identitytoolkit.googleapis.com/v1/accounts:signUp",
                    "/www.googleapis.com/identitytoolkit/v3/relyingparty/signupNewUser"]:
        body = {"email": f"{len(version)}{address}", "password": "secret", "returnSecureToken": True,
                "clientType": "CLIENT_TYPE_WEB"}
        status, _, made = call(AUTH, "POST", f"{version}?key=k", body, **fields)
        equal((status, made.get("email")), (200, body["email"]))
    status, _, found = call(AUTH, "POST", f"{TOOLKIT}/v1/accounts:lookup?key=k", {"idToken": made["idToken"]}, **fields)
    equal((status, found["users"][0]["localId"]), (200, made["localId"]))
    status, _, config = call(AUTH, "GET", f"{TOOLKIT}/v1/projects?key=k", **fields)
    equal((status, "localhost" in config["authorizedDomains"]), (200, True))
    status, _, policy = call(AUTH, "GET", f"{TOOLKIT}/v2/passwordPolicy?key=k", **fields)
    equal((status, policy["customStrengthOptions"]["minPasswordLength"]), (200, 6))
    query = "key=k&clientType=CLIENT_TYPE_WEB&version=RECAPTCHA_ENTERPRISE"
    equal(call(AUTH, "GET", f"{TOOLKIT}/v2/recaptchaConfig?{query}", **fields)[0], 200)
    form = urllib.parse.urlencode({"grant_type": "refresh_token", "refresh_token": made["refreshToken"]})
    status, _, token = call(AUTH, "POST", "/securetoken.googleapis.com/v1/token?key=k", form,
                            Content_Type="application/x-www-form-urlencoded", **fields)
    equal((status, token["token_type"], token["user_id"]), (200, "Bearer", made["localId"]))
    status, _, methods = call(AUTH, "POST", f"{TOOLKIT}/v1/accounts:createAuthUri?key=k",
                              {"identifier": made["email"], "continueUri": f"{ORIGIN}/"}, **fields)
    equal((status, "sessionId" in methods), (200, True))


def case_storage_calls_as_pages_make_them():
    fields = {"X_Firebase_Storage_Version": "webjs/12.0.0", "X_Firebase_GMPID": "1:2:web:3", "Authorization": "Firebase owner",
              "X_Firebase_AppCheck": "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ=="}
    name = f"web/{uuid.uuid4().hex} ü+.txt"
    encoded = urllib.parse.quote(name, safe="")
    metadata = {"name": name, "contentType": "text/plain", "metadata": {"k": "v"}, "fullPath": name, "size": 5}
    text = "\r\n".join([
        "--edge", "Content-Type: application/json; charset=utf-8", "", json.dumps(metadata), "--edge",
        "Content-Type: text/plain", "", "hello", "--edge--"])
    status, _, made = call(STORAGE, "POST", f"{BUCKET}?name={encoded}", text.encode(), **fields,
                           X_Goog_Upload_Protocol="multipart", Content_Type="multipart/related; boundary=edge")
    equal((status, made["name"], made["metadata"], made["size"]), (200, name, {"k": "v"}, "5"))
    status, _, again = call(STORAGE, "GET", f"{BUCKET}/{encoded}", **fields)
    equal((status, again["downloadTokens"]), (200, made["downloadTokens"]))
    status, answer, content = call(STORAGE, "GET", f"{BUCKET}/{encoded}?alt=media&token={made['downloadTokens']}")
    equal((status, content, answer["content-type"]), (200, b"hello", "text/plain"))
    status, answer, _ = call(STORAGE, "POST", f"{BUCKET}?name={encoded}", {"name": name, "contentType": "text/plain"}, **{
        **fields, "X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start",
        "X-Goog-Upload-Header-Content-Length": "10", "X-Goog-Upload-Header-Content-Type": "text/plain"})
    equal((status, answer["x-goog-upload-status"]), (200, "active"))
    exposed = names(answer["access-control-expose-headers"])
    wanted = {"x-goog-upload-status", "x-goog-upload-url", "x-goog-upload-size-received", "x-firebase-storage-version"}
    expect("*" in exposed or wanted <= exposed, exposed)
    url = answer["x-goog-upload-url"].split(STORAGE)[1]
    status, answer, _ = call(STORAGE, "POST", url, b"01234", **fields, X_Goog_Upload_Command="upload", X_Goog_Upload_Offset="0")
    equal((status, answer["x-goog-upload-status"]), (200, "active"))
    status, answer, _ = call(STORAGE, "POST", url, b"", **fields, X_Goog_Upload_Command="query")
    equal((status, answer["x-goog-upload-size-received"]), (200, "5"))
    status, answer, done = call(STORAGE, "POST", url, b"56789", **fields, X_Goog_Upload_Command="upload, finalize",
                                X_Goog_Upload_Offset="5")
    equal((status, answer["x-goog-upload-status"], done["size"]), (200, "final", "10"))
    status, _, changed = call(STORAGE, "PATCH", f"{BUCKET}/{encoded}", {"cacheControl": "no-store", "metadata": {"k": None}}, **fields)
    equal((status, changed["cacheControl"], changed.get("metadata", {}).get("k")), (200, "no-store", None))
    prefix = urllib.parse.quote("web/", safe="")
    status, _, page = call(STORAGE, "GET", f"{BUCKET}?prefix={prefix}&delimiter=%2F&maxResults=1000", **fields)
    expect(status == 200 and name in [one["name"] for one in page["items"]] and page["prefixes"] == [], page)
    equal(call(STORAGE, "DELETE", f"{BUCKET}/{encoded}", **fields)[0], 204)


def case_firestore_calls_as_pages_make_them():
    fields = {"Content_Type": "text/plain", "Authorization": "Bearer owner", "X_Goog_Api_Client": "gl-js/ fire/12.0.0",
              "X_Firebase_GMPID": "1:2:web:3", "google_cloud_resource_prefix": "projects/demo/databases/(default)",
              "x_goog_request_params": "project_id=demo&database_id=(default)"}
    name = f"projects/demo/databases/(default)/documents/web/{uuid.uuid4().hex}"
    write = {"writes": [{"update": {"name": name, "fields": {"n": {"integerValue": "1"}}},
                         "updateTransforms": [{"fieldPath": "at", "setToServerValue": "REQUEST_TIME"}]}]}
    status, answer, content = call(FIRESTORE, "POST", f"{DOCUMENTS}:commit?key=k", json.dumps(write), **fields)
    equal((status, len(content["writeResults"][0]["transformResults"])), (200, 1))
    equal((answer["access-control-allow-origin"], answer["access-control-allow-credentials"]), (ORIGIN, "true"))
    status, _, content = call(FIRESTORE, "POST", f"{DOCUMENTS}:batchGet", json.dumps({"documents": [name, f"{name}x"]}), **fields)
    equal((status, sorted(next(iter(set(one) & {"found", "missing"})) for one in content)), (200, ["found", "missing"]))
    query = {"structuredQuery": {"from": [{"collectionId": "web"}], "orderBy": [{"field": {"fieldPath": "__name__"}}]}}
    status, _, content = call(FIRESTORE, "POST", f"{DOCUMENTS}:runQuery", json.dumps(query), **fields)
    expect(status == 200 and name in [one["document"]["name"] for one in content if "document" in one], content)
    count = {"structuredAggregationQuery": {"aggregations": [{"alias": "a", "count": {}}], **query}}
    status, _, content = call(FIRESTORE, "POST", f"{DOCUMENTS}:runAggregationQuery", json.dumps(count), **fields)
    expect(status == 200 and int(content[0]["result"]["aggregateFields"]["a"]["integerValue"]) > 0, content)


def case_a_channel_of_firestore_opens_polls_and_ends():
    base = "/google.firestore.v1.Firestore/Listen/channel"
    database = "projects/demo/databases/(default)"
    headers = "X-Goog-Api-Client:gl-js/ fire/12.0.0\r\nContent-Type:text/plain\r\nX-Firebase-GMPID:1:2:web:3\r\nAuthorization:Bearer owner\r\n"
    target = {"database": database, "addTarget": {"targetId": 2, "documents": {"documents": [f"{database}/documents/a/b"]}}}
    form = urllib.parse.urlencode({"headers": headers, "count": 1, "ofs": 0, "req0___data__": json.dumps(target)})
    query = urllib.parse.urlencode({"VER": 8, "database": database, "RID": 31415, "CVER": 22, "X-HTTP-Session-Id": "gsessionid",
                                    "zx": "a", "t": 1})
    status, answer, content = call(FIRESTORE, "POST", f"{base}?{query}", form, Content_Type="application/x-www-form-urlencoded")
    text = content.decode()
    opened = json.loads(text[text.index("\n") + 1:])
    equal((status, opened[0][1][0], answer["access-control-allow-origin"]), (200, "c", ORIGIN))
    expect("x-http-session-id" in names(answer["access-control-expose-headers"]), answer)
    place = {"VER": 8, "database": database, "gsessionid": answer["x-http-session-id"], "SID": opened[0][1][1]}
    # Long polling, as the client does it where a proxy holds answers back: each answer ends.
    seen, confirmed = [], 0
    while not any(one[0].get("targetChange", {}).get("targetChangeType") == "CURRENT" for _, one in seen if isinstance(one[0], dict)):
        query = urllib.parse.urlencode({**place, "RID": "rpc", "AID": confirmed, "CI": 1, "TO": 5000, "TYPE": "xmlhttp", "zx": "b", "t": 1})
        status, answer, content = call(FIRESTORE, "GET", f"{base}?{query}")
        text = content.decode()
        expect(status == 200 and "content-length" in answer or "transfer-encoding" in answer, answer)
        while text:
            length, _, text = text.partition("\n")
            seen += json.loads(text[:int(length)])
            text = text[int(length):]
        confirmed = seen[-1][0]
    # `navigator.sendBeacon` ends the channel: a form without a field of its own.
    query = urllib.parse.urlencode({**place, "RID": 31416, "TYPE": "terminate", "zx": "c"})
    status, _, _ = call(FIRESTORE, "POST", f"{base}?{query}", "", Content_Type="text/plain;charset=UTF-8")
    equal(status, 200)
    query = urllib.parse.urlencode({**place, "RID": "rpc", "AID": confirmed, "CI": 1, "TYPE": "xmlhttp"})
    status, _, content = call(FIRESTORE, "GET", f"{base}?{query}")
    expect(status == 400 and b"Unknown SID" in content, content)


def case_the_tree_over_sockets_and_long_polling():
    import websocket
    socket = websocket.create_connection(
        f"ws://{DATABASE}/.ws?v=5&p=1:2:web:3&ns=demo-default-rtdb", timeout=60, origin=ORIGIN)
    hello = json.loads(socket.recv())
    equal((hello["t"], hello["d"]["t"], sorted(hello["d"]["d"])), ("c", "h", ["h", "s", "ts", "v"]))
    stats = {"t": "d", "d": {"r": 1, "a": "s", "b": {"c": {"sdk.js.12-0-0": 1}}}}
    socket.send(json.dumps(stats))
    equal(json.loads(socket.recv())["d"]["b"]["s"], "ok")
    socket.send("0")  # Keeps the connection, and has no answer.
    socket.send(json.dumps({"t": "d", "d": {"r": 2, "a": "q", "b": {"p": "/web", "h": ""}}}))
    pushed, answered = json.loads(socket.recv()), json.loads(socket.recv())
    equal((pushed["d"]["a"], answered["d"]["r"], answered["d"]["b"]["s"]), ("d", 2, "ok"))
    socket.close()
    status, answer, content = call(
        DATABASE, "GET", "/.lp?start=t&ser=1&cb=1&v=5&p=1:2:web:3&ns=demo-default-rtdb")
    equal((status, answer["content-type"].split(";")[0]), (200, "application/javascript"))
    expect(b"pLPCommand1" in content and b"pRTLPCB1" in content, content)


if __name__ == "__main__":
    run(sys.modules[__name__], sys.argv[1:])
