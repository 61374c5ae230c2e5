"""The public calls of firebase-admin but those of accounts, at the servers of the emulators' variables and of VESTA_HOST."""
import asyncio
import json
import os
import sys
import threading
import urllib.error
import urllib.request
import uuid

import firebase_admin
from firebase_admin import app_check, credentials, db, exceptions, firestore, firestore_async
from firebase_admin import messaging, remote_config, storage
from google.oauth2.credentials import Credentials
from requests.adapters import HTTPAdapter

from cases import equal, eventually, expect, raises, run

HOST = os.environ["VESTA_HOST"]
DATABASE = os.environ["FIREBASE_DATABASE_EMULATOR_HOST"]
os.environ["STORAGE_EMULATOR_HOST"] = f"http://{os.environ['FIREBASE_STORAGE_EMULATOR_HOST']}"
GONE = f"c{'x' * 21}:{'y' * 140}"


class Owner(credentials.Base):
    def get_credential(self):
        return Credentials(token="owner")


class Redirected(HTTPAdapter):
    """Sends to the server what is meant for Google: the SDK has no setting for it."""

    def send(self, request, **settings):
        _, _, _, path = request.url.split("/", 3)
        request.url = f"http://{HOST}/{path}"
        return super().send(request, **settings)


def redirect(client):
    for name in ["fcm", "iid", "firebaseappcheck", "firebaseremoteconfig"]:
        client.session.mount(f"https://{name}.googleapis.com", Redirected())


app_check._AppCheckService._JWKS_URL = f"http://{HOST}/v1/jwks"
app = firebase_admin.initialize_app(Owner(), {
    "projectId": "demo", "databaseURL": f"http://{DATABASE}/?ns=demo-default-rtdb", "storageBucket": "demo.appspot.com",
    "databaseAuthVariableOverride": {"uid": "admin"}})
sender = messaging._get_messaging_service(app)
# The same for the client that sends asynchronously.
sender._fcm_url = f"http://{HOST}/v1/projects/demo/messages:send"
redirect(sender._client)
redirect(app_check._get_app_check_service(app)._http_client)


def call(method, path, body=None, fields=None):
    headers = {"Content-Type": "application/json", "x-goog-api-key": "any", **(fields or {})}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{HOST}{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


# Database


def fresh():
    return db.reference(f"/walk/{uuid.uuid4().hex}")


def case_references_know_where_they_are():
    ref = db.reference("/a/b")
    equal((ref.key, ref.path, ref.parent.path, ref.parent.parent.path), ("b", "/a/b", "/a", "/"))
    equal((db.reference().key, db.reference().parent, ref.child("c/d").path), (None, None, "/a/b/c/d"))
    other = db.reference("/x", url=f"http://{DATABASE}/?ns=other-{uuid.uuid4().hex}")
    other.set(1)
    equal((other.get(), db.reference("/x").get()), (1, None))


def case_values_of_every_kind_come_back():
    ref = fresh()
    value = {
        "text": "ü😀\"\\</script>\u2028\u0001", "empty": "", "yes": True, "no": False, "zero": 0, "negative": -7, "float": 0.1,
        "large": 9007199254740991, "small": 1e-300, "list": [1, "two", {"three": 3}], "deep": {"a": {"b": {"c": [[1]]}}},
        "key with spaces": 1, "ключ": 2, "a%2Fb": 3, "q?x=1&y=2": 4, "plus+plus": 5, "semi;colon,comma": 6,
    }
    ref.set(value)
    equal(ref.get(), value)
    for key, expected in [("key with spaces", 1), ("ключ", 2)]:
        equal(ref.child(key).get(), expected)
    for scalar in ["text", 0, 1.5, True, [1, 2], {"a": 1}]:
        ref.set(scalar)
        equal(ref.get(), scalar)
    ref.set([1, None, 3])
    equal(ref.get(), [1, None, 3])
    ref.set({"0": "a", "1": "b"})
    equal(ref.get(), ["a", "b"])
    ref.set({"0": "a", "9": "b"})
    equal(ref.get(), {"0": "a", "9": "b"})
    ref.set({})
    equal(ref.get(), None)
    raises(ValueError, lambda: ref.set(None))


def case_shallow_reads_and_pushes():
    ref = fresh()
    keys = [ref.push({"n": number}).key for number in range(5)]
    equal(keys, sorted(keys))
    equal([len(key) for key in keys], [20] * 5)
    equal(ref.get(shallow=True), {key: True for key in keys})
    equal(ref.child(f"{keys[0]}/n").get(shallow=True), 0)
    equal(ref.push().get(), "")


def case_updates_change_several_places_at_once():
    ref = fresh()
    ref.set({"a": {"x": 1, "y": 2}, "b": 1})
    ref.update({"a/x": 10, "b": None, "c/d/e": [1]})
    equal(ref.get(), {"a": {"x": 10, "y": 2}, "c": {"d": {"e": [1]}}})
    raises(exceptions.InvalidArgumentError, lambda: ref.update({"a": 1, "a/x": 2}))
    raises(ValueError, lambda: ref.update({}))
    ref.child("a").delete()
    equal(ref.get(), {"c": {"d": {"e": [1]}}})


def case_tags_guard_reads_and_writes():
    ref = fresh()
    equal(ref.get(etag=True), (None, "null_etag"))
    equal(ref.set_if_unchanged("null_etag", {"n": 1})[0], True)
    value, tag = ref.get(etag=True)
    equal((value, ref.get_if_changed(tag)), ({"n": 1}, (False, None, None)))
    equal(ref.get_if_changed("other"), (True, {"n": 1}, tag))
    done, current, now = ref.set_if_unchanged("other", {"n": 2})
    equal((done, current, now), (False, {"n": 1}, tag))
    done, current, now = ref.set_if_unchanged(tag, {"n": 3})
    equal((done, current, now != tag), (True, {"n": 3}, True))
    ref.child("n").set(1)
    equal(ref.get(etag=True)[1], tag)


def case_transactions_are_repeated_until_they_fit():
    ref = fresh()
    seen = []

    def change(value):
        seen.append(value)
        if len(seen) == 1:
            ref.child("other").set(True)
        return {**(value or {}), "n": len(seen)}

    equal(ref.transaction(change), {"other": True, "n": 2})
    equal(seen, [None, {"other": True}])

    def always(value):
        ref.child("other").set(uuid.uuid4().hex)
        return value

    raises(db.TransactionAbortedError, lambda: ref.transaction(always))

    def stops(_):
        raise KeyError("stop")

    raises(KeyError, lambda: ref.transaction(stops))


def case_queries_have_orders_and_limits():
    rules = {"rules": {".read": True, ".write": True, "walk": {"$case": {
        ".indexOn": ["n", "deep/n", ".value"], ".read": True, ".write": True}}}}
    request = urllib.request.Request(
        f"http://{DATABASE}/.settings/rules.json?ns=demo-default-rtdb", json.dumps(rules).encode(),
        {"Authorization": "Bearer owner"}, method="PUT")
    equal(urllib.request.urlopen(request, timeout=60).status, 200)
    ref = fresh()
    ref.set({
        "a": {"n": 3, "deep": {"n": 1}}, "b": {"n": "text"}, "c": {"n": 1.5, "deep": {"n": 2}}, "d": {"n": True}, "e": {"n": False},
        "f": {"x": 1}, "g": {"n": {"object": 1}}, "h": {"n": 3}})

    def keys(query):
        return list(query.get() or {})

    by = ref.order_by_child("n")
    equal(keys(by), ["f", "e", "d", "c", "a", "h", "b", "g"])
    equal(keys(ref.order_by_child("n").start_at(2)), ["a", "h", "b", "g"])
    equal(keys(ref.order_by_child("n").end_at(1.5)), ["f", "e", "d", "c"])
    equal(keys(ref.order_by_child("n").equal_to(3)), ["a", "h"])
    equal(keys(ref.order_by_child("n").equal_to("text")), ["b"])
    equal(keys(ref.order_by_child("n").equal_to(True)), ["d"])
    equal(keys(ref.order_by_child("n").start_at(1).end_at(3).limit_to_first(2)), ["c", "a"])
    equal(keys(ref.order_by_child("n").limit_to_last(2)), ["b", "g"])
    equal(keys(ref.order_by_child("deep/n").limit_to_last(2)), ["a", "c"])
    equal(keys(ref.order_by_key().start_at("c").end_at("e")), ["c", "d", "e"])
    equal(keys(ref.order_by_key().equal_to("d")), ["d"])
    equal(keys(ref.order_by_key().limit_to_last(2)), ["g", "h"])
    equal(keys(ref.order_by_child("n").equal_to("none")), [])
    values = fresh()
    values.set({"x": 3, "y": "b", "z": 1, "w": False})
    equal(list(values.order_by_value().get().items()), [("w", False), ("z", 1), ("x", 3), ("y", "b")])
    equal(dict(values.order_by_value().limit_to_first(2).get()), {"w": False, "z": 1})
    equal(dict(values.order_by_value().start_at(1).end_at(3).get()), {"z": 1, "x": 3})
    ref.set({"10": "a", "9": "b", "x": "c", "-1": "d"})
    # The library sorts keys as strings, whatever the order of the response.
    equal(keys(ref.order_by_key()), ["-1", "10", "9", "x"])
    equal(keys(ref.order_by_key().limit_to_first(2)), ["-1", "9"])
    error = raises(exceptions.InvalidArgumentError, lambda: ref.order_by_child("none").get())
    expect("Index not defined" in str(error), str(error))


def case_listeners_are_told_of_every_change():
    ref = fresh()
    events, lock = [], threading.Lock()

    def told(event):
        with lock:
            events.append((event.event_type, event.path, event.data))

    registration = ref.listen(told)
    eventually(lambda: events == [("put", "/", None)])
    ref.set({"a": 1})
    ref.child("b c").set({"x": [1]})
    ref.update({"a": None, "d/e": 2})
    ref.delete()
    eventually(lambda: len(events) == 5)
    equal(events[1:], [("put", "/", {"a": 1}), ("put", "/b c", {"x": [1]}), ("patch", "/", {"a": None, "d/e": 2}), ("put", "/", None)])
    # The library closes a listener with its next event.
    closing = threading.Thread(target=registration.close)
    closing.start()
    eventually(lambda: ref.set(uuid.uuid4().hex) or not closing.is_alive())
    count = len(events)
    ref.set(1)
    equal(len(events), count)


def case_wrong_requests_of_the_tree_have_their_errors():
    ref = fresh()
    for call_ in [lambda: ref.set({"a.b": 1}), lambda: ref.set({"a": {"x#": 1}}), lambda: ref.set({"$a": 1}),
                  lambda: ref.set({"": 1}), lambda: ref.set({"a": {".sv": "no"}})]:
        equal(raises(exceptions.InvalidArgumentError, call_).http_response.status_code, 400)
    for path in ["a.b", "a#", "a$", "a[", "a]"]:
        raises(ValueError, lambda: db.reference(path))
    unknown = raises(exceptions.FirebaseError, lambda: db.reference("/" + "x" * 800).set(1))
    equal(unknown.code, exceptions.INVALID_ARGUMENT)


# Firestore and Storage


def case_the_clients_of_firestore_are_served():
    client = firestore.client()
    rooms = client.collection(f"walk-{uuid.uuid4().hex[:8]}")
    ref = rooms.document()
    ref.set({"at": firestore.SERVER_TIMESTAMP, "list": firestore.ArrayUnion([1, 2])})
    snapshot = ref.get()
    expect(snapshot.get("at") >= snapshot.create_time.replace(microsecond=0) and snapshot.get("list") == [1, 2])
    equal([one.id for one in rooms.where(filter=firestore.FieldFilter("list", "array_contains", 1)).stream()], [ref.id])
    named = firestore.client(database_id=f"walk-{uuid.uuid4().hex[:8]}")
    equal(named.document(ref.path).get().exists, False)
    named.document("a/b").set({"x": 1})
    equal((named.document("a/b").get().to_dict(), client.document("a/b").get().exists), ({"x": 1}, False))

    async def later():
        own = firestore_async.client()
        await own.document(ref.path).update({"x": 1})
        return (await own.document(ref.path).get()).get("x")

    equal(asyncio.run(later()), 1)
    ref.delete()


def case_buckets_are_served():
    bucket = storage.bucket()
    equal((bucket.name, storage.bucket("other.appspot.com").name), ("demo.appspot.com", "other.appspot.com"))
    blob = bucket.blob(f"walk/{uuid.uuid4().hex} ü.txt")
    blob.upload_from_string("content", content_type="text/plain")
    equal((blob.download_as_text(), blob.exists(), bucket.get_blob(blob.name).size), ("content", True, 7))
    equal([one.name for one in bucket.list_blobs(prefix=blob.name)], [blob.name])
    blob.delete()
    equal(blob.exists(), False)


# Messaging


def register():
    body = {"appId": "1:2:web:3", "authVersion": "FIS_v2", "sdkVersion": "w:0.6.9"}
    status, made = call("POST", "/v1/projects/demo/installations", body)
    equal(status, 200)
    key = call("GET", "/v1/projects/demo/webPushKey")[1]["vapidKey"]
    web = {"web": {"endpoint": "https://fcm.googleapis.com/fcm/send/x", "applicationPubKey": key,
                   "p256dh": "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM",
                   "auth": "tBHItJI5svbpez7KI4CCXg"}}
    status, answer = call("POST", "/v1/projects/demo/registrations", web,
                          {"x-goog-firebase-installations-auth": f"FIS {made['authToken']['token']}"})
    equal((status, answer if status != 200 else None), (200, None))
    return made["fid"], answer["token"]


def everything(**target):
    """A message with every option that the library has."""
    light = messaging.LightSettings(color="#aabbcc", light_on_duration_millis=200, light_off_duration_millis=300)
    android = messaging.AndroidNotification(
        title="t", body="b", icon="i", color="#112233", sound="s", tag="g", click_action="c", body_loc_key="bk",
        body_loc_args=["1"], title_loc_key="tk", title_loc_args=["2"], channel_id="ch", image="https://a.example/i.png",
        ticker="tick", sticky=True, local_only=True, priority="high", vibrate_timings_millis=[100, 250],
        default_vibrate_timings=False, default_sound=True, light_settings=light, default_light_settings=False,
        visibility="public", notification_count=3)
    aps = messaging.Aps(
        alert=messaging.ApsAlert(title="t", subtitle="s", body="b", loc_key="l", loc_args=["1"], title_loc_key="tl",
                                 title_loc_args=["2"], action_loc_key="a", launch_image="i", custom_data={"x": 1}),
        badge=2, sound=messaging.CriticalSound("s", critical=True, volume=0.5), content_available=True, category="c", thread_id="th",
        mutable_content=True, custom_data={"y": [1]})
    web = messaging.WebpushNotification(
        title="t", body="b", icon="i", actions=[messaging.WebpushNotificationAction("a", "A", "i")], badge="b", data={"k": 1},
        direction="rtl", image="i", language="en", renotify=True, require_interaction=True, silent=False, tag="g",
        timestamp_millis=100, vibrate=[100], custom_data={"z": 1})
    return messaging.Message(
        data={"k": "v"}, notification=messaging.Notification("t", "b", "https://a.example/i.png"),
        android=messaging.AndroidConfig(
            collapse_key="k", priority="high", ttl=3600.5, restricted_package_name="com.example", data={"a": "1"},
            notification=android, fcm_options=messaging.AndroidFCMOptions("label"), direct_boot_ok=True),
        apns=messaging.APNSConfig(headers={"apns-priority": "10"}, payload=messaging.APNSPayload(aps, extra="x"),
                                  fcm_options=messaging.APNSFCMOptions("label", "https://a.example/i.png")),
        webpush=messaging.WebpushConfig(headers={"TTL": "60"}, data={"w": "1"}, notification=web,
                                        fcm_options=messaging.WebpushFCMOptions("https://a.example/")),
        fcm_options=messaging.FCMOptions("label"), **target)


def case_messages_with_every_option_are_sent():
    for target in [{"topic": "walk"}, {"condition": "'a' in topics && ('b' in topics || 'c' in topics)"}, {"token": register()[1]}, {"fid": register()[0]}]:
        message = everything(**target)
        name = messaging.send(message)
        expect(name.startswith("projects/demo/messages/"), name)
        newest = call("GET", "/emulator/v1/projects/demo/messages")[1]["messages"][0]
        equal(newest["name"], name)
        sent = messaging._MessagingService.encode_message(message)
        for part in ["data", "notification", "apns", "webpush", "fcm_options"]:
            kept = newest["message"].get(part, newest["message"].get("fcmOptions" if part == "fcm_options" else part))
            expect(kept, f"{part} of {newest['message']}")
        equal(newest["message"]["data"], sent["data"])
        equal(newest["message"]["apns"]["payload"], sent["apns"]["payload"])
        expect(messaging.send(message, dry_run=True).startswith("projects/demo/messages/"))


def case_errors_of_messages_have_their_types():
    for target, kind in [
        ({"token": GONE}, messaging.UnregisteredError), ({"token": "no token"}, exceptions.InvalidArgumentError),
        ({"topic": "a", "data": {"x": "y" * 5000}}, exceptions.InvalidArgumentError),
        ({"topic": "a", "data": {"from": "x"}}, exceptions.InvalidArgumentError),
        ({"condition": "'a' in"}, exceptions.InvalidArgumentError),
    ]:
        for dry in [False, True]:
            raises(kind, lambda: messaging.send(messaging.Message(**target), dry_run=dry))
    error = raises(messaging.UnregisteredError, lambda: messaging.send(messaging.Message(token=GONE)))
    equal((error.code, error.http_response.status_code), (exceptions.NOT_FOUND, 404))


async def sent_at_once(batch):
    return await messaging.send_each_async(batch)


def case_several_messages_are_answered_each():
    fid, token = register()
    batch = [messaging.Message(token=token), messaging.Message(token="no"), messaging.Message(token=GONE), messaging.Message(topic="a")]
    for dry in [False, True]:
        answer = messaging.send_each(batch, dry_run=dry)
        equal([one.success for one in answer.responses], [True, False, False, True])
        equal((answer.success_count, answer.failure_count), (2, 2))
        expect(isinstance(answer.responses[2].exception, messaging.UnregisteredError))
        expect(answer.responses[0].message_id.startswith("projects/demo/messages/"))
    multicast = messaging.MulticastMessage(tokens=[token, GONE], notification=messaging.Notification("t", "b"))
    answer = messaging.send_each_for_multicast(multicast)
    equal([one.success for one in answer.responses], [True, False])
    multicast = messaging.MulticastMessage(fids=[fid, "x" * 22], data={"a": "b"})
    equal([one.success for one in messaging.send_each_for_multicast(multicast).responses], [True, False])
    equal([one.success for one in asyncio.run(sent_at_once(batch)).responses], [True, False, False, True])
    many = messaging.send_each([messaging.Message(topic=f"t{number}") for number in range(500)])
    equal(many.success_count, 500)


def topics(token):
    status, info = call("GET", f"/iid/info/{token}?details=true", None, {"Authorization": "Bearer owner"})
    equal(status, 200)
    return sorted(info.get("rel", {}).get("topics", {}))


def case_topics_have_subscribers():
    first, second = register()[1], register()[1]
    name = f"walk-{uuid.uuid4().hex[:6]}.~%25x"
    answer = messaging.subscribe_to_topic([first, second, GONE], f"/topics/{name}")
    equal((answer.success_count, answer.failure_count), (2, 1))
    equal([(one.index, one.reason) for one in answer.errors][0][0], 2)
    equal((topics(first), topics(second)), ([name], [name]))
    equal(messaging.subscribe_to_topic(first, name).success_count, 1)
    answer = messaging.unsubscribe_from_topic([first, "no"], name)
    equal((answer.success_count, topics(first), topics(second)), (1, [], [name]))
    equal(messaging.unsubscribe_from_topic(first, name).success_count, 1)
    answer = messaging.subscribe_to_topic_legacy([first, GONE], "old")
    equal((answer.success_count, answer.failure_count, topics(first)), (1, 1, ["old"]))
    equal(answer.errors[0].reason, "NOT_FOUND")
    equal(messaging.unsubscribe_from_topic_legacy([first], "old").success_count, 1)
    equal(topics(first), [])
    raises(ValueError, lambda: messaging.subscribe_to_topic([], "x"))


# App Check, Remote Config


def exchanged():
    secret = "11111111-2222-4333-8444-555555555555"
    status, answer = call("POST", "/v1/projects/demo/apps/1:2:web:3:exchangeDebugToken?key=any", {"debug_token": secret})
    equal(status, 200)
    return answer["token"]


def case_app_check_tokens_are_verified():
    token = exchanged()
    claims = app_check.verify_token(token)
    equal((claims["app_id"], claims["sub"]), ("1:2:web:3", "1:2:web:3"))
    expect("already_consumed" not in claims and "projects/demo" in claims["aud"])
    expect(claims["iss"].startswith("https://firebaseappcheck.googleapis.com/"))
    equal([app_check.verify_token(token, consume=True)["already_consumed"] for _ in range(2)], [False, True])
    head, body, signature = token.split(".")
    raises(ValueError, lambda: app_check.verify_token(f"{head}.{body}.{signature[:-6]}AAAAAA"))
    raises(ValueError, lambda: app_check.verify_token("a.b"))


def publish(template):
    status, answer = call("PUT", "/v1/projects/demo/namespaces/firebase-server/serverRemoteConfig", template,
                          {"Authorization": "Bearer owner", "If-Match": "*"})
    equal((status, answer if status != 200 else None), (200, None))


async def loaded(defaults=None):
    template = remote_config.ServerTemplate(app, defaults)
    redirect(template._rc_service._client)
    await template.load()
    return template


def case_templates_of_servers_are_loaded():
    publish({
        "conditions": [
            {"name": "always", "condition": {"orCondition": {"conditions": [{"andCondition": {"conditions": [{"true": {}}]}}]}}},
            {"name": "half", "condition": {"orCondition": {"conditions": [{"andCondition": {"conditions": [{"percent": {
                "percentOperator": "BETWEEN", "seed": "s", "microPercentRange": {
                    "microPercentLowerBound": 0, "microPercentUpperBound": 100_000_000}}}]}}]}}},
            {"name": "signal", "condition": {"orCondition": {"conditions": [{"andCondition": {"conditions": [{"customSignal": {
                "customSignalOperator": "STRING_CONTAINS", "customSignalKey": "tier", "targetCustomSignalValues": ["gold"]}}]}}]}}},
        ],
        "parameters": {
            "text": {"defaultValue": {"value": "plain"}, "conditionalValues": {"always": {"value": "rich"}}, "valueType": "STRING"},
            "number": {"defaultValue": {"value": "7"}, "conditionalValues": {"signal": {"value": "8"}}, "valueType": "NUMBER"},
            "flag": {"defaultValue": {"value": "true"}, "conditionalValues": {"half": {"value": "false"}}, "valueType": "BOOLEAN"},
            "own": {"defaultValue": {"useInAppDefault": True}},
        },
    })
    template = asyncio.run(loaded({"own": "mine", "other": 1.5}))
    config = template.evaluate({"randomization_id": "x", "tier": "a gold one"})
    equal((config.get_string("text"), config.get_int("number"), config.get_boolean("flag")), ("rich", 8, False))
    equal((config.get_string("own"), config.get_float("other")), ("mine", 1.5))
    equal((config.get_value_source("text"), config.get_value_source("own"), config.get_value_source("none")),
          ("remote", "default", "static"))
    plain = template.evaluate({"tier": "silver"})
    equal((plain.get_int("number"), plain.get_boolean("flag")), (7, True))
    kept = json.loads(template.to_json())
    expect(kept["etag"] and kept["version"]["versionNumber"], kept)
    again = remote_config.init_server_template(app, {}, template.to_json())
    equal(again.evaluate({"tier": "gold"}).get_int("number"), 8)


if __name__ == "__main__":
    run(sys.modules[__name__], sys.argv[1:])
