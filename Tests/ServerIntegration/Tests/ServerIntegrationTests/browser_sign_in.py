"""Sign-in by a pop-up window and by a redirect in a browser; BROWSER says which program to start.

Google's library for frames is answered here with one that speaks as it does, so nothing of the internet is needed.
"""
import base64
import http.server
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

import websocket

from cases import equal, expect

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


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGE.encode())

    def log_message(self, *arguments):
        pass


class Tab:
    """A tab of the browser, by its debugging protocol."""

    def __init__(self, url):
        self.socket = websocket.create_connection(url, timeout=60, suppress_origin=True)
        self.numbers = itertools.count(1)
        pattern = {"urlPattern": "https://apis.google.com/*"}
        self.call("Fetch.enable", {"patterns": [pattern]})
        self.call("Runtime.enable", {})

    def call(self, method, parameters):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == number:
                return message.get("result", message)
            self.handle(message)

    def handle(self, message):
        if message.get("method") == "Fetch.requestPaused":
            number = next(self.numbers)
            answer = {"requestId": message["params"]["requestId"], "responseCode": 200, "responseHeaders": [
                {"name": "Content-Type", "value": "text/javascript"}], "body": base64.b64encode(LIBRARY.encode()).decode()}
            self.socket.send(json.dumps({"id": number, "method": "Fetch.fulfillRequest", "params": answer}))

    def value(self, expression):
        answer = self.call("Runtime.evaluate", {
            "expression": expression, "userGesture": True, "awaitPromise": True, "returnByValue": True})
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer.get("result", {}).get("value")

    def wait(self, expression):
        end = time.monotonic() + 60
        while True:
            try:
                if value := self.value(expression):
                    return value
            except AssertionError:
                pass  # The page is being replaced.
            expect(time.monotonic() < end, f"{expression} did not become true")
            time.sleep(0.05)


class Browser:
    def __init__(self, folder):
        self.process = subprocess.Popen(
            [os.environ["BROWSER"], "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--no-proxy-server", "--remote-debugging-port=0", "--remote-allow-origins=*",
             "--disable-site-isolation-trials", "--disable-features=IsolateOrigins,site-per-process",
             f"--user-data-dir={folder}/profile", "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        path = f"{folder}/profile/DevToolsActivePort"
        end = time.monotonic() + 60
        while not (os.path.exists(path) and "\n" in open(path).read()):
            expect(time.monotonic() < end, "the browser does not start")
            time.sleep(0.05)
        self.port = open(path).read().split("\n")[0]

    def list(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/json/list", timeout=60) as response:
            return [one for one in json.loads(response.read()) if one["type"] == "page"]

    def tab(self, matches):
        end = time.monotonic() + 60
        while True:
            for one in self.list():
                if matches(one["url"]):
                    return Tab(one["webSocketDebuggerUrl"])
            expect(time.monotonic() < end, f"no such tab: {self.list()}")
            time.sleep(0.05)


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


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()
site = f"http://127.0.0.1:{server.server_port}"
status = 1
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    browser = Browser(folder)
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
