"""Streams of gRPC as they are: how they end.

  firestore_streams.py held     listens and writes, says `open`, and expects UNAVAILABLE when the server ends
  firestore_streams.py refused  expects that the word "owner", unsigned tokens and strangers are refused
  firestore_streams.py cases    everything else
"""
import os
import queue
import sys

import grpc
from google.cloud.firestore_v1 import types

from cases import equal, expect, run

HOST = os.environ["FIRESTORE_EMULATOR_HOST"]
DATABASE = "projects/streams/databases/(default)"
METADATA = [("authorization", "Bearer owner")]


class Stream:
    def __init__(self, name, request, response):
        self.requests = queue.Queue()
        channel = grpc.insecure_channel(HOST)
        method = channel.stream_stream(
            f"/google.firestore.v1.Firestore/{name}", request_serializer=lambda m: type(m).serialize(m),
            response_deserializer=response.deserialize)
        self.call = method(iter(self.requests.get, None), metadata=METADATA)

    def send(self, message):
        self.requests.put(message)

    def finish(self):
        self.requests.put(None)

    def receive(self):
        return next(self.call)


def listen(document, target=1):
    stream = Stream("Listen", types.ListenRequest, types.ListenResponse)
    stream.send(types.ListenRequest(database=DATABASE, add_target=types.Target(
        target_id=target, documents=types.Target.DocumentsTarget(documents=[f"{DATABASE}/documents/{document}"]))))
    return stream


def write():
    stream = Stream("Write", types.WriteRequest, types.WriteResponse)
    stream.send(types.WriteRequest(database=DATABASE))
    return stream


def until(stream, condition):
    while True:
        message = stream.receive()
        if condition(message):
            return message


def is_current(message):
    return message.target_change.target_change_type == types.TargetChange.TargetChangeType.CURRENT


def is_snapshot(message):
    change = message.target_change
    return "target_change" in message and not change.target_ids and change.read_time is not None


def case_a_stream_of_writes_answers_each_request_in_order():
    stream = write()
    hello = stream.receive()
    expect(hello.stream_token and not hello.commit_time)
    token = hello.stream_token
    for number in range(10):
        document = types.Document(name=f"{DATABASE}/documents/a/b", fields={"n": types.Value(integer_value=number)})
        stream.send(types.WriteRequest(stream_token=token, writes=[types.Write(update=document)]))
    times = [stream.receive().commit_time for _ in range(10)]
    equal(times, sorted(times))
    stream.finish()
    equal(list(stream.call), [])
    equal(stream.call.code(), grpc.StatusCode.OK)


def case_a_refused_write_ends_its_stream_with_the_reason():
    stream = write()
    token = stream.receive().stream_token
    refused = types.Write(delete=f"{DATABASE}/documents/a/none", current_document=types.Precondition(exists=True))
    stream.send(types.WriteRequest(stream_token=token, writes=[refused]))
    try:
        stream.receive()
        raise AssertionError("the write was accepted")
    except grpc.RpcError as error:
        equal(error.code(), grpc.StatusCode.NOT_FOUND)


def case_a_listener_gets_one_addition_a_state_and_a_snapshot():
    stream = listen("a/missing")
    first = stream.receive()
    equal(first.target_change.target_change_type, types.TargetChange.TargetChangeType.ADD)
    current = until(stream, is_current)
    expect(current.target_change.resume_token)
    until(stream, is_snapshot)
    stream.send(types.ListenRequest(database=DATABASE, remove_target=1))
    removed = until(stream, lambda m: m.target_change.target_change_type == types.TargetChange.TargetChangeType.REMOVE)
    equal(list(removed.target_change.target_ids), [1])
    stream.finish()
    list(stream.call)
    equal(stream.call.code(), grpc.StatusCode.OK)


def case_what_is_no_message_is_refused():
    channel = grpc.insecure_channel(HOST)
    for name, bytes in [("Commit", b"\xff"), ("RunQuery", b"\x0f\x00"), ("Listen", b"\xff\xff")]:
        method = channel.stream_stream(f"/google.firestore.v1.Firestore/{name}")
        call = method(iter([bytes]), metadata=METADATA)
        try:
            list(call)
        except grpc.RpcError:
            pass
        equal((name, call.code()), (name, grpc.StatusCode.INVALID_ARGUMENT))
    for name in ["ExecutePipeline", "Nothing"]:
        call = channel.stream_stream(f"/google.firestore.v1.Firestore/{name}")(iter([b""]), metadata=METADATA)
        try:
            list(call)
        except grpc.RpcError:
            pass
        equal((name, call.code()), (name, grpc.StatusCode.UNIMPLEMENTED))


def held():
    streams = [listen("a/b"), write()]
    until(streams[0], is_snapshot)
    streams[1].receive()
    print("open", flush=True)
    codes = []
    for stream in streams:
        try:
            while True:
                stream.receive()
        except StopIteration:
            codes.append(grpc.StatusCode.OK)
        except grpc.RpcError as error:
            codes.append(error.code())
    print(f"ended with {codes}", flush=True)
    os._exit(0 if codes == [grpc.StatusCode.UNAVAILABLE] * 2 else 1)


def refused():
    import base64
    import json
    import urllib.error
    import urllib.request
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in [
        {"alg": "none", "type": "JWT"}, {"sub": "ada", "user_id": "ada"}]]
    channel = grpc.insecure_channel(HOST)
    get = channel.unary_unary(
        "/google.firestore.v1.Firestore/GetDocument", request_serializer=types.GetDocumentRequest.serialize)
    allowed = {grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNAUTHENTICATED}
    for metadata in [[], METADATA, [("authorization", f"Bearer {parts[0]}.{parts[1]}.")]]:
        try:
            get(types.GetDocumentRequest(name="projects/real/databases/(default)/documents/a/b"), metadata=metadata)
            raise AssertionError(f"{metadata} may read")
        except grpc.RpcError as error:
            expect(error.code() in allowed, error)
    try:
        urllib.request.urlopen(urllib.request.Request(
            f"http://{HOST}/emulator/v1/projects/real/databases/(default)/documents", method="DELETE"))
        raise AssertionError("everyone may clear a database")
    except urllib.error.HTTPError as error:
        equal(error.code, 404)


if __name__ == "__main__":
    {"held": held, "refused": refused, "cases": lambda: run(sys.modules[__name__], sys.argv[2:])}[sys.argv[1]]()
