"""firebase-admin's Messaging, as it is, and the requests of clients, against a server: VESTA_HOST says where."""
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

import firebase_admin
from firebase_admin import credentials, exceptions, messaging
from google.oauth2.credentials import Credentials
from requests.adapters import HTTPAdapter

from cases import equal, expect, raises, run
from push_service import Browser

HOST = os.environ["VESTA_HOST"]
PROJECT = "demo"


class Owner(credentials.Base):
    def get_credential(self):
        return Credentials(token="owner")


class Redirected(HTTPAdapter):
    """Sends to the server what is meant for Google: the SDK has no setting for it."""

    def send(self, request, **settings):
        request.url = request.url.replace("https://fcm.googleapis.com", f"http://{HOST}")
        return super().send(request, **settings)


BROWSER = Browser()
# Messages to this subscription wait.
BROWSER.busy.add("/1")
app = firebase_admin.initialize_app(Owner(), {"projectId": PROJECT})
messaging._get_messaging_service(app)._client.session.mount("https://fcm.googleapis.com", Redirected())


def call(method, path, body=None, fields=None):
    headers = {"Content-Type": "application/json", "x-goog-api-key": "any", **(fields or {})}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{HOST}{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def install():
    status, made = call("POST", f"/v1/projects/{PROJECT}/installations",
                        {"appId": "1:2:web:3", "authVersion": "FIS_v2", "sdkVersion": "w:0.6.9"})
    equal(status, 200)
    return made


def register():
    made = install()
    web = BROWSER.subscription("1", call("GET", f"/v1/projects/{PROJECT}/webPushKey")[1]["vapidKey"])
    status, answer = call("POST", f"/v1/projects/{PROJECT}/registrations", web,
                          {"x-goog-firebase-installations-auth": f"FIS {made['authToken']['token']}"})
    equal((status, answer["name"]), (200, f"projects/{PROJECT}/registrations/{made['fid']}"))
    return made, answer["token"]


def sent():
    return call("GET", f"/emulator/v1/projects/{PROJECT}/messages")[1]["messages"]


def case_an_installation_gets_tokens_and_is_deleted():
    made = install()
    place = f"/v1/projects/{PROJECT}/installations/{made['fid']}"
    secret = {"Authorization": f"FIS_v2 {made['refreshToken']}"}
    status, token = call("POST", f"{place}/authTokens:generate", {"installation": {"sdkVersion": "w:1"}}, secret)
    equal((status, token["expiresIn"]), (200, "604800s"))
    equal(call("POST", f"{place}/authTokens:generate", {}, {"Authorization": "FIS_v2 no"})[0], 401)
    equal(call("DELETE", place, {}, secret)[0], 200)
    equal(call("POST", f"{place}/authTokens:generate", {}, secret)[0], 404)


def case_messages_are_sent_and_seen():
    made, token = register()
    message = messaging.Message(
        token=token, data={"a": "é"}, notification=messaging.Notification("title", "body"),
        android=messaging.AndroidConfig(ttl=3600, priority="high"),
        apns=messaging.APNSConfig(payload=messaging.APNSPayload(messaging.Aps(badge=1))),
        webpush=messaging.WebpushConfig(headers={"TTL": "60"}))
    name = messaging.send(message)
    expect(name.startswith(f"projects/{PROJECT}/messages/"))
    newest = sent()[0]
    equal((newest["name"], newest["message"]["data"], newest["isWaiting"]), (name, {"a": "é"}, True))
    before = len(sent())
    messaging.send(message, dry_run=True)
    equal(len(sent()), before)


def case_messages_reach_a_browser_encrypted():
    made = install()
    secret = {"x-goog-firebase-installations-auth": f"FIS {made['authToken']['token']}"}
    place = f"/v1/projects/{PROJECT}/registrations"
    key = call("GET", f"/v1/projects/{PROJECT}/webPushKey")[1]["vapidKey"]
    for other in [None, Browser().public]:
        status, answer = call("POST", place, BROWSER.subscription("own", other), secret)
        equal(status, 400)
        expect("use your own vapidKey" in answer["error"]["message"])
    status, answer = call("POST", place, BROWSER.subscription("own", key), secret)
    equal(status, 200)
    messaging.send(messaging.Message(
        token=answer["token"], data={"a": "é"}, notification=messaging.Notification("title", "body"),
        webpush=messaging.WebpushConfig(headers={"TTL": "60", "Urgency": "high"})))
    fields, payload = BROWSER.wait("/own")
    equal((payload["data"], payload["notification"]), ({"a": "é"}, {"title": "title", "body": "body"}))
    equal((fields["ttl"], fields["urgency"], fields["content-encoding"]), ("60", "high", "aes128gcm"))
    BROWSER.check_sender(fields["authorization"], key)
    BROWSER.gone.add("/own")
    messaging.send(messaging.Message(token=answer["token"], data={"a": "b"}))
    for _ in range(200):
        if call("GET", f"/iid/info/{answer['token']}", None, {"Authorization": "Bearer owner"})[0] == 404:
            return
        time.sleep(0.05)
    expect(False, "the registration is still there")


def case_errors_are_those_the_sdk_knows():
    gone = f"c{'x' * 21}:{'y' * 140}"
    raises(messaging.UnregisteredError, lambda: messaging.send(messaging.Message(token=gone)))
    raises(exceptions.InvalidArgumentError, lambda: messaging.send(messaging.Message(token="no token")))
    raises(exceptions.InvalidArgumentError,
           lambda: messaging.send(messaging.Message(topic="a", data={"x": "y" * 5000})))
    raises(exceptions.InvalidArgumentError, lambda: messaging.send(messaging.Message(condition="'a' in")))


def case_several_messages_are_answered_one_by_one():
    _, token = register()
    messages = [messaging.Message(token=token), messaging.Message(token="no"), messaging.Message(topic="news")]
    answer = messaging.send_each(messages)
    equal([one.success for one in answer.responses], [True, False, True])
    multicast = messaging.MulticastMessage(tokens=[token, "no"], data={"a": "b"})
    equal(messaging.send_each_for_multicast(multicast).success_count, 1)


def case_topics_are_managed():
    _, token = register()
    gone = f"c{'x' * 21}:{'y' * 140}"
    answer = messaging.subscribe_to_topic([token, gone], "/topics/sport")
    equal((answer.success_count, answer.failure_count, answer.errors[0].index), (1, 1, 1))
    status, info = call("GET", f"/iid/info/{token}?details=true", fields={"Authorization": "Bearer owner"})
    equal((status, list(info["rel"]["topics"])), (200, ["sport"]))
    equal(messaging.unsubscribe_from_topic(token, "sport").success_count, 1)
    body = {"to": "/topics/old", "registration_tokens": [token, "no"]}
    fields = {"Authorization": "Bearer owner", "access_token_auth": "true"}
    equal(call("POST", "/iid/v1:batchAdd", body, fields), (200, {"results": [{}, {"error": "INVALID_ARGUMENT"}]}))


def case_clients_of_vesta_receive_what_is_sent():
    _, token = register()
    connection = http.client.HTTPConnection(HOST, timeout=60)
    connection.request("POST", f"/v1/projects/{PROJECT}/registrations:connect", json.dumps({"token": token}),
                       {"Content-Type": "application/json"})
    response = connection.getresponse()
    name = messaging.send(messaging.Message(token=token, data={"text": "now"}))
    equal(response.readline(), b"event: delivery\n")
    delivery = json.loads(response.readline()[len("data: "):])
    equal((delivery["message"]["data"], f"projects/{PROJECT}/messages/{delivery['messageId']}"), ({"text": "now"}, name))
    body = {"token": token, "messageIds": [delivery["messageId"]]}
    equal(call("POST", f"/v1/projects/{PROJECT}/registrations:acknowledge", body)[0], 200)
    connection.close()


def case_owners_alone_send():
    body = {"message": {"topic": "news"}}
    equal(call("POST", f"/v1/projects/{PROJECT}/messages:send", body)[0], 403)
    equal(call("POST", f"/v1/projects/{PROJECT}/messages:send", body, {"Authorization": "Bearer a.b.c"})[0], 401)


if __name__ == "__main__":
    run(sys.modules[__name__], sys.argv[1:])
