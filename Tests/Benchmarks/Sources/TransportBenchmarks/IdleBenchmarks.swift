import BenchmarkKit
import Foundation
import VestaConcurrency
import VestaTransport
import VestaTransportInterop

/// The memory of connections on which nothing happens.
///
/// There are half as many as the process has descriptors for, as those of the line before may still be there, and all
/// must be open before the first of them is idle for too long.
func idleBenchmarks(_ ports: Ports) async throws -> [Benchmark] {
  func line(_ name: String, _ kind: String, port: Int, bar: Double) -> Benchmark {
    Benchmark(
      name: "transport-idle-\(name)", unit: .kibibytes, bar: .figure(atMost: bar),
      ours: ("Vesta", { await IdleConnections.memory(kind, port: port) }), other: ("nothing", { .nan }))
  }
  return [
    line("http1", "http1", port: ports.ours, bar: 4), line("socket", "socket", port: ports.ours, bar: 4),
    line("http2", "http2", port: ports.ours, bar: 32), line("tls", "tls", port: ports.oursSecure, bar: 20),
  ]
}

private enum IdleConnections {
  /// Opens connections, has an answer on each, and waits for a line.
  private static let script = """
    import resource, socket, ssl, sys
    kind, port = sys.argv[1], int(sys.argv[2])
    count = min(50000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] // 2 - 300)
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    plain = b"GET / HTTP/1.1\\r\\nhost: h\\r\\n\\r\\n"
    upgrade = (b"GET /socket HTTP/1.1\\r\\nhost: h\\r\\nconnection: upgrade\\r\\nupgrade: websocket\\r\\n"
      b"sec-websocket-version: 13\\r\\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n")
    preface = b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
    asked = {"http1": plain, "tls": plain, "socket": upgrade, "http2": preface}[kind]
    context = ssl._create_unverified_context()
    kept = []
    # The connections of the line before may still be open: then the server has no descriptors left for a moment.
    while len(kept) < count:
      index = len(kept)
      s = socket.create_connection(("127.0.0.1", port), source_address=(f"127.0.0.{2 + index // 20000}", 0))
      if kind == "tls": s = context.wrap_socket(s)
      try:
        s.sendall(asked)
        if s.recv(4096): kept.append(s)
      except ConnectionResetError: pass
    print(count, flush=True)
    sys.stdin.readline()
    """

  /// The memory for each connection, in bytes.
  static func memory(_ kind: String, port: Int) async -> Double {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: (try? run(kind, port)) ?? .nan) }
    }
  }

  private static func run(_ kind: String, _ port: Int) throws -> Double {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = ["-c", script, kind, "\(port)"]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    let before = Memory.resident()
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    let used = Memory.resident() - before
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    guard let count = Double(line.filter(\.isNumber)), count > 0 else { return .nan }
    return used / count
  }
}
