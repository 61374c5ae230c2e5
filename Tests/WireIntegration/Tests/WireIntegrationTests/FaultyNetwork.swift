import Foundation
import VestaConcurrency

/// A network between clients and a server on this machine: it passes bytes on, with the faults that networks have.
///
/// ```swift
/// let network = try FaultyNetwork(to: server.port)
/// network.set(.silent)   // connections stay open, and nothing arrives
/// network.set(.fine)
/// network.cut()
/// ```
final class FaultyNetwork: Sendable {
  /// The state of the network.
  enum Weather: Sendable, Equatable {
    case fine
    /// Each piece waits a number of milliseconds.
    case slow(Int)
    /// A client that connects is answered with this text, whatever it asks for, and the connection ends.
    case answers(String)
    /// Connections are accepted and stay open, and nothing is passed on.
    case silent
  }

  private struct State {
    var weather = Weather.fine
    var connections: [Int: Connection] = [:]
    var next = 0
    var isClosed = false
    /// Whether the socket that accepts connections is open.
    var isListening = true
  }

  private struct Connection {
    let client: Int32
    let server: Int32
    /// The directions that are still passed on.
    var directions = 2
    /// Whether both ends believe in a connection of which nothing is left in between.
    var isHalfOpen = false
  }

  let port: Int
  private let target: Int
  private let listener: Int32
  private let state = Locked(State())

  /// A network that leads from a free port to a server's.
  init(to target: Int) throws {
    self.target = target
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.loopback(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && Foundation.listen(listener, 256) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard isBound else { throw CocoaError(.featureUnsupported) }
    self.listener = listener
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { [self] in accept() }
  }

  /// Changes the weather; open connections have it as well, but for answers, which cut them.
  func set(_ weather: Weather) {
    state.withLock { $0.weather = weather }
    if case .answers = weather { cut() }
  }

  /// Resets all connections.
  ///
  /// With the lock held: what is in the table is open, and the number of a closed socket soon is another one's.
  func cut() {
    state.withLock { state in
      for connection in state.connections.values {
        shutdown(connection.client, Int32(SHUT_RDWR))
        shutdown(connection.server, Int32(SHUT_RDWR))
      }
    }
  }

  /// Forgets all connections without a word to either end: what is sent on them vanishes, and new ones work.
  func forget() {
    state.withLock { state in for number in state.connections.keys { state.connections[number]?.isHalfOpen = true } }
  }

  /// Accepts no further connection.
  func close() {
    state.withLock { state in
      state.isClosed = true
      if state.isListening { shutdown(listener, Int32(SHUT_RDWR)) }
    }
    cut()
  }

  private static func loopback(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    return address
  }

  // MARK: Connections

  private func accept() {
    while true {
      let client = Foundation.accept(listener, nil, nil)
      guard client >= 0 else { break }
      if case .answers(let text) = state.withLock({ $0.weather }) {
        Thread.detachNewThread { Self.answer(client, text) }
      } else {
        connect(client)
      }
    }
    state.withLock { $0.isListening = false }
    Foundation.close(listener)
  }

  private static func answer(_ client: Int32, _ text: String) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    // The head of the request, or the preface of HTTP/2.
    if recv(client, &buffer, buffer.count, 0) > 0 { send(Array(text.utf8)[...], to: client) }
    shutdown(client, Int32(SHUT_WR))
    // Until the client has left, as the system drops the answer where data was not read.
    while recv(client, &buffer, buffer.count, 0) > 0 {}
    Foundation.close(client)
  }

  private func connect(_ client: Int32) {
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.loopback(target)
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else {
      Foundation.close(client)
      Foundation.close(server)
      return
    }
    var one: Int32 = 1
    for file in [client, server] {
      setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }
    let number = state.withLock { state in
      state.next += 1
      state.connections[state.next] = Connection(client: client, server: server)
      return state.next
    }
    Thread.detachNewThread { [self] in pass(number, from: client, to: server) }
    Thread.detachNewThread { [self] in pass(number, from: server, to: client) }
  }

  private func pass(_ number: Int, from source: Int32, to target: Int32) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(source, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      if case .slow(let milliseconds) = state.withLock({ $0.weather }) { usleep(UInt32(milliseconds) * 1_000) }
      while state.withLock({ $0.weather == .silent && !$0.isClosed }) { usleep(5_000) }
      if state.withLock({ $0.connections[number]?.isHalfOpen ?? false }) { continue }
      guard Self.send(buffer[..<count], to: target) else { break }
    }
    shutdown(source, Int32(SHUT_RDWR))
    shutdown(target, Int32(SHUT_RDWR))
    let ended = state.withLock { state -> Connection? in
      state.connections[number]?.directions -= 1
      guard state.connections[number]?.directions == 0 else { return nil }
      return state.connections.removeValue(forKey: number)
    }
    // The direction that ends last closes both, so that no number is used again while the other reads.
    guard let ended else { return }
    Foundation.close(ended.client)
    Foundation.close(ended.server)
  }

  @discardableResult
  private static func send(_ bytes: ArraySlice<UInt8>, to file: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
