"""Functions that are asked before accounts are created and before users sign in: WORKER_PORT says where they listen."""
import base64
import http.server
import json
import os
import sys
import threading
import urllib.error
import urllib.request

from cases import equal, expect, run

AUTH = os.environ["FIREBASE_AUTH_EMULATOR_HOST"]
WORKER = f"http://127.0.0.1:{os.environ['WORKER_PORT']}"
OWNER = {"Authorization": "Bearer owner"}


class Worker(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = []
    # The status and the body of the answers, by the event.
    answers = {}

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        header, claims, signature = body["data"]["jwt"].split(".")
        expect(json.loads(decoded(header))["alg"] == "none" and signature == "")
        claims = json.loads(decoded(claims))
        Worker.seen.append((self.path, claims))
        status, answer = Worker.answers.get(claims["event_type"], (200, {}))
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def call(method, path, body=None, fields=None):
    request = urllib.request.Request(f"http://{AUTH}{path}", json.dumps(body).encode() if body is not None else None,
                                     {"Content-Type": "application/json", **(fields or {})}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def account(verb, **body):
    return call("POST", f"/identitytoolkit.googleapis.com/v1/accounts:{verb}?key=k", {"returnSecureToken": True, **body})


def configure(*events, **more):
    triggers = {event: {"functionUri": f"{WORKER}/{event}"} for event in events}
    status, config = call("PATCH", "/identitytoolkit.googleapis.com/v2/projects/demo/config?updateMask=blockingFunctions",
                          {"blockingFunctions": {"triggers": triggers, **more}}, OWNER)
    equal(status, 200)
    Worker.seen.clear()
    Worker.answers.clear()
    return config


def claims(answer):
    return json.loads(decoded(answer["idToken"].split(".")[1]))


def case_both_functions_change_a_new_account():
    config = configure("beforeCreate", "beforeSignIn")
    equal(config["blockingFunctions"]["triggers"]["beforeCreate"], {"functionUri": f"{WORKER}/beforeCreate"})
    Worker.answers["beforeCreate"] = (200, {"userRecord": {
        "updateMask": "displayName,customClaims,emailVerified", "displayName": "Ada", "emailVerified": True,
        "customClaims": {"role": "a"}, "photoUrl": "not in the mask"}})
    Worker.answers["beforeSignIn"] = (200, {"userRecord": {
        "updateMask": "sessionClaims,displayName", "sessionClaims": {"shift": "night"}, "displayName": "Countess"}})
    status, answer = account("signUp", email="ada@example.com", password="secret12")
    equal(status, 200)
    # The first function is asked about the account that is made, the second one about what the first has made of it.
    equal([(path, asked["sub"], asked["sign_in_method"], asked["user_record"]["email"]) for path, asked in Worker.seen],
          [(f"/{event}", answer["localId"], "password", "ada@example.com") for event in ("beforeCreate", "beforeSignIn")])
    equal(Worker.seen[1][1]["user_record"]["display_name"], "Ada")
    equal((Worker.seen[0][1]["aud"], Worker.seen[0][1]["iss"]),
          (f"{WORKER}/beforeCreate", "https://securetoken.google.com/demo"))
    token = claims(answer)
    equal((token["role"], token["shift"], token["name"], token["email_verified"]), ("a", "night", "Countess", True))
    # Claims of a session are those of its later tokens too, and of no other session.
    refreshed = call("POST", "/securetoken.googleapis.com/v1/token?key=k",
                     {"grant_type": "refresh_token", "refresh_token": answer["refreshToken"]})[1]
    equal(json.loads(decoded(refreshed["id_token"].split(".")[1]))["shift"], "night")
    Worker.answers.pop("beforeSignIn")
    status, answer = account("signInWithPassword", email="ada@example.com", password="secret12")
    equal((status, "shift" in claims(answer), claims(answer)["role"]), (200, False, "a"))
    equal([path for path, _ in Worker.seen[2:]], ["/beforeSignIn"])


def case_a_function_that_refuses_leaves_nothing_behind():
    configure("beforeCreate")
    Worker.answers["beforeCreate"] = (403, b'{"error":{"message":"no","status":"PERMISSION_DENIED"}}')
    status, answer = account("signUp", email="eve@example.com", password="secret12")
    equal(status, 400)
    expect(answer["error"]["message"].startswith(
        f"BLOCKING_FUNCTION_ERROR_RESPONSE : ((HTTP request to {WORKER}/beforeCreate returned HTTP error 403: {{\"error\""))
    equal(account("signInWithPassword", email="eve@example.com", password="secret12")[0], 400)
    Worker.answers.clear()
    equal(account("signUp", email="eve@example.com", password="secret12")[0], 200)


def case_an_account_that_is_disabled_is_kept_and_refused():
    configure("beforeSignIn")
    Worker.answers["beforeSignIn"] = (200, {"userRecord": {"updateMask": "disabled", "disabled": True}})
    status, answer = account("signUp", email="bob@example.com", password="secret12")
    equal((status, answer["error"]["message"]), (400, "USER_DISABLED"))
    Worker.answers.clear()
    status, answer = account("signInWithPassword", email="bob@example.com", password="secret12")
    equal((status, answer["error"]["message"]), (400, "USER_DISABLED"))


def case_links_providers_and_phones_ask_by_their_names():
    configure("beforeCreate", "beforeSignIn", forwardInboundCredentials={"idToken": True})
    account("sendOobCode", requestType="EMAIL_SIGNIN", email="link@example.com", continueUrl="http://localhost/x")
    codes = call("GET", "/emulator/v1/projects/demo/oobCodes")[1]["oobCodes"]
    equal(account("signInWithEmailLink", email="link@example.com", oobCode=codes[-1]["oobCode"])[0], 200)
    # A code is good for one sign-in, however often functions were asked.
    equal(account("signInWithEmailLink", email="link@example.com", oobCode=codes[-1]["oobCode"])[0], 400)
    identity = json.dumps({"sub": "g1", "email": "g@example.com", "email_verified": True})
    equal(account("signInWithIdp", postBody=f"providerId=google.com&id_token={identity}&access_token=secret",
                  requestUri="http://localhost", returnIdpCredential=True)[0], 200)
    session = account("sendVerificationCode", phoneNumber="+15555550123")[1]["sessionInfo"]
    code = call("GET", "/emulator/v1/projects/demo/verificationCodes")[1]["verificationCodes"][-1]["code"]
    equal(account("signInWithPhoneNumber", sessionInfo=session, code=code)[0], 200)
    equal([(asked["event_type"], asked["sign_in_method"]) for _, asked in Worker.seen],
          [(event, method) for method in ("emailLink", "google.com", "phone")
           for event in ("beforeCreate", "beforeSignIn")])
    forwarded = [asked for _, asked in Worker.seen if asked["sign_in_method"] == "google.com"]
    equal([(asked["oauth_id_token"], "oauth_access_token" in asked) for asked in forwarded], [(identity, False)] * 2)


def case_owners_anonymous_accounts_and_custom_tokens_are_never_asked_about():
    configure("beforeCreate", "beforeSignIn")
    Worker.answers = {event: (500, b"x") for event in ("beforeCreate", "beforeSignIn")}
    equal(account("signUp")[0], 200)
    equal(call("POST", "/identitytoolkit.googleapis.com/v1/projects/demo/accounts",
               {"localId": "made", "email": "made@example.com", "password": "secret12"}, OWNER)[0], 200)
    equal(account("signInWithCustomToken", token=json.dumps({"uid": "custom"}))[0], 200)
    equal(Worker.seen, [])


def case_wrong_answers_are_failures_with_a_sentence():
    configure("beforeCreate")
    for index, (answer, text) in enumerate([
            ((200, b"<html>"), "((Response body is not valid JSON.))"),
            ((200, {"userRecord": {"displayName": "x"}}), "((Response UserRecord is missing updateMask.))"),
            ((200, {"userRecord": {"updateMask": "customClaims", "customClaims": 1}}),
             "((Response has malformed custom claims.))")]):
        Worker.answers["beforeCreate"] = answer
        status, body = account("signUp", email=f"wrong{index}@example.com", password="secret12")
        equal((status, body["error"]["message"]), (400, f"BLOCKING_FUNCTION_ERROR_RESPONSE : {text}"))
    Worker.answers["beforeCreate"] = (200, {"userRecord": {"updateMask": "customClaims", "customClaims": {"sub": "x"}}})
    status, body = account("signUp", email="reserved@example.com", password="secret12")
    equal((status, body["error"]["message"].split(" ")[0]), (400, "FORBIDDEN_CLAIM"))
    for triggers in ({"beforeCreate": {}}, {"beforeCreate": {"functionUri": "file:///etc/passwd"}}, {"other": {}}):
        status, body = call("PATCH", "/identitytoolkit.googleapis.com/v2/projects/demo/config?updateMask=blockingFunctions",
                            {"blockingFunctions": {"triggers": triggers}}, OWNER)
        equal((status, body["error"]["message"].split(" ")[0]), (400, "INVALID_BLOCKING_FUNCTION"))
    away = {"blockingFunctions": {"triggers": {"beforeCreate": {"functionUri": "http://127.0.0.1:1/x"}}}}
    call("PATCH", "/identitytoolkit.googleapis.com/v2/projects/demo/config?updateMask=blockingFunctions", away, OWNER)
    status, body = account("signUp", email="away@example.com", password="secret12")
    equal((status, body["error"]["message"]),
          (400, "BLOCKING_FUNCTION_ERROR_RESPONSE : ((Failed to make request to http://127.0.0.1:1/x.))"))
    configure()
    equal(account("signUp", email="away@example.com", password="secret12")[0], 200)


SERVER = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["WORKER_PORT"])), Worker)
threading.Thread(target=SERVER.serve_forever, daemon=True).start()
run(sys.modules[__name__], sys.argv[1:])
