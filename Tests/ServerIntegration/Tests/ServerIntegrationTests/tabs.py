"""A browser that a test steers; BROWSER says which program to start."""
import base64
import http.server
import itertools
import json
import os
import subprocess
import threading
import time
import urllib.request

import websocket

from cases import expect


def serve(page):
    """Serves a page at every path of a port of this machine, and returns the port."""

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


class Tab:
    """A tab of the browser, by its debugging protocol; a script from elsewhere can be answered here."""

    def __init__(self, url, script=None):
        self.socket = websocket.create_connection(url, timeout=60, suppress_origin=True)
        self.numbers = itertools.count(1)
        pattern, self.script = script or ("", "")
        if script:
            self.call("Fetch.enable", {"patterns": [{"urlPattern": pattern}]})
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
                {"name": "Content-Type", "value": "text/javascript"}],
                "body": base64.b64encode(self.script.encode()).decode()}
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
    def __init__(self, folder, script=None):
        self.script = script
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
                    return Tab(one["webSocketDebuggerUrl"], self.script)
            expect(time.monotonic() < end, f"no such tab: {self.list()}")
            time.sleep(0.05)
