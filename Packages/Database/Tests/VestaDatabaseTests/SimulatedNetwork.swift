import VestaConcurrency
import VestaDatabaseBackend
import VestaServiceInterop

/// A network whose messages move when the test says so, and whose links break when it says so.
final class SimulatedNetwork: DatabaseBackend {
  private let engine: any DatabaseBackend
  private let links = Locked([SimulatedLink]())

  init(_ engine: any DatabaseBackend) { self.engine = engine }

  func connect(
    _ request: DatabaseConnectRequest, receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) -> any DatabaseConnection {
    let link = SimulatedLink(engine, request, receive)
    links.withLock { $0.append(link) }
    return link
  }

  /// The links that are not broken, in the order in which they were opened.
  var open: [SimulatedLink] {
    links.withLock { links in
      links.removeAll { $0.isBroken }
      return links
    }
  }
}

/// A link between a client and the engine.
final class SimulatedLink: DatabaseConnection {
  private struct State {
    var up: [(DatabaseRequest, Int)] = []
    var down: [DatabaseServerMessage] = []
    var connection: (any DatabaseConnection)?
    var isBroken = false
  }

  private let state = Locked(State())
  private let receive: @Sendable (DatabaseServerMessage) -> Void

  init(
    _ engine: any DatabaseBackend, _ request: DatabaseConnectRequest,
    _ receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) {
    self.receive = receive
    let connection = engine.connect(request) { [weak self] message in self?.state.withLock { $0.down.append(message) } }
    state.withLock { $0.connection = connection }
  }

  var isBroken: Bool { state.withLock { $0.isBroken } }
  var hasMessages: Bool { state.withLock { !$0.up.isEmpty || !$0.down.isEmpty } }

  func send(_ request: DatabaseRequest, id: Int) { state.withLock { $0.up.append((request, id)) } }

  /// The client hangs up: what it has sent is on its way still, and the engine learns of the end after it.
  func close() {
    let (requests, connection) = state.withLock { state in
      defer { state.isBroken = true }
      return (state.isBroken ? [] : state.up, state.isBroken ? nil : state.connection)
    }
    for (request, id) in requests { connection?.send(request, id: id) }
    connection?.close()
  }

  /// The link breaks: what is on its way is lost, and both ends learn of it.
  func cut() {
    let connection = state.withLock { state in
      defer { state.isBroken = true }
      return state.isBroken ? nil : state.connection
    }
    guard let connection else { return }
    connection.close()
    receive(.closed(reason: "The link broke."))
  }

  /// Moves the oldest request to the engine.
  func deliverUp() {
    let (request, connection) = state.withLock { state in
      (state.up.isEmpty || state.isBroken ? nil : state.up.removeFirst(), state.connection)
    }
    if let (request, id) = request { connection?.send(request, id: id) }
  }

  /// Moves the oldest message to the client.
  func deliverDown() {
    let message = state.withLock { $0.down.isEmpty || $0.isBroken ? nil : $0.down.removeFirst() }
    if let message { receive(message) }
  }
}

/// Time that passes when the test says so.
final class SimulatedTime: Sendable {
  private struct State {
    var now: Int64 = 1_700_000_000_000_000
    var timers: [(id: Int, at: Int64, work: @Sendable () -> Void)] = []
    var next = 0
  }

  private let state = Locked(State())

  var clock: ServiceClock {
    ServiceClock(now: { [self] in state.withLock { $0.now } }) { [self] delay, work in schedule(delay, work) }
  }

  private func schedule(_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> ListenerRegistration {
    let id = state.withLock { state in
      state.next += 1
      state.timers.append((state.next, state.now + delay / .microseconds(1) as Int64, work))
      return state.next
    }
    return ListenerRegistration { [self] in state.withLock { state in state.timers.removeAll { $0.id == id } } }
  }

  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now += duration / .microseconds(1) as Int64
      let due = state.timers.filter { $0.at <= state.now }.sorted { ($0.at, $0.id) < ($1.at, $1.id) }
      state.timers.removeAll { $0.at <= state.now }
      return due
    }
    for timer in due { timer.work() }
  }
}

extension Duration {
  static func / (left: Duration, right: Duration) -> Int64 {
    let (seconds, attoseconds) = left.components
    let (otherSeconds, otherAttoseconds) = right.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    return microseconds / max(1, otherSeconds * 1_000_000 + otherAttoseconds / 1_000_000_000_000)
  }
}
