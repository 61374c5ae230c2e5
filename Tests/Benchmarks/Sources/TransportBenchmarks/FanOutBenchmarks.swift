import BenchmarkKit
import Foundation
import Glibc
import VestaConcurrency
import VestaTransport
import VestaTransportInterop

/// One message of 100 bytes to 1,000 receivers, by WebSockets beside redis: a publisher sends a number of messages, and
/// the next ones when every receiver has them all.
func fanOutBenchmarks(_ redis: Redis) async throws -> [Benchmark] {
  let server = try VestaTransportServer(loops: 1)
  let room = Room()
  let listener = try await server.listen(at: .internet(host: "127.0.0.1", port: 0), handler: room)
  let port = listener.address.port ?? 0
  return [1, 32].map { window in
    Benchmark(
      name: "transport-fan-out-\(window)", unit: .nanoseconds, bar: .ratio(atMost: window == 1 ? 0.83 : 0.67),
      ours: ("Vesta", { await FanOut.time(WebSocketWire(port: port), window: window) }),
      other: ("redis", { await FanOut.time(RedisWire(), window: window) }))
  }
}

/// Passes what a publisher says on to all that have joined.
private final class Room: HTTPHandler {
  private let members = Locked<[WebSocket]>([])

  func reply(to request: HTTPRequest) -> HTTPReply {
    let isPublisher = request.target == "/publish"
    return .webSocket(
      WebSocketService { [members] socket in
        if !isPublisher { members.withLock { $0.append(socket) } }
        while let message = try await socket.messages.next() {
          for member in members.withLock({ $0 }) { member.offer(message) }
        }
        members.withLock { $0.removeAll { $0 === socket } }
      })
  }
}

/// A redis without a file, on a port of its own.
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
  /// The bytes with which the publisher sends a message.
  var published: [UInt8] { get }
  /// The number of bytes by which a receiver gets a message, and the publisher the answer to each.
  var receivedCount: Int { get }
  var answerCount: Int { get }
}

private struct WebSocketWire: FanOutWire {
  let port: Int
  // The mask is 0, which changes nothing.
  let published = [0x82, 0x80 | 100, 0, 0, 0, 0] + [UInt8](repeating: 7, count: 100)
  let receivedCount = 102
  let answerCount = 0

  func join(_ peer: BlockingSocket, publishes: Bool) -> Bool {
    let target = publishes ? "/publish" : "/join"
    let head =
      "GET \(target) HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
      + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    return peer.send(Array(head.utf8)) && peer.receive(until: Array("\r\n\r\n".utf8))
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

  /// The time for one message to one receiver.
  static func time(_ wire: some FanOutWire, window: Int) async -> Double {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: run(wire, window)) }
    }
  }

  private static func run(_ wire: some FanOutWire, _ window: Int) -> Double {
    let peers = (0..<receivers).compactMap { _ in BlockingSocket(port: wire.port) }
    guard let publisher = BlockingSocket(port: wire.port), peers.count == receivers,
      peers.allSatisfy({ wire.join($0, publishes: false) }), wire.join(publisher, publishes: true)
    else { return .nan }
    let messages = Array(repeatElement(wire.published, count: window).joined())
    let clock = ContinuousClock()
    let start = clock.now
    for _ in 0..<rounds {
      guard publisher.send(messages) else { return .nan }
      for peer in peers where !peer.receive(window * wire.receivedCount) { return .nan }
      if wire.answerCount > 0, !publisher.receive(window * wire.answerCount) { return .nan }
    }
    return (clock.now - start) / .nanoseconds(1) / Double(rounds * window * receivers)
  }
}

/// A connection whose thread waits.
private final class BlockingSocket {
  private let descriptor: Int32

  init?(port: Int) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    let status = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard descriptor >= 0, status == 0 else { return nil }
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func send(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } == bytes.count
  }

  func receive(_ count: Int) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) {
      recv(descriptor, $0.baseAddress, count, Int32(MSG_WAITALL)) == count
    }
  }

  func receive(until end: [UInt8]) -> Bool {
    var all: [UInt8] = []
    while !all.suffix(end.count).elementsEqual(end) {
      var byte: UInt8 = 0
      guard recv(descriptor, &byte, 1, 0) == 1 else { return false }
      all.append(byte)
    }
    return true
  }
}
