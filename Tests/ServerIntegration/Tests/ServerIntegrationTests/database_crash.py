"""Writers whose server is killed, and the check of what they were told.

  database_crash.py write          writes until the server is gone; a line for each acknowledged write
  database_crash.py check FILE     reads what FILE names, and everything else
"""
import json
import os
import sys
import threading
import urllib.request

import websocket

HOST = os.environ["FIREBASE_DATABASE_EMULATOR_HOST"]
THREADS = 6


def ask(socket, number, action, body):
    socket.send(json.dumps({"t": "d", "d": {"r": number, "a": action, "b": body}}))
    while True:
        content = json.loads(socket.recv())["d"]
        if content.get("r") == number:
            if content["b"]["s"] != "ok":
                raise ValueError(content)
            return


def write():
    lock = threading.Lock()

    def by_socket(part):
        socket = websocket.create_connection(f"ws://{HOST}/.ws?v=5&ns=demo", timeout=10)
        socket.recv()
        ask(socket, 1, "gauth", {"cred": "owner"})
        # Carried out once, although nobody closes the connection.
        ask(socket, 2, "o", {"p": f"/ends/{part}", "d": {".sv": {"increment": 1}}})
        with lock:
            print(f"end-{part}", flush=True)
        number = 0
        while True:
            ask(socket, number + 3, "m", {"p": "/", "d": {f"a/{part}-{number}": number, f"b/{part}-{number}": number}})
            with lock:
                print(f"{part}-{number}", flush=True)
            number += 1

    def by_rest(part):
        number = 0
        while True:
            body = json.dumps({f"a/{part}-{number}": number, f"b/{part}-{number}": number}).encode()
            request = urllib.request.Request(
                f"http://{HOST}/.json?ns=demo", body, {"Authorization": "Bearer owner"}, method="PATCH")
            urllib.request.urlopen(request, timeout=10).read()
            with lock:
                print(f"{part}-{number}", flush=True)
            number += 1

    def guarded(work, part):
        try:
            work(part)
        except Exception:
            pass

    threads = [
        threading.Thread(target=guarded, args=(by_rest if part % 3 == 2 else by_socket, part), daemon=True)
        for part in range(THREADS)
    ]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    os._exit(0)


def read(path):
    request = urllib.request.Request(f"http://{HOST}{path}.json?ns=demo", headers={"Authorization": "Bearer owner"})
    return json.loads(urllib.request.urlopen(request, timeout=60).read()) or {}


def check(path):
    lines = set(open(path).read().split())
    ends = {line[4:] for line in lines if line.startswith("end-")}
    acknowledged = {line for line in lines if not line.startswith("end-")}
    found = [read("/a"), read("/b")]
    lost = acknowledged - set(found[0])
    # What was not acknowledged is there as a whole or not at all.
    halves = set(found[0]) ^ set(found[1])
    wrong = [key for key, number in found[0].items() if key.split("-")[1] != str(number)]
    counts = read("/ends")
    counts = counts if isinstance(counts, dict) else {str(i): n for i, n in enumerate(counts) if n is not None}
    doubled = {part: counts.get(part) for part in ends if counts.get(part) != 1}
    print(f"{len(acknowledged)} acknowledged, {len(found[0])} found, lost {lost}, halves {halves}, wrong {wrong}, ends {doubled}")
    os._exit(1 if lost or halves or wrong or doubled or not acknowledged or not ends else 0)


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](*sys.argv[2:])
