"""Calls the test service by grpcio, synchronously and asynchronously. Prints "done" at the end."""
import asyncio
import sys
import threading
import time
import traceback

import grpc

target = sys.argv[1]
# The file of a root to trust: then the calls go over TLS.
root = open(sys.argv[2], "rb").read() if len(sys.argv) > 2 else None
options = [("grpc.max_receive_message_length", 16 << 20), ("grpc.max_send_message_length", 16 << 20)]


def open_channel(module):
    if root is None:
        return module.insecure_channel(target, options=options)
    return module.secure_channel(target, grpc.ssl_channel_credentials(root), options=options)


raw = dict(request_serializer=lambda b: b, response_deserializer=lambda b: b)


def expect(actual, wanted, what):
    assert actual == wanted, f"{what}: {actual!r} is not {wanted!r}"


def expect_code(call, code, what):
    try:
        call()
    except grpc.RpcError as error:
        assert error.code() == code, f"{what}: {error.code()} {error.details()}"
        return error
    raise AssertionError(f"{what}: no error")


def synchronous():
    channel = open_channel(grpc)
    unary = channel.unary_unary("/t.T/Unary", **raw)
    task = channel.unary_unary("/t.T/Task", **raw)
    for size in [0, 1, 16_384, 65_535, 1 << 20, 4 << 20]:
        message = bytes(size)
        expect(unary(message, timeout=30), message, f"unary {size}")
        expect(task(message, timeout=30), message, f"task {size}")
    response, call = unary.with_call(b"m", metadata=(("x-text", "v"), ("x-raw-bin", b"\x00\xff\x01")))
    expect(dict(call.initial_metadata())["x-text"], "v", "metadata")
    expect(dict(call.trailing_metadata())["x-back-bin"], b"\x00\xff\x01", "binary trailer")
    expect_code(lambda: unary(bytes((4 << 20) + 1)), grpc.StatusCode.RESOURCE_EXHAUSTED, "too large")
    expect_code(lambda: channel.unary_unary("/t.T/No", **raw)(b""), grpc.StatusCode.UNIMPLEMENTED, "no method")
    error = expect_code(
        lambda: channel.unary_unary("/t.T/Fail", **raw)(b""), grpc.StatusCode.FAILED_PRECONDITION, "fail")
    expect(error.details(), "nö: 100%\n", "message")
    expect(dict(error.trailing_metadata())["grpc-status-details-bin"], b"\x08\x09", "details")
    expect_code(
        lambda: channel.unary_unary("/t.T/Never", **raw)(b"", timeout=0.1), grpc.StatusCode.DEADLINE_EXCEEDED,
        "deadline")
    zipped = channel.unary_unary("/t.T/Unary", **raw)
    expect(zipped(bytes(100_000), compression=grpc.Compression.Gzip), bytes(100_000), "gzip")
    expect_code(
        lambda: zipped(bytes((4 << 20) + 1), compression=grpc.Compression.Gzip), grpc.StatusCode.RESOURCE_EXHAUSTED,
        "a bomb of gzip")
    count = channel.unary_stream("/t.T/Count", **raw)
    expect(sum(1 for _ in count(b"5000")), 5000, "server stream")
    total = channel.stream_unary("/t.T/Sum", **raw)
    expect(total(bytes(i) for i in range(200)), b"19900", "client stream")
    echo = channel.stream_stream("/t.T/Echo", **raw)
    gate = threading.Semaphore(1)

    def requests():
        for index in range(100):
            gate.acquire()
            yield bytes([index]) * (index * 100)

    for index, message in enumerate(echo(requests())):
        expect(message, bytes([index]) * (index * 100), f"echo {index}")
        gate.release()
    # A caller that reads late gets everything.
    slow = count(b"300000")
    received = 0
    for message in slow:
        received += 1
        if received == 10:
            time.sleep(0.5)
    expect(received, 300000, "slow reader")
    # Cancellations do not hurt the connection.
    for _ in range(200):
        call = count(b"1000000")
        next(call)
        call.cancel()
    futures = [task.future(bytes([i])) for i in range(250)]
    expect([f.result(timeout=30) for f in futures], [bytes([i]) for i in range(250)], "more calls than streams")
    channel.close()


async def asynchronous():
    async with open_channel(grpc.aio) as channel:
        unary = channel.unary_unary("/t.T/Task", **raw)
        expect(await unary(bytes(4 << 20), timeout=30), bytes(4 << 20), "aio unary")
        answers = await asyncio.gather(*[unary(bytes([i])) for i in range(200)])
        expect(answers, [bytes([i]) for i in range(200)], "aio many")
        call = channel.stream_stream("/t.T/Echo", **raw)()
        for index in range(50):
            await call.write(bytes([index]))
            expect(await call.read(), bytes([index]), "aio echo")
        await call.done_writing()
        expect(await call.read(), grpc.aio.EOF, "aio end")
        expect(await call.code(), grpc.StatusCode.OK, "aio code")
        never = channel.unary_unary("/t.T/Never", **raw)(b"", timeout=0.1)
        try:
            await never
            raise AssertionError("aio deadline")
        except grpc.aio.AioRpcError as error:
            expect(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED, "aio deadline")
        cancelled = channel.unary_unary("/t.T/Never", **raw)(b"")
        await asyncio.sleep(0.05)
        cancelled.cancel()
        try:
            await cancelled
            raise AssertionError("aio cancel")
        except asyncio.CancelledError:
            pass


try:
    synchronous()
    asyncio.run(asynchronous())
    print("done")
except BaseException:
    traceback.print_exc(file=sys.stdout)
    sys.exit(1)
