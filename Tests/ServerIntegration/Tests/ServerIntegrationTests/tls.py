"""Ports with a certificate: ROOTS says where the root is; `reload` waits until the server has another one."""
import json
import os
import socket
import ssl
import sys
import urllib.request

import grpc
import websocket
from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore_v1.services.firestore import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcTransport

from cases import equal, eventually, expect, raises, run

ROOTS = os.environ["ROOTS"]
CONTEXT = ssl.create_default_context(cafile=ROOTS)


def port(variable):
    return int(os.environ[variable].rsplit(":", 1)[1])


def get(variable, path, context=CONTEXT):
    request = urllib.request.Request(f"https://localhost:{port(variable)}{path}", headers={"Authorization": "Bearer owner"})
    with urllib.request.urlopen(request, timeout=60, context=context) as response:
        return response.status, response.read()


def case_every_port_speaks_tls_and_not_in_clear():
    for variable, path in (("FIRESTORE_EMULATOR_HOST", "/"), ("FIREBASE_AUTH_EMULATOR_HOST", "/"), ("VESTA_HOST", "/"),
                           ("FIREBASE_DATABASE_EMULATOR_HOST", "/a.json?ns=demo"), ("FUNCTIONS_EMULATOR_HOST", "/"),
                           ("FIREBASE_STORAGE_EMULATOR_HOST", "/v0/b/demo/o"), ("FIREBASE_EMULATOR_HUB", "/")):
        equal((variable, get(variable, path)[0]), (variable, 200))
        with socket.create_connection(("127.0.0.1", port(variable)), 60) as clear:
            clear.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            expect(clear.recv(100).startswith(b"HTTP/1.1 400"))
    origins = json.loads(get("FIREBASE_EMULATOR_HUB", "/")[1])["origins"]
    expect(all(origin.startswith("https://") for origin in origins))


def case_a_client_without_the_root_refuses():
    raises(urllib.error.URLError, lambda: get("FIRESTORE_EMULATOR_HOST", "/", ssl.create_default_context()))


def case_a_client_of_grpc_writes_reads_and_listens_with_the_root():
    with open(ROOTS, "rb") as file:
        credentials = grpc.ssl_channel_credentials(file.read())
    channel = grpc.secure_channel(f"localhost:{port('FIRESTORE_EMULATOR_HOST')}", credentials)
    client = FirestoreClient(transport=FirestoreGrpcTransport(channel=channel, credentials=AnonymousCredentials()))
    database = "projects/demo/databases/(default)"
    metadata = [("authorization", "Bearer owner")]
    write = {"update": {"name": f"{database}/documents/a/b", "fields": {"c": {"string_value": "d"}}}}
    client.commit(request={"database": database, "writes": [write]}, metadata=metadata)
    found = client.get_document(request={"name": f"{database}/documents/a/b"}, metadata=metadata)
    equal(found.fields["c"].string_value, "d")


def case_a_socket_of_the_tree_is_opened():
    address = f"wss://localhost:{port('FIREBASE_DATABASE_EMULATOR_HOST')}/.ws?v=5&ns=demo"
    link = websocket.create_connection(address, timeout=60, sslopt={"ca_certs": ROOTS})
    equal(json.loads(link.recv())["d"]["t"], "h")
    link.close()


def serial():
    with socket.create_connection(("127.0.0.1", port("FIREBASE_EMULATOR_HUB")), 60) as raw:
        with ssl.create_default_context(cafile=os.environ["OTHER_ROOTS"]).wrap_socket(raw, server_hostname="localhost"):
            return True


if sys.argv[1] == "cases":
    run(sys.modules[__name__], [])


def renewed():
    try:
        return serial()
    except ssl.SSLError:
        return False


eventually(renewed, 60)
