import VestaConcurrency
import VestaDatabaseBackend
import VestaTesting

/// A service that answers when the test says so.
final class ScriptedBackend: DatabaseBackend {
  /// A connection as the service sees it.
  final class Link: DatabaseConnection {
    private let receive: @Sendable (DatabaseServerMessage) -> Void
    private let state = Locked([(request: DatabaseRequest, id: Int)]())
    let asked = Log<DatabaseRequest>()
    let closed = Gate()

    fileprivate init(_ receive: @escaping @Sendable (DatabaseServerMessage) -> Void) { self.receive = receive }

    func send(_ request: DatabaseRequest, id: Int) {
      state.withLock { $0.append((request, id)) }
      asked.add(request)
    }

    func close() { closed.open() }

    /// What has been asked, in order.
    var requests: [DatabaseRequest] { asked.entries }

    func say(_ message: DatabaseServerMessage) { receive(message) }

    func hello(at milliseconds: Int64 = 1_700_000_000_000) {
      say(.hello(DatabaseHello(timestamp: milliseconds, session: "s")))
    }

    /// Answers the oldest request of a kind once it has come.
    func answer(_ reply: DatabaseReply = .ok, _ isWanted: @escaping @Sendable (DatabaseRequest) -> Bool) async {
      await asked.wait { $0.contains(where: isWanted) }
      let found = state.withLock { state in
        state.firstIndex { isWanted($0.request) }.map { state.remove(at: $0) }
      }
      if let found { say(.reply(found.id, reply)) }
    }
  }

  private let links = Log<Link>()

  func connect(
    _ request: DatabaseConnectRequest, receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) -> any DatabaseConnection {
    let link = Link(receive)
    links.add(link)
    return link
  }

  var count: Int { links.entries.count }

  /// The connection with a number, from zero, once it has been opened.
  func link(_ number: Int) async -> Link {
    await links.wait { $0.count > number }
    return links.entries[number]
  }
}

extension DatabaseRequest {
  var isAuthentication: Bool { if case .authenticate = self { true } else { false } }
  var isWrite: Bool {
    switch self {
    case .put, .merge: true
    default: false
    }
  }
  var isListen: Bool { if case .listen = self { true } else { false } }
  var isGet: Bool { if case .get = self { true } else { false } }
  var isOnDisconnect: Bool {
    switch self {
    case .onDisconnectPut, .onDisconnectMerge, .onDisconnectCancel: true
    default: false
    }
  }
  var token: String? { if case .authenticate(let token) = self { token } else { nil } }
}
