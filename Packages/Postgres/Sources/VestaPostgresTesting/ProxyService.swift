import VestaConcurrency
import VestaPostgres

/// The thread of a proxy: it takes connections, and carries messages from one side to the other.
struct ProxyService {
  /// One direction of a connection.
  private struct Way {
    let from: ProxySocket
    let to: ProxySocket
    let isServers: Bool
    var splitter: MessageSplitter
    /// Messages that wait for a decision, because an earlier one is kept back.
    var waiting: [MessageSplitter.Part] = []
    /// Messages on their way, with the times of their arrival.
    var late: [(due: ContinuousClock.Instant, bytes: [UInt8])] = []
    /// Bytes that the other side has no room for yet.
    var unsent: ArraySlice<UInt8> = []
    /// Whether nothing more is said.
    var isEnded = false

    var isEmpty: Bool { waiting.isEmpty && late.isEmpty && unsent.isEmpty }

    init(from: ProxySocket, to: ProxySocket, isServers: Bool) {
      self.from = from
      self.to = to
      self.isServers = isServers
      splitter = MessageSplitter(isClient: !isServers)
    }
  }

  private final class Connection {
    let number: Int
    var ways: [Way]
    var isHeld = false
    var wasHeld = false
    var isOver = false

    init(number: Int, client: ProxySocket, server: ProxySocket) {
      self.number = number
      ways = [Way(from: client, to: server, isServers: false), Way(from: server, to: client, isServers: true)]
    }
  }

  private let listener: ProxySocket
  private let waker: PlatformPipe
  private let place: ServerPlace
  private let state: Locked<PostgresProxy.State>
  private var connections: [Connection] = []
  private var count = 0
  private var releases = 0

  init(listener: ProxySocket, waker: PlatformPipe, place: ServerPlace, state: Locked<PostgresProxy.State>) {
    self.listener = listener
    self.waker = waker
    self.place = place
    self.state = state
  }

  mutating func run() {
    while !state.withLock({ $0.isClosed }) {
      waitForSomething()
      waker.drain()
      releaseIfAsked()
      while let client = listener.accepted() { begin(client) }
      for connection in connections { carry(connection) }
      connections.removeAll(where: \.isOver)
    }
  }

  private func waitForSomething() {
    var readable = [waker.reading, listener.descriptor]
    var writable: [Int32] = []
    var next: ContinuousClock.Instant?
    for way in connections.flatMap(\.ways) {
      if !way.isEnded { readable.append(way.from.descriptor) }
      if !way.unsent.isEmpty { writable.append(way.to.descriptor) }
      if let due = way.late.first?.due { next = min(next ?? due, due) }
    }
    ProxyWaiting.wait(reading: readable, writing: writable, atMost: next.map { $0 - .now } ?? .seconds(1))
  }

  private mutating func releaseIfAsked() {
    let asked = state.withLock { $0.releases }
    if asked == releases { return }
    releases = asked
    for connection in connections where connection.isHeld {
      connection.isHeld = false
      for index in connection.ways.indices {
        let waiting = connection.ways[index].waiting
        connection.ways[index].waiting = []
        // The message that was kept back has been decided on; it is passed on.
        for part in waiting { push(part, &connection.ways[index]) }
      }
    }
  }

  private mutating func begin(_ client: ProxySocket) {
    guard let server = ProxySocket.connected(port: place.port) else { return }
    count += 1
    connections.append(Connection(number: count, client: client, server: server))
  }

  private func carry(_ connection: Connection) {
    for index in connection.ways.indices where !connection.isOver {
      receive(connection, index)
      if !connection.isOver { send(connection, index) }
    }
    // A side that has ended ends the other one, behind what it has said. Where something was kept back the end is not
    // passed on to the server, so that it executes what arrives late.
    let isEnded = connection.ways.contains { $0.isEnded && ($0.isServers || !connection.wasHeld) }
    if isEnded, connection.ways.allSatisfy(\.isEmpty), !connection.isHeld { connection.isOver = true }
  }

  private func receive(_ connection: Connection, _ index: Int) {
    while !connection.ways[index].isEnded, let bytes = connection.ways[index].from.received() {
      connection.ways[index].isEnded = bytes.isEmpty
      for part in connection.ways[index].splitter.take(bytes) where !connection.isOver {
        judge(part, connection, index)
      }
    }
  }

  private func judge(_ part: MessageSplitter.Part, _ connection: Connection, _ index: Int) {
    if connection.isHeld { return connection.ways[index].waiting.append(part) }
    let way = connection.ways[index]
    let message = PostgresProxy.Message(
      connection: connection.number, isServers: way.isServers,
      kind: part.kind == 0 ? "0" : Character(Unicode.Scalar(part.kind)), bytes: part.bytes)
    let rule = state.withLock { state in
      if !way.isServers, part.kind == UInt8(ascii: "S") { state.syncs += 1 }
      return state.rule
    }
    switch rule(message) {
    case .pass: push(part, &connection.ways[index])
    case .cut: connection.isOver = true
    case .hold:
      connection.isHeld = true
      connection.wasHeld = true
      connection.ways[index].waiting.append(part)
    }
  }

  private func push(_ part: MessageSplitter.Part, _ way: inout Way) {
    way.late.append((ContinuousClock.now + state.withLock { $0.delay }, part.bytes))
  }

  private func send(_ connection: Connection, _ index: Int) {
    let now = ContinuousClock.now
    let arrived = connection.ways[index].late.prefix { $0.due <= now }
    for message in arrived { connection.ways[index].unsent += message.bytes }
    connection.ways[index].late.removeFirst(arrived.count)
    guard !connection.ways[index].unsent.isEmpty else { return }
    guard let sent = connection.ways[index].to.send(connection.ways[index].unsent) else {
      connection.ways[1 - index].isEnded = true
      connection.ways[index].unsent = []
      return
    }
    connection.ways[index].unsent.removeFirst(sent)
  }
}
