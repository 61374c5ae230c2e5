"""Passkeys of a browser with a server that verifies them; BROWSER says which program to start.

The browser has an authenticator without hardware. Its pages read the options of the server and write the answers as the
standard has both.
"""
import json
import os
import sys
import tempfile

from cases import equal, expect
from tabs import Browser, serve

HOST = os.environ["FIREBASE_AUTH_EMULATOR_HOST"]

PAGE = """<!doctype html><title>app</title><script>
async function call(name, body) {
  const version = name.startsWith("accounts/") ? "v2" : "v1"
  const response = await fetch(`http://HOST/identitytoolkit.googleapis.com/${version}/${name}?key=key`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })
  return await response.json()
}
async function enrol(idToken) {
  const { credentialCreationOptions } = await call("accounts/passkeyEnrollment:start", { idToken })
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(credentialCreationOptions)
  try {
    const made = await navigator.credentials.create({ publicKey })
    return await call("accounts/passkeyEnrollment:finalize", {
      idToken, name: "browser", authenticatorRegistrationResponse: made.toJSON() })
  } catch (error) { return { error: { message: error.name } } }
}
async function signIn(change = answer => answer) {
  const { credentialRequestOptions } = await call("accounts/passkeySignIn:start", {})
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(credentialRequestOptions)
  const signed = await navigator.credentials.get({ publicKey })
  return await call("accounts/passkeySignIn:finalize", { authenticatorAuthenticationResponse: change(signed.toJSON()) })
}
</script>""".replace("HOST", HOST)


def message(answer):
    return answer.get("error", {}).get("message", "")


def passkeys(app):
    user = app.value('call("accounts:signUp", { email: "ada@example.com", password: "correct horse" })')
    token = json.dumps(user["idToken"])
    made = app.value(f"enrol({token})")
    equal(made.get("localId"), user["localId"])
    known = app.value(f'call("accounts:lookup", {{ idToken: {token} }})')["users"][0]["passkeyInfo"]
    equal([one["name"] for one in known], ["browser"])
    # The browser does not ask an authenticator that has a passkey of the account.
    equal(message(app.value(f"enrol({token})")), "InvalidStateError")
    print("a passkey is added ok")
    for _ in range(3):
        equal(app.value("signIn()").get("localId"), user["localId"])
    print("it signs in, and its count grows ok")
    changed = app.value("signIn(answer => { answer.response.signature = answer.response.signature.replace(/....$/, 'AAAA'); return answer })")
    expect(message(changed).startswith("INVALID_AUTHENTICATOR_RESPONSE"), changed)
    print("another signature does not ok")
    removal = f'call("accounts:update", {{ idToken: {token}, deletePasskey: [{json.dumps(known[0]["credentialId"])}] }})'
    equal(app.value(removal).get("localId"), user["localId"])
    equal(message(app.value("signIn()")), "PASSKEY_CREDENTIAL_NOT_FOUND")
    print("a passkey that was removed does not ok", flush=True)


port = serve(PAGE)
status = 1
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    browser = Browser(folder)
    try:
        app = browser.tab(lambda one: one == "about:blank")
        app.call("WebAuthn.enable", {})
        app.call("WebAuthn.addVirtualAuthenticator", {"options": {
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
            "isUserVerified": True, "automaticPresenceSimulation": True}})
        app.call("Page.navigate", {"url": f"http://localhost:{port}"})
        app.wait("document.title === 'app' && document.readyState === 'complete'")
        passkeys(app)
        status = 0
    finally:
        browser.process.kill()
        browser.process.wait()
sys.stdout.flush()
os._exit(status)
