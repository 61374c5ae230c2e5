"""A browser and its push service: it decrypts by its own code (RFC 8291), and checks who has sent (RFC 8292)."""
import base64
import http.server
import json
import threading
import time

import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from cases import equal, expect


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def derive(secret, salt, info, length):
    return HKDF(hashes.SHA256(), length, salt, info).derive(secret)


class Browser:
    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.point = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
        self.public = encoded(self.point)
        self.secret = b"0123456789abcdef"
        self.received = []
        self.gone = set()
        self.busy = set()
        browser = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                status = 410 if self.path in browser.gone else 503 if self.path in browser.busy else 201
                if status == 201:
                    browser.received.append((self.path, {n.lower(): v for n, v in self.headers.items()}, body))
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def subscription(self, name, application_key):
        web = {"endpoint": f"{self.origin}/{name}", "auth": encoded(self.secret), "p256dh": self.public,
               "origin": "localhost"}
        if application_key:
            web["applicationPubKey"] = application_key
        return {"web": web}

    def wait(self, path):
        """The fields and the decrypted payload of the first message at a path."""
        for _ in range(200):
            for place, fields, body in list(self.received):
                if place == path:
                    return fields, json.loads(self.decrypt(body))
            time.sleep(0.05)
        raise AssertionError(f"no message at {path}")

    def decrypt(self, body):
        salt, size, count = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        equal((size, count), (4096, 65))
        point, record = body[21:86], body[86:]
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point))
        input_key = derive(shared, self.secret, b"WebPush: info\0" + self.point + point, 32)
        key = derive(input_key, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derive(input_key, salt, b"Content-Encoding: nonce\0", 12)
        plain = AESGCM(key).decrypt(nonce, record, None)
        equal(plain[-1:], b"\2")
        return plain[:-1]

    def check_sender(self, field, public):
        scheme, rest = field.split(" ", 1)
        parts = dict(part.strip().split("=", 1) for part in rest.split(","))
        equal((scheme, parts["k"]), ("vapid", public))
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(public))
        claims = jwt.decode(parts["t"], key, algorithms=["ES256"], audience=self.origin)
        expect(claims["sub"].startswith("mailto:"))
        expect(claims["exp"] <= time.time() + 24 * 3600)
