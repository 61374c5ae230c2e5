"""The public calls of google-cloud-storage, at the server of FIREBASE_STORAGE_EMULATOR_HOST."""
import base64
import datetime
import hashlib
import io
import os
import sys
import urllib.error
import urllib.request
import uuid

HOST = os.environ["FIREBASE_STORAGE_EMULATOR_HOST"]
os.environ["STORAGE_EMULATOR_HOST"] = f"http://{HOST}"

import google_crc32c
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

from cases import equal, expect, raises, run

client = storage.Client(project="demo", credentials=AnonymousCredentials())
bucket = client.bucket("demo.appspot.com")


def folder():
    return uuid.uuid4().hex


def made(content=b"content", **more):
    blob = bucket.blob(f"{folder()}/file.txt")
    blob.upload_from_string(content, content_type="text/plain", **more)
    return blob


# Objects


def case_uploads_of_every_kind():
    content = os.urandom(700_000)
    for options in [{}, {"chunk_size": 1 << 18}]:
        blob = bucket.blob(f"{folder()}/file.bin", **options)
        blob.upload_from_file(io.BytesIO(content), size=len(content), content_type="application/x-test")
        equal((blob.size, blob.content_type), (len(content), "application/x-test"))
        equal(blob.crc32c, base64.b64encode(google_crc32c.Checksum(content).digest()).decode())
        equal(blob.md5_hash, base64.b64encode(hashlib.md5(content).digest()).decode())
    stream = bucket.blob(f"{folder()}/unknown", chunk_size=1 << 18)
    stream.upload_from_file(io.BytesIO(content))
    equal(stream.download_as_bytes(), content)
    with bucket.blob(f"{folder()}/written").open("wb", chunk_size=1 << 18) as file:
        for start in range(0, len(content), 100_000):
            file.write(content[start:start + 100_000])
        name = file._blob.name
    equal(bucket.blob(name).download_as_bytes(), content)
    text = bucket.blob(f"{folder()}/text")
    with text.open("w") as file:
        file.write("one\ntwo\n")
    equal(text.download_as_text(), "one\ntwo\n")
    url = text.create_resumable_upload_session(content_type="text/plain", size=3)
    request = urllib.request.Request(url, b"abc", {"Content-Type": "text/plain"}, method="PUT")
    equal(urllib.request.urlopen(request, timeout=60).status, 200)
    equal(bucket.blob(text.name).download_as_bytes(), b"abc")


def case_checksums_are_compared():
    for checksum in ["md5", "crc32c", "auto"]:
        for size in [10, 600_000]:
            blob = bucket.blob(f"{folder()}/sum", chunk_size=1 << 18 if size > 10 else None)
            blob.upload_from_file(io.BytesIO(b"s" * size), size=size, checksum=checksum)
            equal(len(blob.download_as_bytes(checksum=checksum)), size)
    wrong = bucket.blob(f"{folder()}/wrong")
    wrong.md5_hash = base64.b64encode(hashlib.md5(b"another").digest()).decode()
    raises(exceptions.BadRequest, lambda: wrong.upload_from_string(b"content", checksum=None))
    equal(wrong.exists(), False)


def case_downloads_of_every_kind():
    blob = made(b"0123456789")
    equal(blob.download_as_bytes(start=2, end=5), b"2345")
    equal(blob.download_as_bytes(start=7), b"789")
    equal(blob.download_as_bytes(end=0), b"0")
    equal(blob.download_as_bytes(raw_download=True), b"0123456789")
    equal(raises(exceptions.RequestRangeNotSatisfiable, lambda: blob.download_as_bytes(start=10)).code, 416)
    with blob.open("rb") as file:
        file.seek(4)
        equal(file.read(3), b"456")
    target = io.BytesIO()
    client.download_blob_to_file(f"gs://{bucket.name}/{blob.name}", target)
    equal(target.getvalue(), b"0123456789")
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), folder())
    blob.download_to_filename(path)
    with open(path, "rb") as file:
        equal(file.read(), b"0123456789")
    os.remove(path)
    equal(bucket.blob(f"{folder()}/empty").exists(), False)
    empty = made(b"")
    equal((empty.download_as_bytes(), empty.size), (b"", 0))


def case_many_transfers_at_once():
    from google.cloud.storage import transfer_manager
    prefix = folder()
    content = os.urandom(900_000)
    big = bucket.blob(f"{prefix}/big")
    big.upload_from_string(content)
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), folder())
    transfer_manager.download_chunks_concurrently(
        big, path, chunk_size=200_000, max_workers=4, worker_type=transfer_manager.THREAD)
    with open(path, "rb") as file:
        equal(file.read(), content)
    pairs = [(path, bucket.blob(f"{prefix}/many/{number}")) for number in range(4)]
    transfer_manager.upload_many(pairs, worker_type=transfer_manager.THREAD, raise_exception=True)
    equal([blob.size for blob in client.list_blobs(bucket, prefix=f"{prefix}/many/")], [len(content)] * 4)
    os.remove(path)


def case_metadata_is_read_patched_and_replaced():
    blob = made()
    equal((blob.metageneration, blob.storage_class, blob.bucket.name), (1, "STANDARD", bucket.name))
    expect(blob.etag and blob.id and blob.self_link and blob.media_link and blob.time_created and blob.updated)
    blob.metadata = {"a": "1", "b": "2"}
    blob.cache_control = "no-cache"
    blob.content_language = "de"
    blob.content_disposition = "inline"
    blob.patch()
    blob.metadata = {"a": None, "c": "3"}
    blob.patch()
    again = bucket.get_blob(blob.name)
    equal((again.metadata, again.cache_control, again.metageneration), ({"b": "2", "c": "3"}, "no-cache", 3))
    again.custom_time = datetime.datetime(2030, 1, 2, tzinfo=datetime.timezone.utc)
    again.metadata = {"d": "4"}
    again.update()
    blob.reload()
    equal((blob.metadata, blob.custom_time.year, blob.cache_control), ({"d": "4"}, 2030, "no-cache"))
    blob.cache_control = None
    blob.update()
    equal(bucket.get_blob(blob.name).cache_control, None)
    gone = bucket.blob(f"{folder()}/no")
    raises(exceptions.NotFound, gone.reload)
    raises(exceptions.NotFound, gone.patch)
    raises(exceptions.NotFound, gone.delete)
    blob.reload(projection="full")


def case_preconditions_hold_on_every_call():
    blob = made()
    generation, metageneration = blob.generation, blob.metageneration
    failed = exceptions.PreconditionFailed
    fresh = bucket.blob(blob.name)
    raises(failed, lambda: fresh.reload(if_generation_match=generation + 1))
    raises(failed, lambda: fresh.patch(if_metageneration_match=metageneration + 1))
    raises(failed, lambda: fresh.update(if_generation_match=generation + 1))
    raises(failed, lambda: fresh.delete(if_generation_match=generation + 1))
    raises(failed, lambda: fresh.download_as_bytes(if_generation_match=generation + 1))
    raises(failed, lambda: fresh.upload_from_string(b"x", if_generation_match=generation + 1))
    raises(failed, lambda: fresh.upload_from_string(b"x", if_metageneration_not_match=metageneration))
    slow = bucket.blob(blob.name, chunk_size=1 << 18)
    raises(failed, lambda: slow.upload_from_string(b"x" * 300_000, if_generation_match=0))
    raises(failed, lambda: fresh.rewrite(blob, if_generation_match=0))
    raises(failed, lambda: bucket.copy_blob(blob, bucket, blob.name, if_generation_match=0))
    raises(failed, lambda: bucket.copy_blob(blob, bucket, f"{folder()}/c", if_source_generation_match=generation + 1))
    raises(failed, lambda: fresh.rewrite(blob, if_source_metageneration_match=9))
    raises(failed, lambda: fresh.compose([blob], if_generation_match=generation + 1))
    raises(failed, lambda: fresh.compose([blob], if_source_generation_match=[generation + 1]))
    equal(fresh.exists(if_generation_match=generation), True)
    raises(exceptions.NotModified, lambda: fresh.reload(if_generation_not_match=generation))
    raises(exceptions.NotModified, lambda: fresh.exists(if_metageneration_not_match=metageneration))
    equal(fresh.exists(if_generation_not_match=generation + 1), True)
    equal(fresh.download_as_bytes(if_generation_match=generation, if_metageneration_match=metageneration), b"content")
    fresh.delete(if_generation_match=generation)
    equal(fresh.exists(), False)
    fresh.upload_from_string(b"new", if_generation_match=0)


def case_a_generation_is_named():
    blob = made(b"first")
    first = blob.generation
    equal(bucket.blob(blob.name, generation=first).download_as_bytes(), b"first")
    blob.upload_from_string(b"second")
    expect(blob.generation > first)
    old = bucket.blob(blob.name, generation=first)
    raises(exceptions.NotFound, old.download_as_bytes)
    raises(exceptions.NotFound, old.reload)
    raises(exceptions.NotFound, old.delete)
    raises(exceptions.NotFound, lambda: bucket.copy_blob(blob, bucket, f"{folder()}/c", source_generation=first))
    equal(bucket.get_blob(blob.name, generation=first), None)
    equal(bucket.get_blob(blob.name).generation, blob.generation)
    equal(bucket.copy_blob(blob, bucket, f"{folder()}/c", source_generation=blob.generation).size, 6)


def case_objects_are_copied_renamed_moved_and_rewritten():
    blob = made(b"copied")
    blob.metadata = {"k": "v"}
    blob.patch()
    copy = bucket.copy_blob(blob, client.bucket("other-bucket"), f"{folder()}/copy")
    equal((copy.download_as_bytes(), copy.metadata, copy.content_type), (b"copied", {"k": "v"}, "text/plain"))
    renamed = bucket.rename_blob(blob, f"{folder()}/renamed")
    equal((blob.exists(), renamed.download_as_bytes()), (False, b"copied"))
    target = bucket.blob(f"{folder()}/rewritten")
    target.content_type = "text/x"
    equal(target.rewrite(renamed), (None, 6, 6))
    equal((target.content_type, target.download_as_bytes()), ("text/x", b"copied"))
    moved = bucket.move_blob(target, f"{folder()}/moved")
    equal((target.exists(), moved.download_as_bytes(), moved.content_type), (False, b"copied", "text/x"))
    raises(exceptions.NotFound, lambda: bucket.copy_blob(blob, bucket, f"{folder()}/no"))
    moved.update_storage_class("STANDARD")
    equal(moved.download_as_bytes(), b"copied")


def case_objects_are_composed():
    parts = [made(b"one,"), made(b"two,"), made(b"three")]
    whole = bucket.blob(f"{folder()}/whole")
    whole.content_type = "text/csv"
    whole.metadata = {"a": "b"}
    whole.compose(parts)
    equal((whole.size, whole.content_type, whole.metadata), (13, "text/csv", {"a": "b"}))
    equal(bucket.blob(whole.name).download_as_bytes(), b"one,two,three")
    equal(whole.crc32c, base64.b64encode(google_crc32c.Checksum(b"one,two,three").digest()).decode())
    whole.compose([whole, parts[0]])
    equal(whole.download_as_bytes(), b"one,two,threeone,")
    parts[0].upload_from_string(b"ONE,")
    whole.compose(parts, if_source_generation_match=[parts[0].generation, None, parts[2].generation])
    equal(whole.download_as_bytes(), b"ONE,two,three")
    raises(exceptions.NotFound, lambda: whole.compose([bucket.blob(f"{folder()}/no")]))
    raises(exceptions.BadRequest, lambda: whole.compose([]))
    raises(exceptions.BadRequest, lambda: whole.compose([parts[0]] * 33))


# Listing


def names(**more):
    return [blob.name for blob in client.list_blobs(bucket, **more)]


def case_objects_are_listed_in_every_way():
    root = folder()
    for name in ["a", "b", "c/1.txt", "c/2.jpg", "c/d/3.txt", "e"]:
        bucket.blob(f"{root}/{name}").upload_from_string(b"x")
    def listed(**more):
        return [name[len(root) + 1:] for name in names(prefix=f"{root}/", **more)]
    equal(listed(), ["a", "b", "c/1.txt", "c/2.jpg", "c/d/3.txt", "e"])
    equal(listed(start_offset=f"{root}/b"), ["b", "c/1.txt", "c/2.jpg", "c/d/3.txt", "e"])
    equal(listed(end_offset=f"{root}/c/2.jpg"), ["a", "b", "c/1.txt"])
    bounds = {"start_offset": f"{root}/b", "end_offset": f"{root}/e"}
    equal(listed(page_size=2, **bounds), ["b", "c/1.txt", "c/2.jpg", "c/d/3.txt"])
    equal(listed(start_offset=f"{root}/e", end_offset=f"{root}/b"), [])
    equal(listed(max_results=3), ["a", "b", "c/1.txt"])
    equal(listed(match_glob=f"{root}/**.txt"), ["c/1.txt", "c/d/3.txt"])
    equal(listed(match_glob=f"{root}/*"), ["a", "b", "e"])
    equal(listed(match_glob=f"{root}/c/?.{{txt,jpg}}", page_size=1), ["c/1.txt", "c/2.jpg"])
    equal(listed(match_glob=f"{root}/[a-b]"), ["a", "b"])
    equal(listed(versions=True), listed())
    equal(listed(projection="full", fields="items(name),nextPageToken"), listed())
    pages = client.list_blobs(bucket, prefix=f"{root}/", delimiter="/", page_size=1)
    equal(([blob.name[len(root) + 1:] for blob in pages], pages.prefixes), (["a", "b", "e"], {f"{root}/c/"}))
    bounded = client.list_blobs(bucket, prefix=f"{root}/", delimiter="/", **bounds)
    equal(([blob.name[len(root) + 1:] for blob in bounded], bounded.prefixes), (["b"], {f"{root}/c/"}))
    equal(names(prefix="no/such/"), [])
    equal([blob.name for blob in bucket.list_blobs(prefix=f"{root}/a")], [f"{root}/a"])


# Several at once


def case_calls_are_made_in_batches():
    blobs = [made(f"{number}".encode()) for number in range(3)]
    with client.batch():
        for blob in blobs:
            blob.metadata = {"batch": "yes"}
            blob.patch()
    equal([blob.metageneration for blob in blobs], [2, 2, 2])
    equal([bucket.get_blob(blob.name).metadata for blob in blobs], [{"batch": "yes"}] * 3)
    with client.batch():
        futures = [bucket.get_blob(blob.name) for blob in blobs]
    gone = bucket.blob(f"{folder()}/gone")
    def missing():
        with client.batch():
            blobs[0].delete()
            gone.delete()
    raises(exceptions.NotFound, missing)
    equal((blobs[0].exists(), blobs[1].exists()), (False, True))
    with client.batch(raise_exception=False) as batch:
        blobs[1].delete()
        gone.delete()
        blobs[2].delete()
    equal([response.status_code for response in batch._responses], [204, 404, 204])
    equal([blob.exists() for blob in blobs], [False] * 3)


def case_several_objects_are_deleted():
    blobs = [made() for _ in range(4)]
    bucket.delete_blob(blobs[0].name)
    bucket.delete_blobs(blobs[1:3])
    missed = []
    bucket.delete_blobs([blobs[0], blobs[3]], on_error=missed.append)
    equal([blob.name for blob in missed], [blobs[0].name])
    raises(exceptions.NotFound, lambda: bucket.delete_blobs([blobs[0]]))
    equal([blob.exists() for blob in blobs], [False] * 4)


# Buckets


def case_buckets_are_made_found_and_deleted():
    name = f"walk-{folder()}"
    equal(client.lookup_bucket(name), None)
    equal(client.bucket(name).exists(), False)
    raises(exceptions.NotFound, lambda: client.get_bucket(name))
    new = client.create_bucket(name, location="EU")
    equal((new.name, new.exists(), client.get_bucket(name).name), (name, True, name))
    raises(exceptions.Conflict, lambda: client.create_bucket(name))
    expect(name in [one.name for one in client.list_buckets()])
    equal([one.name for one in client.list_buckets(prefix=name)], [name])
    expect(new.time_created is not None and new.storage_class == "STANDARD")
    new.reload()
    new.blob("x").upload_from_string(b"x")
    raises(exceptions.Conflict, new.delete)
    new.delete(force=True)
    equal(client.lookup_bucket(name), None)
    raises(exceptions.NotFound, new.delete)
    implied = client.bucket(f"walk-{folder()}")
    implied.blob("x").upload_from_string(b"x")
    equal((implied.exists(), bucket.exists()), (True, True))


# Access


def case_access_lists_and_policies():
    blob = made()
    blob.make_public()
    equal(urllib.request.urlopen(blob.public_url, timeout=60).read(), b"content")
    expect("READER" in blob.acl.all().get_roles())
    expect({"entity": "allUsers", "role": "READER"} in list(bucket.blob(blob.name).acl))
    public = bucket.blob(f"{folder()}/public")
    public.upload_from_string(b"x", predefined_acl="publicRead")
    policy = bucket.get_iam_policy()
    equal([binding["role"] for binding in policy.bindings], ["roles/storage.admin"])
    equal(bucket.test_iam_permissions(["storage.objects.get"]), ["storage.objects.get"])
    raises(exceptions.MethodNotImplemented, lambda: bucket.set_iam_policy(policy))
    raises(exceptions.MethodNotImplemented, lambda: list(bucket.list_notifications()))


def case_signed_urls_are_made_and_used():
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    from google.auth import crypt
    from google.oauth2 import service_account
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    signer = service_account.Credentials(
        crypt.RSASigner.from_string(key), "dev@demo.iam.gserviceaccount.com", "http://t")
    blob = bucket.blob(f"{folder()}/signed file.txt")
    def call(method, body=None, version="v4", **more):
        url = blob.generate_signed_url(
            expiration=datetime.timedelta(minutes=5), method=method, version=version, credentials=signer,
            api_access_endpoint=f"http://{HOST}", **more)
        headers = {"Content-Type": more.get("content_type", "application/octet-stream")} if body else {}
        with urllib.request.urlopen(urllib.request.Request(url, body, headers, method=method), timeout=60) as response:
            return response.read(), response.headers
    for version in ["v2", "v4"]:
        call("PUT", b"signed", version, content_type="text/x")
        chosen = {"response_disposition": "attachment; filename=b.txt", "response_type": "a/b"}
        body, fields = call("GET", version=version, **chosen)
        equal(body, b"signed")
        equal((fields["Content-Disposition"], fields["Content-Type"]), ("attachment; filename=b.txt", "a/b"))
        equal(call("HEAD", version=version)[1]["Content-Length"], "6")
        call("DELETE", version=version)
    started = blob.generate_signed_url(
        expiration=datetime.timedelta(minutes=5), method="RESUMABLE", version="v4", credentials=signer,
        api_access_endpoint=f"http://{HOST}")
    start = {"x-goog-resumable": "start", "Content-Type": "text/x"}
    request = urllib.request.Request(started, b"", start, method="POST")
    session = urllib.request.urlopen(request, timeout=60).headers["Location"]
    equal(urllib.request.urlopen(urllib.request.Request(session, b"in parts", method="PUT"), timeout=60).status, 200)
    equal(bucket.blob(blob.name).download_as_bytes(), b"in parts")


run(sys.modules[__name__], sys.argv[1:])
