"""google-cloud-storage, as it is, and Firebase's API, against a server: FIREBASE_STORAGE_EMULATOR_HOST says where."""
import io
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
import uuid

HOST = os.environ["FIREBASE_STORAGE_EMULATOR_HOST"]
os.environ["STORAGE_EMULATOR_HOST"] = f"http://{HOST}"

from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

from cases import equal, expect, raises, run

BUCKET = "demo.appspot.com"
client = storage.Client(project="demo", credentials=AnonymousCredentials())
bucket = client.bucket(BUCKET)


def name():
    return f"files/{uuid.uuid4().hex}.bin"


def call(method, path, body=None, fields=None):
    request = urllib.request.Request(f"http://{HOST}{path}", body, fields or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read(), response.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


def place(object_name):
    return f"/v0/b/{BUCKET}/o/{urllib.parse.quote(object_name, safe='')}"


def case_objects_are_uploaded_read_and_deleted():
    blob = bucket.blob(name())
    blob.upload_from_string(b"hello", content_type="text/plain")
    equal(blob.size, 5)
    equal(bucket.blob(blob.name).download_as_bytes(), b"hello")
    again = bucket.get_blob(blob.name)
    equal((again.content_type, again.generation), ("text/plain", blob.generation))
    blob.delete()
    equal(bucket.get_blob(blob.name), None)
    raises(exceptions.NotFound, lambda: bucket.blob(blob.name).download_as_bytes())


def case_large_objects_go_up_in_parts_and_down_by_ranges():
    content = os.urandom(3_500_000)
    blob = bucket.blob(name(), chunk_size=1 << 20)
    blob.upload_from_file(io.BytesIO(content), size=len(content), content_type="application/octet-stream")
    equal(bucket.blob(blob.name).download_as_bytes(), content)
    equal(bucket.blob(blob.name, chunk_size=1 << 20).download_as_bytes(), content)
    equal(bucket.blob(blob.name).download_as_bytes(start=1_000_000, end=1_000_009), content[1_000_000:1_000_010])


def case_metadata_is_changed():
    blob = bucket.blob(name())
    blob.metadata = {"colour": "red"}
    blob.upload_from_string(b"x")
    blob.metadata = {"colour": "blue", "shape": "round"}
    blob.cache_control = "no-cache"
    blob.patch()
    again = bucket.get_blob(blob.name)
    equal((again.metadata, again.cache_control), ({"colour": "blue", "shape": "round"}, "no-cache"))
    expect(again.metageneration > 1)


def case_objects_are_listed_by_prefix():
    folder = uuid.uuid4().hex
    for number in range(5):
        bucket.blob(f"{folder}/a/{number}").upload_from_string(b"")
    bucket.blob(f"{folder}/b").upload_from_string(b"")
    listing = client.list_blobs(BUCKET, prefix=f"{folder}/", delimiter="/")
    equal([blob.name for blob in listing], [f"{folder}/b"])
    equal(sorted(listing.prefixes), [f"{folder}/a/"])
    paged = client.list_blobs(BUCKET, prefix=f"{folder}/a/", page_size=2)
    equal([blob.name for blob in paged], [f"{folder}/a/{number}" for number in range(5)])


def case_preconditions_hold():
    blob = bucket.blob(name())
    blob.upload_from_string(b"1", if_generation_match=0)
    raises(exceptions.PreconditionFailed, lambda: bucket.blob(blob.name).upload_from_string(b"2", if_generation_match=0))
    equal(bucket.blob(blob.name).download_as_bytes(), b"1")


def case_objects_are_copied():
    blob = bucket.blob(name())
    blob.upload_from_string(b"copied", content_type="text/x")
    copy = bucket.copy_blob(blob, bucket, name())
    equal((copy.download_as_bytes(), copy.content_type), (b"copied", "text/x"))


def case_the_api_of_firebase_serves_the_same_objects():
    object_name = name()
    status, body, _ = call(
        "POST", f"/v0/b/{BUCKET}/o?name={urllib.parse.quote(object_name, safe='')}", b"hello",
        {"Content-Type": "text/plain"})
    equal(status, 200)
    token = json.loads(body)["downloadTokens"]
    status, body, fields = call("GET", f"{place(object_name)}?alt=media&token={token}", fields={"Range": "bytes=1-3"})
    equal((status, body, fields["Content-Range"]), (206, b"ell", "bytes 1-3/5"))
    equal(bucket.blob(object_name).download_as_bytes(), b"hello")
    equal(call("DELETE", place(object_name))[0] // 100, 2)
    equal(call("GET", f"{place(object_name)}?alt=media")[0], 404)


def case_signed_urls_and_xml():
    import datetime
    from google.auth import crypt
    from google.oauth2 import service_account
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    signer = service_account.Credentials(crypt.RSASigner.from_string(key), "dev@demo.iam.gserviceaccount.com", "http://t")
    blob = bucket.blob(name())
    for version in ["v4", "v2"]:
        def signed(method, minutes=5, **more):
            url = blob.generate_signed_url(expiration=datetime.timedelta(minutes=minutes), method=method, version=version,
                                           credentials=signer, api_access_endpoint=f"http://{HOST}", **more)
            return url[url.index("/", 8):]
        status, _, fields = call("PUT", signed("PUT"), b"by a signed URL", {"Content-Type": "text/x", "x-goog-meta-a": "b"})
        equal((status, fields["x-goog-metageneration"]), (200, "1"))
        status, text, fields = call("GET", signed("GET"))
        equal((status, text, fields["Content-Type"], fields["x-goog-meta-a"]), (200, b"by a signed URL", "text/x", "b"))
        status, text, _ = call("GET", signed("GET").replace("X-Goog-Date=20", "X-Goog-Date=19").replace("Expires=1", "Expires=0"))
        equal(status, 400)
        expect(b"<Code>" in text, text)
        equal(call("DELETE", signed("DELETE"))[0], 204)
        status, text, _ = call("GET", signed("GET"))
        equal(status, 404)
        expect(b"<Code>NoSuchKey</Code>" in text, text)


def case_buckets_with_objects_are_listed():
    client.bucket("another-bucket").blob("x").upload_from_string("x")
    names = [one.name for one in client.list_buckets()]
    expect(BUCKET in names and "another-bucket" in names, names)


run(sys.modules[__name__], sys.argv[1:])
