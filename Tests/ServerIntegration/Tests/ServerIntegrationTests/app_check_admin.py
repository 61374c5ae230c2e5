"""firebase-admin's App Check, as it is, against a server: VESTA_HOST says where."""
import json
import os
import sys
import urllib.error
import urllib.request

import firebase_admin
from firebase_admin import app_check, credentials
from google.oauth2.credentials import Credentials
from requests.adapters import HTTPAdapter

from cases import equal, expect, raises, run

HOST = os.environ["VESTA_HOST"]
APP = "1:2:web:3"


class Owner(credentials.Base):
    def get_credential(self):
        return Credentials(token="owner")


class Redirected(HTTPAdapter):
    """Sends to the server what is meant for Google: the SDK has no setting for it."""

    def send(self, request, **settings):
        request.url = request.url.replace("https://firebaseappcheck.googleapis.com", f"http://{HOST}")
        return super().send(request, **settings)


# The keys are fetched by another client than the rest.
app_check._AppCheckService._JWKS_URL = f"http://{HOST}/v1/jwks"
app = firebase_admin.initialize_app(Owner(), {"projectId": "demo"})
app_check._get_app_check_service(app)._http_client.session.mount("https://firebaseappcheck.googleapis.com", Redirected())


def call(path, body, fields=None):
    request = urllib.request.Request(f"http://{HOST}{path}", json.dumps(body).encode(),
                                     {"Content-Type": "application/json", **(fields or {})}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def exchange():
    secret = "11111111-2222-4333-8444-555555555555"
    status, answer = call(f"/v1/projects/demo/apps/{APP}:exchangeDebugToken?key=any", {"debug_token": secret})
    equal((status, answer["ttl"]), (200, "3600s"))
    return answer["token"]


def case_a_token_is_verified_by_the_keys_of_the_server():
    claims = app_check.verify_token(exchange())
    equal(claims["app_id"], APP)
    expect("projects/demo" in claims["aud"])


def case_a_token_is_consumed_once():
    token = exchange()
    equal([app_check.verify_token(token, consume=True)["already_consumed"] for _ in range(3)], [False, True, True])


def case_a_token_that_was_changed_is_refused():
    head, claims, signature = exchange().split(".")
    raises(ValueError, lambda: app_check.verify_token(f"{head}.{claims}.{signature[:-8]}AAAAAAAA"))
    equal(call("/v1/projects/demo:verifyAppCheckToken", {"app_check_token": f"{head}.{claims}."})[0], 401)


def case_what_is_no_proof_gives_no_token():
    equal(call(f"/v1/projects/demo/apps/{APP}:exchangeDebugToken", {"debug_token": "short"})[0], 403)
    equal(call(f"/v1/projects/demo/apps/{APP}:exchangeCustomToken", {"custom_token": "a.b.c"})[0], 403)
    equal(call(f"/v1/projects/demo/apps/{APP}:exchangeDebugToken", {})[0], 400)


def case_products_serve_calls_with_tokens_good_and_bad():
    for token in (exchange(), "bad"):
        body = {"appId": APP, "appInstanceId": "abcdefghijklmnopqrstuv", "sdkVersion": "1"}
        path = "/v1/projects/demo/namespaces/firebase:fetch?key=any"
        equal(call(path, body, {"X-Firebase-AppCheck": token})[0], 200)


run(sys.modules[__name__], sys.argv[1:])
