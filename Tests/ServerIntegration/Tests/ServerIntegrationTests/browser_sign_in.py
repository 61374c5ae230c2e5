"""Sign-in by a pop-up window and by a redirect in a browser; BROWSER says which program to start.

Google's library for frames is answered here with one that speaks as it does, so nothing of the internet is needed.
"""
import json
import os
import sys
import tempfile
import urllib.parse
import urllib.request

from cases import equal, expect
from tabs import Browser, serve

HOST = os.environ["FIREBASE_AUTH_EMULATOR_HOST"]

# Frames post what they send to the page around them, and have its answers.
LIBRARY = """
(() => {
  const handlers = {}, waiting = []
  addEventListener("message", event => {
    const { call, answer, id, body } = event.data.frames || {}
    if (answer) return waiting[id](answer)
    if (call && handlers[call]) parent.postMessage({ frames: { id, answer: [handlers[call](body)] } }, "*")
  })
  const page = {
    register: (name, handler) => { handlers[name] = handler },
    send: (name, body, done) => parent.postMessage({ frames: { call: name, id: waiting.push(done) - 1, body } }, "*"),
  }
  window.gapi = { load: (_, options) => options.callback(), iframes: {
    CROSS_ORIGIN_IFRAMES_FILTER: {}, getContext: () => ({ getParentIframe: () => page }) } }
  window.gapi_onload()
})()
"""

# What an app does: a frame with its key and name, whose messages it acknowledges.
PAGE = """<!doctype html><title>app</title><script>
window.events = []
addEventListener("message", event => {
  const { call, id, body } = event.data.frames || {}
  if (event.origin !== "http://HOST" || call !== "authEvent") return
  window.events.push(body.authEvent)
  event.source.postMessage({ frames: { id, answer: [{ status: "ACK" }] } }, event.origin)
})
</script><iframe src="http://HOST/emulator/auth/iframe?apiKey=key&appName=app&v=1"></iframe>""".replace("HOST", HOST)


def handler(**parameters):
    fields = {"apiKey": "key", "appName": "app", "providerId": "google.com", "eventId": "7", "v": "1", **parameters}
    return f"http://{HOST}/emulator/auth/handler?{urllib.parse.urlencode(fields)}"


def sign_in(authEvent):
    body = {"requestUri": authEvent["urlResponse"], "sessionId": authEvent["sessionId"], "returnSecureToken": True,
            "postBody": authEvent["postBody"] or None, "tenantId": authEvent["tenantId"]}
    body = {name: value for name, value in body.items() if value is not None}
    request = urllib.request.Request(
        f"http://{HOST}/identitytoolkit.googleapis.com/v1/accounts:signInWithIdp?key=key", json.dumps(body).encode(),
        {"Content-Type": "application/json"}, method="POST")
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


def described(tab, address):
    """Describes a new account in the page."""
    tab.wait("document.getElementById('sign-in') !== null && document.readyState === 'complete'")
    equal(tab.value("document.title"), "Auth Emulator IDP Login Widget")
    tab.value("document.querySelector('.js-new-account').click()")
    equal(tab.value("document.getElementById('sign-in').disabled"), True)
    for name, text in [("email-input", address), ("display-name-input", "Ada & <b>"), ("screen-name-input", "ada")]:
        tab.value(f"""(() => {{ const input = document.getElementById('{name}'); input.value = {json.dumps(text)}
          input.dispatchEvent(new Event('input')) }})()""")
    tab.value("document.getElementById('sign-in').click()")


def popup(browser, app):
    url = handler(authType="signInViaPopup")
    app.value(f"void window.open({json.dumps(url)}, 'popup', 'width=400,height=500')")
    described(browser.tab(lambda one: "authType=signInViaPopup" in one), "popup@example.com")
    app.wait("window.events.some(event => event.type === 'signInViaPopup')")
    event = app.value("window.events.at(-1)")
    equal((event["eventId"], event["tenantId"], event["error"], event["postBody"]), ("7", None, None, ""))
    user = sign_in(event)
    equal((user["email"], user["displayName"], user["screenName"], user["isNewUser"]),
          ("popup@example.com", "Ada & <b>", "ada", True))
    return user


def existing(browser, app, user):
    url = handler(authType="linkViaPopup", eventId="8")
    app.value(f"void window.open({json.dumps(url)}, 'another', 'width=400,height=500')")
    tab = browser.tab(lambda one: "authType=linkViaPopup" in one)
    tab.wait("document.querySelector('.js-reuse-account') && document.readyState === 'complete'")
    expect("Ada & <b>" in tab.value("document.querySelector('.js-reuse-account').textContent"))
    tab.value("document.querySelector('.js-reuse-account').click()")
    app.wait("window.events.some(event => event.type === 'linkViaPopup')")
    equal(sign_in(app.value("window.events.at(-1)"))["localId"], user["localId"])


def redirect(app, site):
    url = handler(authType="signInViaRedirect", redirectUrl=f"{site}/after")
    app.value(f"void location.assign({json.dumps(url)})")
    app.wait("document.title.startsWith('Auth Emulator')")
    described(app, "redirect@example.com")
    app.wait("document.title === 'app' && location.pathname === '/after' && window.events.length > 0")
    event = app.value("window.events[0]")
    equal((event["type"], sign_in(event)["email"]), ("signInViaRedirect", "redirect@example.com"))
    # The event is handed out once.
    app.value("void location.reload()")
    app.wait("window.events.length === 1 && window.events[0].type === 'unknown'")
    equal(app.value("window.events[0].error.code"), "auth/no-auth-event")


def refused(app):
    app.value(f"void location.assign({json.dumps(handler(authType='signInViaRedirect', redirectUrl='https://evil.example/'))})")
    app.wait("document.body.textContent.includes('UNAUTHORIZED_DOMAIN')")


port = serve(PAGE)
site = f"http://127.0.0.1:{port}"
status = 1
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    browser = Browser(folder, ("https://apis.google.com/*", LIBRARY))
    try:
        app = browser.tab(lambda one: one == "about:blank")
        app.call("Page.navigate", {"url": site})
        # At first there is no event.
        app.wait("document.title === 'app' && window.events.length === 1 && window.events[0].type === 'unknown'")
        user = popup(browser, app)
        print("a new account in a pop-up window ok")
        existing(browser, app, user)
        print("an existing account in a pop-up window ok")
        redirect(app, site)
        print("a redirect ok")
        refused(app)
        print("a redirect to another domain ok", flush=True)
        status = 0
    finally:
        browser.process.kill()
        browser.process.wait()
sys.stdout.flush()
os._exit(status)
