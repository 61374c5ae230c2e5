"""Products together: users of Auth, made by firebase-admin and by sign-in, under the rules of Firestore."""
import json
import os
import sys
import urllib.error
import urllib.request

import firebase_admin
from firebase_admin import auth, credentials, firestore
from google.auth.credentials import AnonymousCredentials

from cases import equal, expect, run

AUTH = os.environ["FIREBASE_AUTH_EMULATOR_HOST"]
FIRESTORE = os.environ["FIRESTORE_EMULATOR_HOST"]
PROJECT = "together"
RULES = """rules_version = '2';
service cloud.firestore { match /databases/{d}/documents { match /users/{id} {
  allow read, write: if request.auth.uid == id; allow read: if request.auth.token.admin == true; } } }"""


def call(method, url, body=None, token=None):
    fields = {"Content-Type": "application/json"}
    if token:
        fields["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, fields, method=method), timeout=60) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def sign_in(call_name, body):
    url = f"http://{AUTH}/identitytoolkit.googleapis.com/v1/accounts:{call_name}?key=any"
    status, answer = call("POST", url, {**body, "returnSecureToken": True})
    equal((status, answer if status != 200 else {}), (200, {}))
    return answer


def document(name):
    return f"http://{FIRESTORE}/v1/projects/{PROJECT}/databases/(default)/documents/users/{name}"


class Nobody(credentials.Base):
    def get_credential(self):
        return AnonymousCredentials()


firebase_admin.initialize_app(Nobody(), {"projectId": PROJECT})


def case_users_reach_what_is_theirs():
    place = f"http://{FIRESTORE}/emulator/v1/projects/{PROJECT}:securityRules"
    equal(call("PUT", place, {"rules": {"files": [{"content": RULES}]}})[0], 200)
    ada = auth.create_user(email="ada@example.com", password="correct horse")
    equal(auth.get_user_by_email("ada@example.com").uid, ada.uid)
    signed = sign_in("signInWithPassword", {"email": "ada@example.com", "password": "correct horse"})
    grace = sign_in("signUp", {"email": "grace@example.com", "password": "battery staple"})
    equal(call("PATCH", document(ada.uid), {}, signed["idToken"])[0], 200)
    equal(call("GET", document(ada.uid), token=signed["idToken"])[0], 200)
    equal(call("GET", document(ada.uid), token=grace["idToken"])[0], 403)
    equal(call("GET", document(ada.uid))[0], 403)
    # A claim that the owner of the project gives.
    auth.set_custom_user_claims(grace["localId"], {"admin": True})
    again = sign_in("signInWithPassword", {"email": "grace@example.com", "password": "battery staple"})
    equal(call("GET", document(ada.uid), token=again["idToken"])[0], 200)
    equal(auth.verify_id_token(again["idToken"])["uid"], grace["localId"])
    # Programs of the owner's go by no rules.
    equal(firestore.client().document(f"users/{ada.uid}").get().exists, True)


if __name__ == "__main__":
    run(sys.modules[__name__], sys.argv[1:])
