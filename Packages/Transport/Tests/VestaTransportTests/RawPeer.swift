import Glibc
import VestaTransportInterop

@testable import VestaTransport

/// A peer on a socket that sends what a test wants, and blocks its thread for at most some seconds.
final class RawPeer {
  private let descriptor: Int32
  private var isOpen = true

  init(_ address: TransportAddress, receiveBuffer: Int32? = nil) throws {
    guard case .internet(let host, let port) = address, let place = SocketAddress(host: host, port: port) else {
      throw TransportError(.invalidArgument, "no address")
    }
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if var receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
    }
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    PlatformSocket.sendAtOnce(descriptor)
    guard place.withPointer({ connect(descriptor, $0, $1) }) == 0 else {
      throw TransportError(.cannotConnect, "cannot connect")
    }
  }

  /// A peer on a connection that was accepted.
  init(accepted descriptor: Int32) { self.descriptor = descriptor }

  deinit { close() }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// The next bytes; empty at the end, `nil` after a reset or when nothing arrives.
  func receive() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return count < 0 ? nil : Array(buffer.prefix(count))
  }

  /// Everything until the end, or until as many bytes are there.
  func receiveText(_ count: Int = .max) -> String {
    var all: [UInt8] = []
    while all.count < count, let bytes = receive(), !bytes.isEmpty { all += bytes }
    return String(decoding: all, as: UTF8.self)
  }

  /// Everything until the text has arrived `times` times, or until the end.
  func receive(until text: String, times: Int = 1) -> String {
    var all = ""
    while all.components(text) < times, let bytes = receive(), !bytes.isEmpty {
      all += String(decoding: bytes, as: UTF8.self)
    }
    return all
  }

  /// A descriptor of the same socket, which the caller closes.
  func duplicate() -> Int32 { dup(descriptor) }

  /// Says that nothing follows.
  func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  func close() {
    if isOpen { _ = Glibc.close(descriptor) }
    isOpen = false
  }

  func reset() {
    PlatformSocket.resetOnClose(descriptor)
    close()
  }
}

extension String {
  /// How often a text is in this one.
  func components(_ text: String) -> Int {
    let (all, wanted) = (Array(utf8), Array(text.utf8))
    guard all.count >= wanted.count else { return 0 }
    return (0...all.count - wanted.count).count { all[$0..<$0 + wanted.count].elementsEqual(wanted) }
  }
}

/// A server with a handler that answers what the tests ask for, on two loops.
struct TestServer {
  let server: VestaTransportServer
  let listener: ServerListener

  static func run<Value>(
    _ change: (inout TransportTuning) -> Void = { _ in }, handler: any HTTPHandler = TestHandler(),
    _ body: (TestServer) async throws -> Value
  ) async throws -> Value {
    var tuning = TransportTuning()
    tuning.sweepInterval = .milliseconds(10)
    change(&tuning)
    let server = try VestaTransportServer(loops: 2, tuning: tuning)
    let opened = try await server.listen(at: .internet(host: "127.0.0.1", port: 0), handler: handler)
    guard let listener = opened as? ServerListener else { throw TransportError(.cannotListen, "another listener") }
    do {
      let value = try await body(TestServer(server: server, listener: listener))
      await listener.shutDown(within: .zero)
      await server.stop()
      return value
    } catch {
      await listener.shutDown(within: .zero)
      await server.stop()
      throw error
    }
  }

  func peer(receiveBuffer: Int32? = nil) throws -> RawPeer {
    try RawPeer(listener.address, receiveBuffer: receiveBuffer)
  }

  /// Whether a good request is served.
  func isAlive() throws -> Bool {
    let peer = try peer()
    peer.send("GET /alive HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n")
    return peer.receiveText().hasSuffix("\r\n\r\n/alive")
  }

  /// Waits until so few connections are open.
  func waitForConnections(_ count: Int) async { while listener.connectionCount > count { await Task.yield() } }
}

/// Answers with the target, or as the target says.
struct TestHandler: HTTPHandler {
  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery {
    ["/stream", "/hold"].contains(head.target) ? .streamed : .collected(upTo: 100_000)
  }

  func reply(to request: HTTPRequest) -> HTTPReply {
    switch request.target {
    case "/echo": .response(HTTPResponse(body: request.body))
    case "/task":
      .task {
        await Task.yield()
        return HTTPResponse(body: .text("task"))
      }
    case "/large": .response(HTTPResponse(body: .bytes([UInt8](repeating: 65, count: 20_000_000))))
    case "/stream":
      .task {
        var count = 0
        for try await bytes in request.body.stream { count += bytes.count }
        return HTTPResponse(body: .text("\(count)"))
      }
    case "/ignore": .response(HTTPResponse(body: .text("ignored")))
    case "/never", "/hold":
      .task {
        try await Task.sleep(for: .seconds(1_000))
        return HTTPResponse()
      }
    case "/socket":
      .webSocket(
        WebSocketService(messageLimit: 100_000) { socket in
          for try await message in socket.messages { try await socket.send(message) }
        })
    default: .response(HTTPResponse(body: .text(request.target)))
    }
  }
}

/// A server that reads the head of one request, sends an answer, and ends the connection.
final class RawServer: Sendable {
  private let descriptor: Int32
  let authority: String

  init(answer: String) throws {
    guard let place = SocketAddress(host: "127.0.0.1", port: 0) else { throw TransportError(.cannotListen, "") }
    let descriptor = try PlatformSocket.listen(at: place, shares: false, backlog: 8)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    self.descriptor = descriptor
    authority = PlatformSocket.localAddress(descriptor)?.description ?? ""
    _ = PlatformThread.start {
      let accepted = accept(descriptor, nil, nil)
      guard accepted >= 0 else { return }
      var buffer = [UInt8](repeating: 0, count: 4_096)
      var request = ""
      while !request.hasSuffix("\r\n\r\n") {
        let count = recv(accepted, &buffer, buffer.count, 0)
        guard count > 0 else { break }
        request += String(decoding: buffer.prefix(count), as: UTF8.self)
      }
      let bytes = Array(answer.utf8)
      _ = Glibc.send(accepted, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      _ = Glibc.close(accepted)
    }
  }

  deinit { PlatformSocket.close(descriptor) }
}

/// A server whose connections a test takes one after the other, on a thread that waits.
final class AcceptingServer: Sendable {
  private let descriptor: Int32
  let authority: String

  init() throws {
    guard let place = SocketAddress(host: "127.0.0.1", port: 0) else { throw TransportError(.cannotListen, "") }
    descriptor = try PlatformSocket.listen(at: place, shares: false, backlog: 8)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    authority = PlatformSocket.localAddress(descriptor)?.description ?? ""
  }

  deinit { PlatformSocket.close(descriptor) }

  func accept() -> RawPeer? {
    let accepted = Glibc.accept(descriptor, nil, nil)
    guard accepted >= 0 else { return nil }
    PlatformSocket.sendAtOnce(accepted)
    return RawPeer(accepted: accepted)
  }
}
