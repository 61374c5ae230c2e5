import Foundation
import Glibc
import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// As many idle connections as the process has descriptors for, up to 50,000.
@Suite(.serialized, .enabled(if: Soak.isAsked), .timeLimit(.minutes(20))) struct IdleConnectionSoakTests {
  /// Opens connections from several addresses of the loopback, has an answer on each, waits for a line, and asks again
  /// on some of them.
  private static let script = """
    import resource, socket, ssl, sys
    kind, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    plain = b"GET / HTTP/1.1\\r\\nhost: h\\r\\n\\r\\n"
    upgrade = (b"GET /socket HTTP/1.1\\r\\nhost: h\\r\\nconnection: upgrade\\r\\nupgrade: websocket\\r\\n"
      b"sec-websocket-version: 13\\r\\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n")
    preface = b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
    first = {"http1": plain, "tls": plain, "socket": upgrade, "http2": preface}[kind]
    again = {"http1": plain, "tls": plain, "socket": bytes([0x89, 0x80, 0, 0, 0, 0]),
      "http2": bytes([0, 0, 8, 6, 0, 0, 0, 0, 0]) + b"12345678"}[kind]
    context = ssl._create_unverified_context()
    kept = []
    while len(kept) < count:
      index = len(kept)
      s = socket.create_connection(("127.0.0.1", port), source_address=(f"127.0.0.{2 + index // 10000}", 0))
      if kind == "tls": s = context.wrap_socket(s)
      s.sendall(first)
      assert s.recv(4096)
      kept.append(s)
    print("open", flush=True)
    sys.stdin.readline()
    for s in kept[::97]:
      s.settimeout(20)
      s.sendall(again)
      assert s.recv(4096)
    print("served", flush=True)
    """

  /// Gives back what earlier connections have used, so that it is not taken for nothing by these.
  private static func trim() {
    typealias Trim = @convention(c) (Int) -> Int32
    // Sound: the function of glibc has this type, and its module for Swift does not have it.
    if let trim = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(trim, to: Trim.self)(0) }
  }

  /// The resident memory of this process, in bytes.
  private static func resident() -> Double {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line.flatMap { Double($0.filter(\.isNumber)) }.map { $0 * 1_024 } ?? .nan
  }

  @Test(arguments: [("http1", 4.0), ("socket", 4), ("http2", 32), ("tls", 20)] as [(String, Double)])
  func `idle connections cost little memory, and are served`(kind: String, limit: Double) async throws {
    var descriptors = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &descriptors)
    descriptors.rlim_cur = descriptors.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &descriptors)
    let count = min(50_000, Int(clamping: descriptors.rlim_max) - 400)
    var tuning = TransportTuning()
    tuning.idleTimeout = .seconds(3_600)
    let server = try VestaTransportServer(loops: 2, tuning: tuning)
    let identity = TestAuthority.shared.identity(names: "DNS:localhost,IP:127.0.0.1")
    let security = TLSServerSettings(try TLSCertificates([identity]))
    let opened = try await server.listen(
      at: .internet(host: "127.0.0.1", port: 0), security: kind == "tls" ? security : nil, handler: TestHandler())
    let listener = try #require(opened as? ServerListener)
    Self.trim()
    let before = Self.resident()
    let (used, served) = try await Self.open(kind, listener, count, since: before)
    print("\(kind): \(count) idle connections, \(used / Double(count) / 1_024) KiB each")
    #expect(served && used / Double(count) <= limit * 1_024)
    while listener.connectionCount > 0 { await Task.yield() }
    await listener.shutDown(within: .zero)
    await server.stop()
  }

  private static func open(
    _ kind: String, _ listener: ServerListener, _ count: Int, since before: Double
  ) async throws -> (used: Double, served: Bool) {
    let port = listener.address.port ?? 0
    return try await TestThreads.run {
      Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", script, kind, "\(port)", "\(count)"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let isOpen = output.fileHandleForReading.availableData == Data("open\n".utf8)
        let used = resident() - before
        let all = listener.connectionCount
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        let isServed = output.fileHandleForReading.availableData == Data("served\n".utf8)
        process.waitUntilExit()
        return (used, isOpen && isServed && all == count && process.terminationStatus == 0)
      }
    }.get()
  }
}
