import VestaConcurrency
import VestaDatabaseBackend

/// An engine in another process, which is reached by lines of text.
///
/// Connections that are opened while there is no engine wait for the next one.
final class LineBackend: DatabaseBackend {
  private struct State {
    var say: (@Sendable (String) -> Void)?
    var connections: [Int: @Sendable (DatabaseServerMessage) -> Void] = [:]
    var waiting: [Int] = []
    var next: Int
  }

  private let state: Locked<State>

  /// A backend without an engine.
  ///
  /// - Parameter firstNumber: The number of its first connection; the numbers of others that have the same engine
  ///   differ.
  init(firstNumber: Int = 1) { state = Locked(State(next: firstNumber)) }

  /// An engine is there, and takes lines.
  func begin(say: @escaping @Sendable (String) -> Void) {
    let waiting = state.withLock { state in
      state.say = say
      defer { state.waiting = [] }
      return state.waiting
    }
    for number in waiting { say(Wire.write(.open(number))) }
  }

  /// The engine has ended, and its connections with it.
  func end() {
    let connections = state.withLock { state in
      state.say = nil
      let open = state.connections.filter { !state.waiting.contains($0.key) }
      for number in open.keys { state.connections[number] = nil }
      return open.sorted { $0.key < $1.key }
    }
    for (_, receive) in connections { receive(.closed(reason: "The engine is gone.")) }
  }

  /// Takes a line of the engine.
  func take(_ line: Wire.Line) {
    guard case .message(let number, let message) = line else { return }
    state.withLock { $0.connections[number] }?(message)
  }

  func connect(
    _ request: DatabaseConnectRequest, receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) -> any DatabaseConnection {
    let (number, say) = state.withLock { state in
      let number = state.next
      state.next += 1
      state.connections[number] = receive
      if state.say == nil { state.waiting.append(number) }
      return (number, state.say)
    }
    say?(Wire.write(.open(number)))
    return Connection(number: number, backend: self)
  }

  private func send(_ line: Wire.Line) { state.withLock { $0.say }?(Wire.write(line)) }

  private func close(_ number: Int) {
    let isOpen = state.withLock { state in
      state.waiting.removeAll { $0 == number }
      return state.connections.removeValue(forKey: number) != nil
    }
    if isOpen { send(.close(number)) }
  }

  private final class Connection: DatabaseConnection {
    let number: Int
    let backend: LineBackend

    init(number: Int, backend: LineBackend) {
      self.number = number
      self.backend = backend
    }

    deinit { close() }

    func send(_ request: DatabaseRequest, id: Int) { backend.send(.request(number, request, id: id)) }
    func close() { backend.close(number) }
  }
}

/// The other end: gives an engine to the clients of another process.
final class LineService: Sendable {
  private let engine: any DatabaseBackend
  private let say: @Sendable (String) -> Void
  private let connections = Locked([Int: any DatabaseConnection]())

  init(_ engine: any DatabaseBackend, say: @escaping @Sendable (String) -> Void) {
    self.engine = engine
    self.say = say
  }

  /// Takes a line of a client.
  func take(_ line: Wire.Line) {
    switch line {
    case .open(let number):
      let say = say
      let connection = engine.connect(DatabaseConnectRequest(namespace: "crash-default-rtdb")) { message in
        say(Wire.write(.message(number, message)))
      }
      connections.withLock { $0[number] = connection }
    case .request(let number, let request, let id):
      connections.withLock { $0[number] }?.send(request, id: id)
    case .close(let number): connections.withLock { $0.removeValue(forKey: number) }?.close()
    case .message: break
    }
  }

  /// The clients have ended: their connections end as they are, without a word.
  func end() { connections.withLock { $0 = [:] } }
}
