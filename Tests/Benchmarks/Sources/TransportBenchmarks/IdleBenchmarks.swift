import BenchmarkKit
import Foundation
import Glibc
import VestaConcurrency
import VestaTransport
import VestaTransportInterop

/// The memory of connections on which nothing happens, of as many as the process has descriptors for.
///
/// They have several addresses of the loopback, as one has some 28,000 ports. Their server lets them be idle for an
/// hour: the last of them is opened long after the first.
func idleBenchmarks() async throws -> [Benchmark] {
  var tuning = TransportTuning()
  tuning.idleTimeout = .seconds(3_600)
  let server = try VestaTransportServer(loops: 2, tuning: tuning)
  let local = TransportAddress.internet(host: "127.0.0.1", port: 0)
  let plain = try await server.listen(at: local, handler: Hello())
  let certificates = try TLSCertificates([.files(chain: Nginx.chain, key: Nginx.key)])
  let secure = try await server.listen(at: local, security: TLSServerSettings(certificates), handler: Hello())
  let (port, securePort) = (plain.address.port ?? 0, secure.address.port ?? 0)

  func line(_ name: String, _ kind: String, port: Int, bar: Double) -> Benchmark {
    Benchmark(
      name: "transport-idle-\(name)", unit: .kibibytes, bar: .figure(atMost: bar),
      ours: ("Vesta", { await IdleConnections.memory(kind, port: port) }), other: ("nothing", { .nan }))
  }
  return [
    line("http1", "http1", port: port, bar: 4), line("socket", "socket", port: port, bar: 4),
    line("http2", "http2", port: port, bar: 32), line("tls", "tls", port: securePort, bar: 20),
  ]
}

private enum IdleConnections {
  /// Opens connections, has an answer on each, and waits for a line.
  private static let script = """
    import resource, socket, ssl, sys
    kind, port = sys.argv[1], int(sys.argv[2])
    count = min(50000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 400)
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    plain = b"GET / HTTP/1.1\\r\\nhost: h\\r\\n\\r\\n"
    upgrade = (b"GET /socket HTTP/1.1\\r\\nhost: h\\r\\nconnection: upgrade\\r\\nupgrade: websocket\\r\\n"
      b"sec-websocket-version: 13\\r\\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n")
    preface = b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
    asked = {"http1": plain, "tls": plain, "socket": upgrade, "http2": preface}[kind]
    context = ssl._create_unverified_context()
    kept = []
    # A connection may be refused while others are being closed: it is opened again.
    while len(kept) < count:
      index = len(kept)
      s = socket.create_connection(("127.0.0.1", port), source_address=(f"127.0.0.{2 + index // 20000}", 0))
      try:
        if kind == "tls": s = context.wrap_socket(s)
        s.sendall(asked)
        if s.recv(4096): kept.append(s)
      except (ConnectionResetError, ssl.SSLError): pass
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
    waitForDescriptors()
    trim()
    let before = Memory.resident()
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    let used = Memory.resident() - before
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    guard let count = Double(line.filter(\.isNumber)), count > 0 else { return .nan }
    print("\(kind): \(Int(count)) connections")
    return used / count
  }

  /// Gives back what earlier connections have used, so that these do not get it for nothing.
  private static func trim() {
    typealias Trim = @convention(c) (Int) -> Int32
    // Sound: the function of glibc has this type, and its module for Swift does not have it.
    if let trim = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(trim, to: Trim.self)(0) }
  }

  /// Waits until the connections of the line before are closed, and their descriptors free.
  private static func waitForDescriptors() {
    for _ in 0..<300 {
      guard let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"), open.count > 200 else {
        return
      }
      Thread.sleep(forTimeInterval: 0.1)
    }
  }
}
