"""A service by grpcio, with TLS if that and the files of a key and a chain are given. Prints its port."""
import sys
import time
from concurrent import futures

import grpc


def unary(request, context):
    context.send_initial_metadata((("x-text", dict(context.invocation_metadata()).get("x-text", "none")),))
    context.set_trailing_metadata((("x-back-bin", b"\x00\xff"),))
    return request


def fail(request, context):
    context.set_trailing_metadata((("grpc-status-details-bin", b"\x08\x09"),))
    context.abort(grpc.StatusCode.FAILED_PRECONDITION, "nö: 100%\n")


def never(request, context):
    while context.is_active():
        time.sleep(0.02)
    return b""


def count(request, context):
    for index in range(int(request)):
        yield bytes([index & 255])


def total(requests, context):
    return str(sum(len(r) for r in requests)).encode()


def echo(requests, context):
    yield from requests


handlers = {
    "Unary": grpc.unary_unary_rpc_method_handler(unary),
    "Fail": grpc.unary_unary_rpc_method_handler(fail),
    "Never": grpc.unary_unary_rpc_method_handler(never),
    "Count": grpc.unary_stream_rpc_method_handler(count),
    "Sum": grpc.stream_unary_rpc_method_handler(total),
    "Echo": grpc.stream_stream_rpc_method_handler(echo),
}
server = grpc.server(
    futures.ThreadPoolExecutor(max_workers=8), compression=grpc.Compression.Gzip if "gzip" in sys.argv else None,
    options=[("grpc.max_receive_message_length", 16 << 20), ("grpc.max_concurrent_streams", 5)])
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("t.T", handlers),))
if "tls" in sys.argv:
    key, chain = (open(name, "rb").read() for name in sys.argv[-2:])
    port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key, chain)]))
else:
    port = server.add_insecure_port("127.0.0.1:0")
print(port, flush=True)
server.start()
server.wait_for_termination(300)
