import VestaConcurrency
public import VestaDatabaseBackend
public import VestaTesting

/// A service that says what the test says, when the test says so.
///
/// ```swift
/// let link = await backend.link(0)
/// link.hello()
/// await link.answer { if case .put = $0 { true } else { false } }
/// ```
public final class ScriptedDatabaseBackend: DatabaseBackend {
  /// A connection as the service sees it.
  public final class Link: DatabaseConnection {
    private let receive: @Sendable (DatabaseServerMessage) -> Void
    private let unanswered = Locked([(request: DatabaseRequest, id: Int)]())

    /// The requests in order of arrival.
    public let asked = Log<DatabaseRequest>()

    /// Opens when the client closes the connection.
    public let closed = Gate()

    fileprivate init(_ receive: @escaping @Sendable (DatabaseServerMessage) -> Void) { self.receive = receive }

    /// Takes a request.
    public func send(_ request: DatabaseRequest, id: Int) {
      unanswered.withLock { $0.append((request, id)) }
      asked.add(request)
    }

    /// Notes that the client has closed the connection.
    public func close() { closed.open() }

    /// The requests so far, in order.
    public var requests: [DatabaseRequest] { asked.entries }

    /// Sends a message.
    public func say(_ message: DatabaseServerMessage) { receive(message) }

    /// Sends the first message of a connection.
    public func hello(at milliseconds: Int64 = 1_700_000_000_000) {
      say(.hello(DatabaseHello(timestamp: milliseconds, session: "s")))
    }

    /// Answers the oldest request of a kind, after it has arrived.
    public func answer(
      _ reply: DatabaseReply = .ok, _ isWanted: @escaping @Sendable (DatabaseRequest) -> Bool
    ) async {
      await asked.wait { $0.contains(where: isWanted) }
      let found = unanswered.withLock { unanswered in
        unanswered.firstIndex { isWanted($0.request) }.map { unanswered.remove(at: $0) }
      }
      if let found { say(.reply(found.id, reply)) }
    }
  }

  private let links = Log<Link>()

  /// A service without connections.
  public init() {}

  /// Opens a connection, on which nothing is said yet.
  public func connect(
    _ request: DatabaseConnectRequest, receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) -> any DatabaseConnection {
    let link = Link(receive)
    links.add(link)
    return link
  }

  /// How many connections have been opened.
  public var count: Int { links.entries.count }

  /// The connection with a number, from zero, once it has been opened.
  public func link(_ number: Int) async -> Link {
    await links.wait { $0.count > number }
    return links.entries[number]
  }
}
