import BenchmarkKit
import Foundation
import Glibc
import VestaConcurrency
import VestaTransport
import VestaTransportInterop

/// One message of 100 bytes to 1,000 receivers, by WebSockets compared with redis, and by other ways compared with
/// WebSockets.
///
/// A publisher sends a number of messages, and the next ones when every receiver has them all.
func fanOutBenchmarks(_ redis: Redis) async throws -> [Benchmark] {
  let server = try VestaTransportServer(loops: 1)
  let room = Room()
  let local = TransportAddress.internet(host: "127.0.0.1", port: 0)
  let listener = try await server.listen(at: local, handler: room)
  let grpc = try await server.listen(at: local, handler: GRPCHandler(room))
  let port = listener.address.port ?? 0
  let redisTime: @Sendable () -> Double = { ProcessorTime.of("\(redis.process.processIdentifier)") }
  // The receivers are a thread of this process.
  let ownTime: @Sendable () -> Double = { ProcessorTime.own - ProcessorTime.ofThread }
  let sockets = WebSocketWire(port: port)

  func line(
    _ name: String, _ window: Int, cpu: Bool, _ bar: Double, _ label: String, _ ours: some FanOutWire,
    _ other: (String, any FanOutWire, @Sendable () -> Double)
  ) -> Benchmark {
    let (otherLabel, otherWire, otherTime) = other
    return Benchmark(
      name: "transport-\(name)-\(window)" + (cpu ? "-processor" : ""), unit: .nanoseconds, bar: .ratio(atMost: bar),
      ours: (label, { await FanOut.cost(ours, window: window, ownTime).figure(cpu) }),
      other: (otherLabel, { await FanOut.cost(otherWire, window: window, otherTime).figure(cpu) }))
  }
  return [1, 32].flatMap { window in
    [false, true].flatMap { cpu in
      [
        line(
          "fan-out", window, cpu: cpu, window == 1 ? 0.83 : 0.67, "Vesta", sockets, ("redis", RedisWire(), redisTime)),
        line("events", window, cpu: cpu, 1.25, "events", EventWire(port: port), ("WebSocket", sockets, ownTime)),
        line(
          "grpc-fan-out", window, cpu: cpu, 1.25, "gRPC",
          CallWire(port: grpc.address.port ?? 0, publisherPort: port), ("WebSocket", sockets, ownTime)),
      ]
    }
  }
}

/// Passes what a publisher says on to all that have joined, in any way.
private final class Room: HTTPHandler, GRPCService {
  private struct Members: Sendable {
    var sockets: [WebSocket] = []
    var events: [ByteStream] = []
    var calls: [GRPCServerCall] = []
  }

  private let members = Locked(Members())

  func reply(to request: HTTPRequest) -> HTTPReply {
    if request.target == "/events" {
      let stream = ByteStream()
      stream.pipe.setDemand(nil, onCancel: { [weak self, weak stream] in self?.leave(stream) })
      members.withLock { $0.events.append(stream) }
      return .response(HTTPResponse(fields: [.contentType: "text/event-stream"], body: .stream(stream)))
    }
    let isPublisher = request.target == "/publish"
    return .webSocket(
      WebSocketService { [self] socket in
        if !isPublisher { members.withLock { $0.sockets.append(socket) } }
        defer { members.withLock { $0.sockets.removeAll { $0 === socket } } }
        while let message = try await socket.messages.next() { publish(message) }
      })
  }

  private func leave(_ stream: ByteStream?) { members.withLock { $0.events.removeAll { $0 === stream } } }

  func method(at path: String) -> GRPCMethod? {
    .stream { [self] _, call in
      members.withLock { $0.calls.append(call) }
      // The fields tell the receiver that it has joined; the end of its requests is the end of the call.
      call.offer([UInt8]())
      defer { members.withLock { $0.calls.removeAll { $0 === call } } }
      for try await _ in call.requests {}
    }
  }

  private func publish(_ message: WebSocketMessage) {
    let members = members.withLock { $0 }
    for socket in members.sockets { socket.offer(message) }
    guard case .binary(let bytes) = message, !members.events.isEmpty || !members.calls.isEmpty else { return }
    let event = ServerSentEvent(String(decoding: bytes, as: UTF8.self)).encoded
    for stream in members.events { stream.offer(event) }
    for call in members.calls { call.offer(bytes) }
  }
}

/// A redis without a file, on a separate port.
struct Redis {
  static let port = 18_094
  let process: Process

  static func start() throws -> Redis {
    let path = "/usr/bin/redis-server"
    guard FileManager.default.isExecutableFile(atPath: path) else { throw TransportBenchmarkError.missing(path) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = ["--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    return Redis(process: process)
  }

  // Not SIGTERM: a child inherits the signals that the thread has blocked.
  func stop() { kill(process.processIdentifier, SIGKILL) }
}

/// How receivers and the publisher speak with a server.
private protocol FanOutWire: Sendable {
  var port: Int { get }
  /// Makes a connection a receiver's, or the publisher's.
  func join(_ peer: BlockingSocket, publishes: Bool) -> Bool
  var publisherPort: Int { get }
  /// Receives a number of messages.
  func receive(_ peer: BlockingSocket, messages: Int) -> Bool
  /// The bytes with which the publisher sends a message.
  var published: [UInt8] { get }
  /// The number of bytes by which a receiver gets a message, and the publisher the answer to each.
  var receivedCount: Int { get }
  var answerCount: Int { get }
}

extension FanOutWire {
  var publisherPort: Int { port }
  func receive(_ peer: BlockingSocket, messages: Int) -> Bool { peer.receive(messages * receivedCount) }
}

private struct WebSocketWire: FanOutWire {
  let port: Int
  // The mask is 0, which changes nothing.
  static let message: [UInt8] = [0x82, 0x80 | 100, 0, 0, 0, 0] + [UInt8](repeating: 97, count: 100)
  let published = Self.message
  let receivedCount = 102
  let answerCount = 0

  func join(_ peer: BlockingSocket, publishes: Bool) -> Bool {
    Self.open(peer, publishes ? "/publish" : "/join")
  }

  static func open(_ peer: BlockingSocket, _ target: String) -> Bool {
    let head =
      "GET \(target) HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
      + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    return peer.send(Array(head.utf8)) && peer.receive(until: Array("\r\n\r\n".utf8))
  }
}

/// Server-sent events, each in one chunk.
private struct EventWire: FanOutWire {
  let port: Int
  let published = WebSocketWire.message
  let receivedCount = ServerSentEvent(String(repeating: "a", count: 100)).encoded.count + 6
  let answerCount = 0

  func join(_ peer: BlockingSocket, publishes: Bool) -> Bool {
    if publishes { return WebSocketWire.open(peer, "/publish") }
    return peer.send(Array("GET /events HTTP/1.1\r\nhost: h\r\n\r\n".utf8))
      && peer.receive(until: Array("\r\n\r\n".utf8))
  }
}

/// Streams of gRPC, a connection for each.
private struct CallWire: FanOutWire {
  let port: Int
  let publisherPort: Int
  let published = WebSocketWire.message
  let receivedCount = 105
  let answerCount = 0

  func join(_ peer: BlockingSocket, publishes: Bool) -> Bool {
    if publishes { return WebSocketWire.open(peer, "/publish") }
    // Literal fields without an index: names and values of less than 127 bytes.
    var fields: [UInt8] = []
    for (name, value) in [
      (":method", "POST"), (":scheme", "http"), (":path", "/r.R/Join"), (":authority", "h"),
      ("content-type", "application/grpc"), ("te", "trailers"),
    ] {
      fields += [0, UInt8(name.utf8.count)]
      fields += name.utf8
      fields.append(UInt8(value.utf8.count))
      fields += value.utf8
    }
    // Windows that are never full: settings, the connection's, then the head of the call.
    let large: [UInt8] = [0x7F, 0xFF, 0, 0]
    var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    bytes += [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4] as [UInt8]
    bytes += large
    bytes += [0, 0, 4, 8, 0, 0, 0, 0, 0] as [UInt8]
    bytes += large
    bytes += [0, 0, UInt8(fields.count), 1, 4, 0, 0, 0, 1] as [UInt8]
    bytes += fields
    return peer.send(bytes) && receive(5, from: peer)
  }

  func receive(_ peer: BlockingSocket, messages: Int) -> Bool { receive(messages * receivedCount, from: peer) }

  /// Reads frames until their data has a number of bytes.
  private func receive(_ count: Int, from peer: BlockingSocket) -> Bool {
    var left = count
    while left > 0 {
      guard let head = peer.bytes(9) else { return false }
      let length = head[..<3].reduce(0) { $0 << 8 | Int($1) }
      guard length == 0 || peer.receive(length) else { return false }
      if head[3] == 0 { left -= length }
    }
    return left == 0
  }
}

private struct RedisWire: FanOutWire {
  let port = Redis.port
  private static let text = String(repeating: "a", count: 100)
  let published = Array("*3\r\n$7\r\nPUBLISH\r\n$4\r\nroom\r\n$100\r\n\(text)\r\n".utf8)
  let receivedCount = Array("*3\r\n$7\r\nmessage\r\n$4\r\nroom\r\n$100\r\n\(text)\r\n".utf8).count
  // ":1000\r\n"
  let answerCount = 7

  func join(_ peer: BlockingSocket, publishes: Bool) -> Bool {
    guard !publishes else { return true }
    return peer.send(Array("*2\r\n$9\r\nSUBSCRIBE\r\n$4\r\nroom\r\n".utf8)) && peer.receive(until: Array(":1\r\n".utf8))
  }
}

private enum FanOut {
  private static let receivers = 1_000
  private static let rounds = 40

  /// The cost of one message to one receiver.
  struct Cost {
    var nanoseconds: Double
    var processorNanoseconds: Double

    func figure(_ cpu: Bool) -> Double { cpu ? processorNanoseconds : nanoseconds }
  }

  /// - Parameter processorTime: The processor time of the server so far, seen from the thread of the receivers.
  static func cost(
    _ wire: any FanOutWire, window: Int, _ processorTime: @escaping @Sendable () -> Double
  ) async -> Cost {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: run(wire, window, processorTime)) }
    }
  }

  private static func run(_ wire: any FanOutWire, _ window: Int, _ processorTime: () -> Double) -> Cost {
    let failed = Cost(nanoseconds: .nan, processorNanoseconds: .nan)
    let peers = (0..<receivers).compactMap { _ in BlockingSocket(port: wire.port) }
    guard let publisher = BlockingSocket(port: wire.publisherPort), peers.count == receivers,
      peers.allSatisfy({ wire.join($0, publishes: false) }), wire.join(publisher, publishes: true)
    else { return failed }
    // A reader who waits for the receivers in the order in which a server writes to them is woken for each, and its
    // server pays; in another order it is not. No order is in favour of a server.
    let readers = peers.shuffled()
    let messages = Array(repeatElement(wire.published, count: window).joined())
    let clock = ContinuousClock()
    let (start, used) = (clock.now, processorTime())
    for _ in 0..<rounds {
      guard publisher.send(messages) else { return failed }
      for peer in readers where !wire.receive(peer, messages: window) { return failed }
      if wire.answerCount > 0, !publisher.receive(window * wire.answerCount) { return failed }
    }
    let count = Double(rounds * window * receivers)
    return Cost(
      nanoseconds: (clock.now - start) / .nanoseconds(1) / count,
      processorNanoseconds: (processorTime() - used) / count)
  }
}
