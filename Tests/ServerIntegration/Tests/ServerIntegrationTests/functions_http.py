"""Functions of another program behind a server: FUNCTIONS_HOST says where the server is, and WORKER where the program."""
import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request

from cases import equal, eventually, expect, run

HOST = os.environ["FUNCTIONS_EMULATOR_HOST"]
SHARED = os.environ["VESTA_HOST"]
PATH = "demo/us-central1"


class Worker(http.server.BaseHTTPRequestHandler):
    """What a worker of Node does with its requests, as far as a server in front of it sees."""

    protocol_version = "HTTP/1.1"
    seen = []
    left = threading.Event()

    def do(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Transfer-Encoding") == "chunked":
            while (size := int(self.rfile.readline().split(b";")[0], 16)) > 0:
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        Worker.seen.append((self.command, self.path, dict(self.headers), body))
        name = self.path.split("?")[0].rstrip("/").split("/")[-1]
        if name == "events":
            return self.events()
        answer = {"result": {"path": self.path, "data": json.loads(body or b"{}").get("data")}}
        status = 200
        if name == "fail":
            status, answer = 409, {"error": {"status": "ALREADY_EXISTS", "message": "taken", "details": {"by": "ada"}}}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def events(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for number in range(100_000):
                data = f'data: {{"message":{number}}}\n\n'.encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()
        except OSError:
            Worker.left.set()

    do_GET = do_POST = do_PUT = do_OPTIONS = do

    def log_message(self, *arguments):
        pass


def start():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["WORKER_PORT"])), Worker)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def call(name, body, host=HOST, method="POST", fields=None):
    headers = {"Content-Type": "application/json", **(fields or {})}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{host}/{PATH}/{name}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.loads(response.read()), response.headers
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read()), error.headers


def case_a_call_reaches_the_program_and_its_answer_comes_back():
    for host in (HOST, SHARED):
        status, answer, _ = call("greet", {"data": [1, "ü"]}, host, fields={"Authorization": "Bearer t"})
        equal((status, answer), (200, {"result": {"path": "/demo/us-central1/greet", "data": [1, "ü"]}}))
    equal(Worker.seen[-1][2]["Authorization"], "Bearer t")


def case_failures_of_a_function_arrive_as_they_are():
    status, answer, _ = call("fail", {"data": None})
    equal((status, answer["error"]["status"], answer["error"]["details"]), (409, "ALREADY_EXISTS", {"by": "ada"}))


def case_a_function_has_an_address_of_its_own():
    call("page/a%20b?c=d", None, method="GET")
    equal(Worker.seen[-1][:2], ("GET", "/own/a%20b?c=d"))


def case_large_bodies_travel_through():
    text = "x" * 3_000_000
    status, answer, _ = call("greet", {"data": text})
    expect(status == 200 and answer["result"]["data"] == text)


def case_events_arrive_while_they_are_written_and_leaving_reaches_the_program():
    command = ["curl", "--silent", "--no-buffer", "-X", "POST", "-H", "Accept: text/event-stream",
               f"http://{HOST}/{PATH}/events"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as curl:
        equal([curl.stdout.readline() for _ in range(3)], [b'data: {"message":0}\n', b"\n", b'data: {"message":1}\n'])
        curl.kill()
    eventually(Worker.left.is_set)


def case_a_program_that_is_away_is_unavailable():
    status, answer, fields = call("away", {"data": 1}, fields={"Origin": "https://a.example"})
    equal((status, answer["error"]["status"], fields["Access-Control-Allow-Origin"]), (503, "UNAVAILABLE", "*"))


def case_the_hub_knows_the_port():
    with urllib.request.urlopen(f"http://{os.environ['FIREBASE_EMULATOR_HUB']}/emulators", timeout=60) as response:
        equal(f"127.0.0.1:{json.loads(response.read())['functions']['port']}", HOST)


start()
run(sys.modules[__name__], sys.argv[1:])
