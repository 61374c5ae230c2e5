"""firebase-admin, as it is, against a server: FIREBASE_AUTH_EMULATOR_HOST says where."""
import datetime
import json
import os
import random
import sys
import urllib.error
import urllib.request
import uuid

import firebase_admin
from firebase_admin import auth, exceptions

from cases import equal, expect, raises, run

HOST = os.environ["FIREBASE_AUTH_EMULATOR_HOST"]


def app():
    project = f"p-{uuid.uuid4().hex[:8]}"
    return firebase_admin.initialize_app(options={"projectId": project}, name=project)


def client(name, **body):
    """A call of a client of the default project, which the API key stands for."""
    url = f"http://{HOST}/identitytoolkit.googleapis.com/v1/{name}?key=key"
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.loads(response.read())
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{name}: {error.code} {error.read()}")


def default_app():
    """The app of the project that clients without a project reach."""
    name = "default"
    if name not in firebase_admin._apps:
        project = "demo"
        firebase_admin.initialize_app(options={"projectId": project}, name=name)
    return firebase_admin.get_app(name)


def case_users_are_made_found_changed_and_deleted():
    a = app()
    made = auth.create_user(uid="ada", email="Ada@example.com", password="secret", display_name="Ada", app=a)
    equal((made.uid, made.email, made.display_name, made.disabled), ("ada", "ada@example.com", "Ada", False))
    equal(auth.get_user_by_email("ada@example.com", app=a).uid, "ada")
    changed = auth.update_user(
        "ada", phone_number="+15550000001", photo_url="http://a/b.png", disabled=True, email_verified=True, app=a)
    equal((changed.phone_number, changed.disabled, changed.email_verified), ("+15550000001", True, True))
    equal(auth.get_user_by_phone_number("+15550000001", app=a).photo_url, "http://a/b.png")
    cleared = auth.update_user(
        "ada", display_name=auth.DELETE_ATTRIBUTE, phone_number=auth.DELETE_ATTRIBUTE, app=a)
    equal((cleared.display_name, cleared.phone_number), (None, None))
    auth.delete_user("ada", app=a)
    raises(auth.UserNotFoundError, lambda: auth.get_user("ada", app=a))
    raises(auth.UserNotFoundError, lambda: auth.delete_user("ada", app=a))


def case_errors_have_their_types():
    a = app()
    auth.create_user(uid="ada", email="a@b.c", phone_number="+15550000001", app=a)
    raises(auth.UidAlreadyExistsError, lambda: auth.create_user(uid="ada", app=a))
    raises(auth.EmailAlreadyExistsError, lambda: auth.create_user(email="a@b.c", app=a))
    raises(auth.PhoneNumberAlreadyExistsError, lambda: auth.create_user(phone_number="+15550000001", app=a))
    raises(auth.UserNotFoundError, lambda: auth.update_user("nobody", display_name="x", app=a))
    raises(exceptions.InvalidArgumentError, lambda: auth.verify_id_token("nonsense", app=a))


def case_claims_are_in_tokens():
    a = default_app()
    email = f"{uuid.uuid4().hex[:8]}@example.com"
    made = client("accounts:signUp", email=email, password="secret")
    uid = made["localId"]
    auth.set_custom_user_claims(uid, {"admin": True, "level": 3}, app=a)
    equal(auth.get_user(uid, app=a).custom_claims, {"admin": True, "level": 3})
    token = client("accounts:signInWithPassword", email=email, password="secret")["idToken"]
    claims = auth.verify_id_token(token, app=a)
    equal((claims["uid"], claims["admin"], claims["level"]), (uid, True, 3))
    equal(auth.verify_id_token(token, app=a, check_revoked=True)["uid"], uid)
    auth.set_custom_user_claims(uid, None, app=a)
    equal(auth.get_user(uid, app=a).custom_claims, None)


def case_custom_tokens_sign_in():
    a = default_app()
    uid = f"u-{uuid.uuid4().hex[:8]}"
    token = auth.create_custom_token(uid, {"role": "x"}, app=a).decode()
    signed_in = client("accounts:signInWithCustomToken", token=token, returnSecureToken=True)
    claims = auth.verify_id_token(signed_in["idToken"], app=a)
    equal((claims["uid"], claims["role"]), (uid, "x"))
    equal(auth.get_user(uid, app=a).uid, uid)


def case_revoked_and_disabled_users_are_told():
    a = default_app()
    email = f"{uuid.uuid4().hex[:8]}@example.com"
    made = client("accounts:signUp", email=email, password="secret")
    cookie = auth.create_session_cookie(made["idToken"], datetime.timedelta(minutes=10), app=a)
    cookie = cookie if isinstance(cookie, str) else cookie.decode()
    equal(auth.verify_session_cookie(cookie, app=a)["uid"], made["localId"])
    auth.update_user(made["localId"], disabled=True, app=a)
    raises(auth.UserDisabledError, lambda: auth.verify_id_token(made["idToken"], app=a, check_revoked=True))
    auth.revoke_refresh_tokens(made["localId"], app=a)
    expect(auth.get_user(made["localId"], app=a).tokens_valid_after_timestamp > 0)


def case_many_users_are_listed_and_deleted():
    a = app()
    uids = sorted(f"u{number:02}" for number in range(25))
    for uid in uids:
        auth.create_user(uid=uid, email=f"{uid}@b.c", app=a)
    equal(sorted(user.uid for user in auth.list_users(max_results=7, app=a).iterate_all()), uids)
    page = auth.list_users(max_results=20, app=a)
    equal((len(page.users), page.has_next_page, len(page.get_next_page().users)), (20, True, 5))
    found = auth.get_users(
        [auth.UidIdentifier("u01"), auth.EmailIdentifier("u02@b.c"), auth.UidIdentifier("none")], app=a)
    equal((sorted(user.uid for user in found.users), len(found.not_found)), (["u01", "u02"], 1))
    result = auth.delete_users(uids[:10] + ["none"], app=a)
    equal((result.success_count, result.failure_count), (11, 0))
    equal(len(auth.list_users(app=a).users), 15)


def case_users_are_imported():
    a = app()
    users = [
        auth.ImportUserRecord(uid="a", email="a@b.c", password_hash=b"x" * 32, password_salt=b"salt"),
        auth.ImportUserRecord(
            uid="b", email="b@b.c", custom_claims={"k": 1}, provider_data=[auth.UserProvider("1", "google.com")]),
    ]
    result = auth.import_users(users, hash_alg=auth.UserImportHash.pbkdf2_sha256(rounds=100), app=a)
    equal((result.success_count, [error.reason for error in result.errors]), (2, []))
    equal(auth.get_user("b", app=a).custom_claims, {"k": 1})
    equal(auth.get_user("b", app=a).provider_data[0].provider_id, "google.com")


def case_links_are_made_for_owners():
    a = app()
    auth.create_user(email="a@b.c", password="secret", app=a)
    settings = auth.ActionCodeSettings(url="http://localhost/x", handle_code_in_app=True)
    link = auth.generate_password_reset_link("a@b.c", app=a)
    expect(link.startswith(f"http://{HOST}/emulator/action?mode=resetPassword"))
    with urllib.request.urlopen(f"{link}&newPassword=another%20one", timeout=60) as response:
        equal(response.status, 200)
    expect("mode=verifyEmail" in auth.generate_email_verification_link("a@b.c", app=a))
    expect("mode=signIn" in auth.generate_sign_in_with_email_link("a@b.c", settings, app=a))
    raises(auth.EmailNotFoundError, lambda: auth.generate_password_reset_link("none@b.c", app=a))


def local(method, path, body=None):
    """A call of a local test suite, without any credential."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{HOST}{path}", data, method=method)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


def case_local_test_suites_clear_configure_and_read_codes():
    a = default_app()
    root = f"/emulator/v1/projects/{a.project_id}"
    expect(local("GET", "/")["authEmulator"]["ready"])
    equal(local("DELETE", f"{root}/accounts"), {})
    for number in range(3):
        auth.create_user(email=f"u{number}@b.c", password="secret", app=a)
    client("accounts:sendOobCode", requestType="PASSWORD_RESET", email="u1@b.c")
    code = local("GET", f"{root}/oobCodes")["oobCodes"][-1]
    equal((code["email"], code["requestType"]), ("u1@b.c", "PASSWORD_RESET"))
    client("accounts:resetPassword", oobCode=code["oobCode"], newPassword="another")
    expect("idToken" in client("accounts:signInWithPassword", email="u1@b.c", password="another"))
    sent = client("accounts:sendVerificationCode", phoneNumber="+15550000009")
    text = local("GET", f"{root}/verificationCodes")["verificationCodes"][-1]
    equal(text["sessionInfo"], sent["sessionInfo"])
    signed_in = client("accounts:signInWithPhoneNumber", sessionInfo=text["sessionInfo"], code=text["code"])
    equal(signed_in["phoneNumber"], "+15550000009")
    changed = local("PATCH", f"{root}/config", {"signIn": {"allowDuplicateEmails": False}})
    equal(changed["signIn"], {"allowDuplicateEmails": False})
    equal(local("DELETE", f"{root}/accounts"), {})
    equal(auth.list_users(app=a).users, [])


def case_local_test_suites_are_not_throttled():
    client("accounts:signUp", email="often@b.c", password="secret")
    for _ in range(40):
        client("accounts:sendVerificationCode", phoneNumber="+15550000010")
        client("accounts:sendOobCode", requestType="PASSWORD_RESET", email="often@b.c")
    for number in range(130):
        email = "often@b.c" if number < 12 else f"no{number}@b.c"
        refused = raises(AssertionError, lambda: client("accounts:signInWithPassword", email=email, password="wrong"))
        expect("TOO_MANY_ATTEMPTS" not in str(refused), f"{number}: {refused}")
    expect("idToken" in client("accounts:signInWithPassword", email="often@b.c", password="secret"))


def case_hostile_requests_are_refused():
    random_source = random.Random(7)
    paths = [
        "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", "/identitytoolkit.googleapis.com/v1/accounts:update?key=k",
        "/identitytoolkit.googleapis.com/v1/accounts:signInWithIdp?key=k", "/securetoken.googleapis.com/v1/token?key=k",
        "/identitytoolkit.googleapis.com/v1/projects/hostile/accounts:batchCreate",
        "/identitytoolkit.googleapis.com/v2/projects/hostile/tenants", "/emulator/v1/projects/hostile/config",
    ]
    bodies = [
        b"{}", b"[" * 100_000, b'{"email":', b"\xff\xfe", b"null", b'{"users":[{"localId":1}]}', b'{"idToken":{}}',
        b'{"email":"a@b.c","password":' + b'"x"' + b"}", b'{"postBody":"%zz","requestUri":"x"}', b"grant_type=%zz",
        b'{"email":"' + b"a" * 70_000 + b'@b.c","password":"secret"}',
    ]
    seen = set()
    for _ in range(1_500):
        body = bytearray(random_source.choice(bodies))
        for _ in range(random_source.randrange(3)):
            body[random_source.randrange(len(body))] = random_source.randrange(256)
        headers = random_source.choice([{}, {"Authorization": "Bearer owner"}, {"Authorization": "Bearer a.b."}])
        kind = random_source.choice(["application/json", "application/x-www-form-urlencoded", "text/plain"])
        request = urllib.request.Request(
            f"http://{HOST}{random_source.choice(paths)}", bytes(body), {**headers, "Content-Type": kind},
            method=random_source.choice(["POST", "POST", "PATCH", "GET", "DELETE"]))
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                status, text = response.status, response.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        seen.add(status)
        expect(status < 500, f"{request.full_url} {bytes(body)[:80]}: {status} {text}")
        expect(isinstance(json.loads(text), dict))
    expect(len(seen) > 2, seen)


if __name__ == "__main__":
    run(sys.modules[__name__], sys.argv[1:])
