"""The public calls of firebase_admin.auth and firebase_admin.tenant_mgt, at the server of FIREBASE_AUTH_EMULATOR_HOST."""
import base64
import datetime
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

import firebase_admin
from firebase_admin import auth, credentials, exceptions, tenant_mgt
from google.oauth2.credentials import Credentials
from requests.adapters import HTTPAdapter

from cases import equal, expect, raises, run

HOST = os.environ["FIREBASE_AUTH_EMULATOR_HOST"]
API = f"http://{HOST}/identitytoolkit.googleapis.com"
# The API keys of the server all stand for this project.
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"


class Owner(credentials.Base):
    def get_credential(self):
        return Credentials(token="owner")


class Redirected(HTTPAdapter):
    """Sends to the server the calls of tenants: the SDK has no setting for them."""

    def send(self, request, **settings):
        request.url = request.url.replace("https://identitytoolkit.googleapis.com", API)
        return super().send(request, **settings)


def started(project, name):
    app = firebase_admin.initialize_app(Owner(), {"projectId": project}, name)
    tenant_mgt._get_tenant_mgt_service(app).client.session.mount("https://identitytoolkit.googleapis.com", Redirected())
    return app


app = started("demo", firebase_admin._DEFAULT_APP_NAME)


def email():
    return f"{uuid.uuid4().hex}@example.com"


def phone():
    return f"+1555{uuid.uuid4().int % 10**7:07}"


def separate():
    """An app with a project that no other case uses."""
    project = f"walk-{uuid.uuid4().hex[:8]}"
    return started(project, project)


def post(path, body, owner=False):
    fields = {"Content-Type": "application/json"}
    if owner:
        fields["Authorization"] = "Bearer owner"
    request = urllib.request.Request(f"{API}{path}", json.dumps(body).encode(), fields, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return 200, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def client(name, **body):
    """A call of an app, which succeeds."""
    status, answer = post(f"/v1/accounts:{name}?key=key", body)
    equal((status, answer if status != 200 else None), (200, None))
    return answer


def sign_in(address, password, **more):
    return client("signInWithPassword", email=address, password=password, returnSecureToken=True, **more)


# Users


def case_a_user_has_every_property():
    address, number = email(), phone()
    before = int(time.time() * 1000) - 5_000
    made = auth.create_user(
        uid=uuid.uuid4().hex, email=address, email_verified=True, phone_number=number, password="secret",
        display_name="Ada 😀", photo_url="http://example.com/ada.png", disabled=False)
    equal((made.email, made.email_verified, made.phone_number), (address, True, number))
    equal((made.display_name, made.photo_url, made.disabled), ("Ada 😀", "http://example.com/ada.png", False))
    equal((made.provider_id, made.tenant_id, made.custom_claims), ("firebase", None, None))
    expect(made.user_metadata.creation_timestamp > before, made.user_metadata.creation_timestamp)
    equal((made.user_metadata.last_sign_in_timestamp, made.user_metadata.last_refresh_timestamp), (None, None))
    providers = {one.provider_id: one for one in made.provider_data}
    equal(sorted(providers), ["password", "phone"])
    equal((providers["password"].uid, providers["password"].email), (address, address))
    equal((providers["password"].display_name, providers["phone"].uid), ("Ada 😀", number))
    equal(providers["phone"].phone_number, number)
    for found in [auth.get_user(made.uid), auth.get_user_by_email(address.upper()), auth.get_user_by_phone_number(number)]:
        equal(found._data, made._data)
    sign_in(address, "secret")
    after = auth.get_user(made.uid).user_metadata
    expect(after.last_sign_in_timestamp >= after.creation_timestamp)
    expect(after.last_refresh_timestamp and abs(after.last_refresh_timestamp - after.last_sign_in_timestamp) < 60_000)


def case_the_smallest_user_has_defaults():
    made = auth.create_user()
    equal(len(made.uid), 28)
    equal((made.email, made.phone_number, made.display_name, made.photo_url), (None, None, None, None))
    equal((made.email_verified, made.disabled, made.provider_data), (False, False, []))


def case_users_are_changed_in_every_property():
    made = auth.create_user(email=email(), password="secret", display_name="Ada", photo_url="http://a.example/b.png")
    address, number = email(), phone()
    changed = auth.update_user(
        made.uid, email=address, email_verified=True, phone_number=number, password="another", display_name="Grace",
        photo_url="http://a.example/c.png", disabled=False, custom_claims={"level": 1})
    equal((changed.email, changed.email_verified, changed.phone_number), (address, True, number))
    equal((changed.display_name, changed.photo_url, changed.custom_claims), ("Grace", "http://a.example/c.png", {"level": 1}))
    sign_in(address, "another")
    cleared = auth.update_user(
        made.uid, display_name=auth.DELETE_ATTRIBUTE, photo_url=auth.DELETE_ATTRIBUTE,
        phone_number=auth.DELETE_ATTRIBUTE, custom_claims=auth.DELETE_ATTRIBUTE)
    equal((cleared.display_name, cleared.photo_url, cleared.phone_number), (None, None, None))
    equal((cleared.custom_claims, [one.provider_id for one in cleared.provider_data]), (None, ["password"]))
    # A new e-mail address without a word about it is not verified.
    equal(auth.update_user(made.uid, email=email()).email_verified, False)
    unlinked = auth.update_user(made.uid, providers_to_delete=["password"])
    equal([one.provider_id for one in unlinked.provider_data], [])


def case_providers_are_linked_and_found():
    made = auth.create_user(email=email())
    raw = uuid.uuid4().hex
    body = {"localId": made.uid, "linkProviderUserInfo": {
        "providerId": "google.com", "rawId": raw, "displayName": "G", "email": "g@example.com", "photoUrl": "http://g.example/p"}}
    equal(post("/v1/projects/demo/accounts:update", body, owner=True)[0], 200)
    linked = [one for one in auth.get_user(made.uid).provider_data if one.provider_id == "google.com"][0]
    equal((linked.uid, linked.display_name, linked.email, linked.photo_url), (raw, "G", "g@example.com", "http://g.example/p"))
    number, address = phone(), email()
    by_phone, by_email = auth.create_user(phone_number=number), auth.create_user(email=address)
    found = auth.get_users([
        auth.UidIdentifier(made.uid), auth.EmailIdentifier(address), auth.PhoneIdentifier(number),
        auth.ProviderIdentifier("google.com", raw), auth.UidIdentifier("none"), auth.ProviderIdentifier("google.com", "none")])
    equal({one.uid for one in found.users}, {made.uid, by_phone.uid, by_email.uid})
    equal(len(found.not_found), 2)
    equal(auth.get_users([]).users, [])
    equal(auth.get_users([auth.UidIdentifier("none")]).users, [])
    auth.update_user(made.uid, providers_to_delete=["google.com"])
    equal(auth.get_users([auth.ProviderIdentifier("google.com", raw)]).users, [])


def case_errors_are_those_of_the_library():
    address, number, uid = email(), phone(), uuid.uuid4().hex
    auth.create_user(uid=uid, email=address, phone_number=number)
    other = auth.create_user()
    for kind, options in [
        (auth.UidAlreadyExistsError, {"uid": uid}), (auth.EmailAlreadyExistsError, {"email": address}),
        (auth.PhoneNumberAlreadyExistsError, {"phone_number": number}),
    ]:
        error = raises(kind, lambda: auth.create_user(**options))
        equal((error.code, error.http_response.status_code), (exceptions.ALREADY_EXISTS, 400))
    raises(auth.EmailAlreadyExistsError, lambda: auth.update_user(other.uid, email=address))
    raises(auth.PhoneNumberAlreadyExistsError, lambda: auth.update_user(other.uid, phone_number=number))
    for call in [
        lambda: auth.get_user("none"), lambda: auth.get_user_by_email(email()), lambda: auth.get_user_by_phone_number(phone()),
        lambda: auth.update_user("none", display_name="x"), lambda: auth.delete_user("none"),
        lambda: auth.set_custom_user_claims("none", {"a": 1}), lambda: auth.revoke_refresh_tokens("none"),
    ]:
        equal(raises(auth.UserNotFoundError, call).code, exceptions.NOT_FOUND)


def case_lists_have_pages():
    a = separate()
    equal((auth.list_users(app=a).users, auth.list_users(app=a).has_next_page), ([], False))
    uids = sorted(uuid.uuid4().hex for _ in range(23))
    for uid in uids:
        auth.create_user(uid=uid, email=f"{uid}@example.com", password="secret", app=a)
    page, sizes, seen = auth.list_users(max_results=10, app=a), [], []
    while page:
        sizes.append(len(page.users))
        seen += [one.uid for one in page.users]
        page = page.get_next_page() if page.has_next_page else None
    equal((sizes[:2], sorted(seen)), ([10, 10], uids))
    equal(sorted(one.uid for one in auth.list_users(max_results=4, app=a).iterate_all()), uids)
    record = auth.list_users(app=a).users[0]
    expect(record.password_hash and record.password_salt)
    token = auth.list_users(max_results=10, app=a).next_page_token
    equal([one.uid for one in auth.list_users(page_token=token, app=a).users], seen[10:])
    result = auth.delete_users(uids[:5] + ["none"], app=a)
    equal((result.success_count, result.failure_count, result.errors), (6, 0, []))
    equal(len(auth.list_users(app=a).users), 18)
    equal(auth.delete_users([], app=a).success_count, 0)


# Imports


def hashes(password, salt, key):
    """The algorithms, each with the hash of a password by Python's own functions."""
    salted = salt + password
    yield auth.UserImportHash.hmac_sha512(key), lambda: hmac.digest(key, salted, "sha512")
    yield auth.UserImportHash.hmac_sha256(key), lambda: hmac.digest(key, salted, "sha256")
    yield auth.UserImportHash.hmac_sha1(key), lambda: hmac.digest(key, salted, "sha1")
    yield auth.UserImportHash.hmac_md5(key), lambda: hmac.digest(key, salted, "md5")
    for name, rounds in [("md5", 0), ("sha1", 1), ("sha256", 1), ("sha512", 1)]:
        yield getattr(auth.UserImportHash, name)(rounds), lambda name=name: hashlib.new(name, salted).digest()
    yield auth.UserImportHash.pbkdf_sha1(1000), lambda: hashlib.pbkdf2_hmac("sha1", password, salt, 1000)
    yield auth.UserImportHash.pbkdf2_sha256(1000), lambda: hashlib.pbkdf2_hmac("sha256", password, salt, 1000)
    yield auth.UserImportHash.standard_scrypt(1024, 4, 8, 32), lambda: hashlib.scrypt(
        password, salt=salt, n=1024, r=8, p=4, dklen=32)


def imported(algorithm, digest, salt, password):
    address = email()
    user = auth.ImportUserRecord(uid=uuid.uuid4().hex, email=address, password_hash=digest, password_salt=salt)
    result = auth.import_users([user], hash_alg=algorithm)
    equal((result.success_count, result.failure_count, result.errors), (1, 0, []))
    equal(sign_in(address, password)["localId"], user.uid)
    body = {"email": address, "password": f"{password}x"}
    equal(post("/v1/accounts:signInWithPassword?key=key", body)[0], 400)


def case_users_sign_in_with_imported_passwords_of_every_hash():
    for algorithm, digest in hashes(b"correct horse", b"NaCl", b"key"):
        try:
            imported(algorithm, digest(), b"NaCl", "correct horse")
        except BaseException as error:
            raise AssertionError(f"{algorithm.to_dict()}: {error}")
    imported(auth.UserImportHash.bcrypt(), b"$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", None, "U*U")
    # The example that Firebase publishes with its scrypt.
    decode = base64.b64decode
    firebase = auth.UserImportHash.scrypt(
        decode("jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="), 8, 14, decode("Bw=="))
    digest = decode("lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==")
    imported(firebase, digest, decode("42xEC+ixf3L2lw=="), "user1password")


def case_imported_users_have_every_property():
    uid, address, number, raw = uuid.uuid4().hex, email(), phone(), uuid.uuid4().hex
    user = auth.ImportUserRecord(
        uid=uid, email=address, email_verified=True, display_name="Ada", phone_number=number, photo_url="http://a.example/b",
        disabled=True, user_metadata=auth.UserMetadata(1_500_000_000_000, 1_600_000_000_000), custom_claims={"k": [1, "x"]},
        provider_data=[auth.UserProvider(raw, "google.com", "g@example.com", "G", "http://g.example/p")])
    again = auth.ImportUserRecord(uid=uuid.uuid4().hex, provider_data=[auth.UserProvider(raw, "google.com")])
    equal(auth.import_users([user]).success_count, 1)
    found = auth.get_user(uid)
    equal((found.email, found.email_verified, found.display_name, found.phone_number), (address, True, "Ada", number))
    equal((found.photo_url, found.disabled, found.custom_claims), ("http://a.example/b", True, {"k": [1, "x"]}))
    equal(found.user_metadata.creation_timestamp, 1_500_000_000_000)
    equal(found.user_metadata.last_sign_in_timestamp, 1_600_000_000_000)
    google = [one for one in found.provider_data if one.provider_id == "google.com"][0]
    equal((google.uid, google.email, google.display_name, google.photo_url), (raw, "g@example.com", "G", "http://g.example/p"))
    # One failure does not stop the others: an existing user stays as it is, and no provider's user belongs to two.
    third = auth.ImportUserRecord(uid=uuid.uuid4().hex)
    result = auth.import_users([auth.ImportUserRecord(uid=uid, display_name="Grace"), again, third])
    equal((result.success_count, result.failure_count), (1, 2))
    equal([(one.index, one.reason) for one in result.errors], [
        (0, "localId belongs to an existing account - can not overwrite."),
        (1, "raw id exists in other account in database")])
    equal((auth.get_user(uid).display_name, auth.get_user(third.uid).uid), ("Ada", third.uid))
    raises(auth.UidAlreadyExistsError, lambda: auth.import_users([third, third]))


# Tokens


def case_claims_are_in_tokens_until_they_are_taken_away():
    address = email()
    uid = client("signUp", email=address, password="secret")["localId"]
    auth.set_custom_user_claims(uid, {"admin": True, "level": 3, "teams": ["a", {"b": None}]})
    claims = auth.verify_id_token(sign_in(address, "secret")["idToken"])
    equal((claims["uid"], claims["admin"], claims["level"], claims["teams"]), (uid, True, 3, ["a", {"b": None}]))
    equal((claims["firebase"]["sign_in_provider"], claims["firebase"]["identities"]), ("password", {"email": [address]}))
    equal((claims["aud"], claims["iss"]), ("demo", "https://securetoken.google.com/demo"))
    auth.set_custom_user_claims(uid, None)
    expect("admin" not in auth.verify_id_token(sign_in(address, "secret")["idToken"]))
    raises(ValueError, lambda: auth.set_custom_user_claims(uid, {"iss": "x"}))
    raises(ValueError, lambda: auth.set_custom_user_claims(uid, {"x": "y" * 1000}))


def case_custom_tokens_sign_in():
    uid = uuid.uuid4().hex
    token = auth.create_custom_token(uid, {"role": "x"}).decode()
    signed = client("signInWithCustomToken", token=token, returnSecureToken=True)
    claims = auth.verify_id_token(signed["idToken"])
    equal((claims["uid"], claims["role"], claims["firebase"]["sign_in_provider"]), (uid, "x", "custom"))
    equal(signed["isNewUser"], True)
    equal(client("signInWithCustomToken", token=token)["isNewUser"], False)
    equal(auth.get_user(uid).provider_data, [])


def case_revoked_and_disabled_users_are_refused():
    address = email()
    made = client("signUp", email=address, password="secret", returnSecureToken=True)
    token, uid = made["idToken"], made["localId"]
    equal(auth.verify_id_token(token, check_revoked=True)["uid"], uid)
    cookie = auth.create_session_cookie(token, expires_in=datetime.timedelta(days=5))
    equal(auth.verify_session_cookie(cookie, check_revoked=True)["uid"], uid)
    claims = auth.verify_session_cookie(cookie)
    equal((claims["iss"], claims["exp"] - claims["iat"]), ("https://session.firebase.google.com/demo", 5 * 86400))
    # Times of tokens and of the revocation are whole seconds.
    while time.time() < max(claims["auth_time"], claims["iat"]) + 1.1:
        time.sleep(0.1)
    auth.revoke_refresh_tokens(uid)
    expect(auth.get_user(uid).tokens_valid_after_timestamp >= (claims["auth_time"] + 1) * 1000)
    raises(auth.RevokedIdTokenError, lambda: auth.verify_id_token(token, check_revoked=True))
    raises(auth.RevokedSessionCookieError, lambda: auth.verify_session_cookie(cookie, check_revoked=True))
    equal(auth.verify_session_cookie(cookie)["uid"], uid)
    auth.update_user(uid, disabled=True)
    raises(auth.UserDisabledError, lambda: auth.verify_id_token(token, check_revoked=True))
    raises(auth.UserDisabledError, lambda: auth.verify_session_cookie(cookie, check_revoked=True))
    equal(post("/v1/accounts:signInWithPassword?key=key", {"email": address, "password": "secret"})[1]["error"]["message"],
          "USER_DISABLED")
    auth.delete_user(uid)
    raises(auth.UserNotFoundError, lambda: auth.verify_id_token(token, check_revoked=True))


def case_wrong_tokens_have_their_errors():
    token = client("signUp", returnSecureToken=True)["idToken"]
    cookie = auth.create_session_cookie(token, expires_in=300)
    raises(auth.InvalidSessionCookieError, lambda: auth.verify_session_cookie(token))
    raises(auth.InvalidIdTokenError, lambda: auth.verify_id_token(cookie))
    raises(auth.InvalidIdTokenError, lambda: auth.verify_id_token(auth.create_custom_token("x").decode()))
    raises(auth.InvalidIdTokenError, lambda: auth.verify_id_token(token, app=separate()))
    raises(auth.InvalidIdTokenError, lambda: auth.create_session_cookie("a.b.c", expires_in=300))
    raises(ValueError, lambda: auth.create_session_cookie(token, expires_in=299))


# Links


def parameters(link):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query))


def case_links_of_every_kind_do_what_they_say():
    address = email()
    made = auth.create_user(email=address, password="secret")
    settings = auth.ActionCodeSettings(
        url="http://localhost/next?a=1&b=2", handle_code_in_app=True, ios_bundle_id="com.example", android_package_name="com.example",
        android_install_app=True, android_minimum_version="12")
    reset = parameters(auth.generate_password_reset_link(address, settings))
    equal((reset["mode"], reset["continueUrl"]), ("resetPassword", "http://localhost/next?a=1&b=2"))
    expect(reset["oobCode"] and reset["apiKey"] and reset["lang"])
    equal(client("resetPassword", oobCode=reset["oobCode"])["email"], address)
    equal(client("resetPassword", oobCode=reset["oobCode"], newPassword="another")["email"], address)
    sign_in(address, "another")
    auth.update_user(made.uid, email_verified=False)
    verify = parameters(auth.generate_email_verification_link(address, settings))
    equal((verify["mode"], client("update", oobCode=verify["oobCode"])["emailVerified"]), ("verifyEmail", True))
    equal(auth.get_user(made.uid).email_verified, True)
    enter = parameters(auth.generate_sign_in_with_email_link(address, settings))
    equal((enter["mode"], enter["continueUrl"]), ("signIn", "http://localhost/next?a=1&b=2"))
    equal(client("signInWithEmailLink", oobCode=enter["oobCode"], email=address)["localId"], made.uid)
    raises(auth.EmailNotFoundError, lambda: auth.generate_password_reset_link(email()))
    raises(exceptions.FirebaseError, lambda: auth.generate_email_verification_link(email()))
    # A link for sign-in needs no user.
    expect("mode=signIn" in auth.generate_sign_in_with_email_link(email(), settings))


# Providers


def case_oidc_providers_are_configured():
    a = separate()
    name = "oidc.walk"
    made = auth.create_oidc_provider_config(name, "id", "https://issuer.example", "Walk", True, app=a)
    equal((made.provider_id, made.client_id, made.issuer), (name, "id", "https://issuer.example"))
    equal((made.display_name, made.enabled), ("Walk", True))
    equal((bool(made.code_response_type), made.client_secret), (False, None))
    changed = auth.update_oidc_provider_config(
        name, client_id="other", issuer="https://other.example", display_name=auth.DELETE_ATTRIBUTE, enabled=False,
        client_secret="s", id_token_response_type=False, code_response_type=True, app=a)
    equal((changed.client_id, changed.issuer, changed.enabled), ("other", "https://other.example", False))
    equal((changed.client_secret, changed.code_response_type, bool(changed.id_token_response_type)), ("s", True, False))
    expect(not changed.display_name, changed.display_name)
    equal(auth.get_oidc_provider_config(name, app=a)._data, changed._data)
    for number in range(4):
        auth.create_oidc_provider_config(f"oidc.n{number}", "id", "https://issuer.example", app=a)
    page = auth.list_oidc_provider_configs(max_results=3, app=a)
    equal((len(page.provider_configs), page.has_next_page, len(page.get_next_page().provider_configs)), (3, True, 2))
    names = sorted(one.provider_id for one in auth.list_oidc_provider_configs(max_results=2, app=a).iterate_all())
    equal(names, ["oidc.n0", "oidc.n1", "oidc.n2", "oidc.n3", name])
    auth.delete_oidc_provider_config(name, app=a)
    for call in [auth.get_oidc_provider_config, auth.delete_oidc_provider_config]:
        raises(auth.ConfigurationNotFoundError, lambda: call(name, app=a))
    raises(auth.ConfigurationNotFoundError, lambda: auth.update_oidc_provider_config(name, enabled=True, app=a))
    raises(exceptions.FirebaseError, lambda: auth.create_oidc_provider_config("oidc.n1", "id", "https://issuer.example", app=a))


def case_saml_providers_are_configured():
    a = separate()
    name = "saml.walk"
    made = auth.create_saml_provider_config(
        name, "entity", "https://idp.example/sso", [CERTIFICATE], "rp", "https://rp.example/__/auth/handler", "Walk", True, app=a)
    equal((made.provider_id, made.idp_entity_id, made.sso_url), (name, "entity", "https://idp.example/sso"))
    equal((made.x509_certificates, made.rp_entity_id), ([CERTIFICATE], "rp"))
    equal((made.callback_url, made.display_name, made.enabled), ("https://rp.example/__/auth/handler", "Walk", True))
    changed = auth.update_saml_provider_config(
        name, idp_entity_id="other", x509_certificates=[CERTIFICATE, CERTIFICATE + "2"], display_name=auth.DELETE_ATTRIBUTE,
        enabled=False, callback_url="https://rp.example/other", app=a)
    equal((changed.idp_entity_id, changed.sso_url, changed.enabled), ("other", "https://idp.example/sso", False))
    equal((len(changed.x509_certificates), changed.callback_url, changed.rp_entity_id), (2, "https://rp.example/other", "rp"))
    expect(not changed.display_name, changed.display_name)
    equal(auth.get_saml_provider_config(name, app=a)._data, changed._data)
    auth.create_saml_provider_config("saml.two", "e", "https://i.example", [CERTIFICATE], "rp", "https://rp.example/h", app=a)
    page = auth.list_saml_provider_configs(max_results=1, app=a)
    equal((len(page.provider_configs), page.has_next_page), (1, True))
    equal(sorted(one.provider_id for one in page.iterate_all()), ["saml.two", name])
    auth.delete_saml_provider_config(name, app=a)
    for call in [auth.get_saml_provider_config, auth.delete_saml_provider_config]:
        raises(auth.ConfigurationNotFoundError, lambda: call(name, app=a))


# Tenants


def case_tenants_are_managed():
    a = separate()
    made = tenant_mgt.create_tenant("walk-one", allow_password_sign_up=True, enable_email_link_sign_in=False, app=a)
    equal((made.display_name, made.allow_password_sign_up, made.enable_email_link_sign_in), ("walk-one", True, False))
    expect(made.tenant_id)
    changed = tenant_mgt.update_tenant(made.tenant_id, display_name="walk-two", enable_email_link_sign_in=True, app=a)
    equal((changed.tenant_id, changed.display_name), (made.tenant_id, "walk-two"))
    equal((changed.allow_password_sign_up, changed.enable_email_link_sign_in), (True, True))
    equal(tenant_mgt.get_tenant(made.tenant_id, app=a)._data, changed._data)
    for number in range(4):
        tenant_mgt.create_tenant(f"walk-n{number}", app=a)
    page = tenant_mgt.list_tenants(max_results=3, app=a)
    equal((len(page.tenants), page.has_next_page, len(page.get_next_page().tenants)), (3, True, 2))
    equal(len(list(tenant_mgt.list_tenants(max_results=2, app=a).iterate_all())), 5)
    tenant_mgt.delete_tenant(made.tenant_id, app=a)
    raises(tenant_mgt.TenantNotFoundError, lambda: tenant_mgt.get_tenant(made.tenant_id, app=a))
    raises(tenant_mgt.TenantNotFoundError, lambda: tenant_mgt.update_tenant(made.tenant_id, display_name="walk-x", app=a))
    raises(tenant_mgt.TenantNotFoundError, lambda: tenant_mgt.delete_tenant(made.tenant_id, app=a))


def case_tenants_have_users_tokens_and_providers_apart():
    made = tenant_mgt.create_tenant("walk-users", allow_password_sign_up=True, enable_email_link_sign_in=True)
    other = tenant_mgt.create_tenant("walk-other", allow_password_sign_up=True)
    inside = tenant_mgt.auth_for_tenant(made.tenant_id)
    equal(inside.tenant_id, made.tenant_id)
    address = email()
    user = inside.create_user(email=address, password="secret", phone_number=phone())
    equal((user.tenant_id, inside.get_user_by_email(address).uid), (made.tenant_id, user.uid))
    raises(auth.UserNotFoundError, lambda: auth.get_user(user.uid))
    raises(auth.UserNotFoundError, lambda: tenant_mgt.auth_for_tenant(other.tenant_id).get_user(user.uid))
    token = sign_in(address, "secret", tenantId=made.tenant_id)["idToken"]
    claims = inside.verify_id_token(token, check_revoked=True)
    equal((claims["uid"], claims["firebase"]["tenant"]), (user.uid, made.tenant_id))
    raises(tenant_mgt.TenantIdMismatchError, lambda: tenant_mgt.auth_for_tenant(other.tenant_id).verify_id_token(token))
    custom = inside.create_custom_token("t-" + uuid.uuid4().hex[:6], {"x": 1}).decode()
    signed = client("signInWithCustomToken", token=custom, tenantId=made.tenant_id, returnSecureToken=True)
    equal(inside.verify_id_token(signed["idToken"])["firebase"]["tenant"], made.tenant_id)
    inside.set_custom_user_claims(user.uid, {"k": 1})
    equal(inside.update_user(user.uid, display_name="T").custom_claims, {"k": 1})
    equal(sorted(one.uid for one in inside.list_users(max_results=1).iterate_all()),
          sorted([user.uid, inside.verify_id_token(signed["idToken"])["uid"]]))
    link = parameters(inside.generate_password_reset_link(address))
    equal((link["mode"], link["tenantId"]), ("resetPassword", made.tenant_id))
    settings = auth.ActionCodeSettings(url="http://localhost/")
    expect("tenantId" in parameters(inside.generate_sign_in_with_email_link(address, settings)))
    expect("tenantId" in parameters(inside.generate_email_verification_link(address)))
    inside.create_oidc_provider_config("oidc.t", "id", "https://issuer.example")
    inside.create_saml_provider_config("saml.t", "e", "https://i.example", [CERTIFICATE], "rp", "https://rp.example/h")
    raises(auth.ConfigurationNotFoundError, lambda: auth.get_oidc_provider_config("oidc.t"))
    equal([one.provider_id for one in inside.list_oidc_provider_configs().iterate_all()], ["oidc.t"])
    equal([one.provider_id for one in inside.list_saml_provider_configs().iterate_all()], ["saml.t"])
    digest = hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", 1000)
    record = auth.ImportUserRecord(uid="imported", email=email(), password_hash=digest, password_salt=b"salt")
    equal(inside.import_users([record], hash_alg=auth.UserImportHash.pbkdf2_sha256(1000)).success_count, 1)
    equal(sign_in(record.email, "secret", tenantId=made.tenant_id)["localId"], "imported")
    equal(inside.get_users([auth.UidIdentifier("imported"), auth.EmailIdentifier(address)]).not_found, [])
    inside.revoke_refresh_tokens(user.uid)
    equal(inside.delete_users([user.uid, "imported"]).success_count, 2)
    raises(auth.UserNotFoundError, lambda: inside.get_user(user.uid))


def case_second_factors_are_read():
    number = phone()
    body = {"email": email(), "mfaInfo": [{"phoneInfo": number, "displayName": "mine"}], "emailVerified": True}
    status, made = post("/v1/projects/demo/accounts", body, owner=True)
    equal(status, 200)
    factors = auth.get_user(made["localId"])._data["mfaInfo"]
    equal([(one["phoneInfo"], one["displayName"]) for one in factors], [(number, "mine")])
    expect(factors[0]["mfaEnrollmentId"] and factors[0]["enrolledAt"])


if __name__ == "__main__":
    run(sys.modules[__name__], sys.argv[1:])
