import Foundation
import VestaConcurrency
import VestaPostgres

/// A proxy between a program and a PostgreSQL server that does to their messages what networks do: it cuts connections
/// before a message, keeps messages back, and makes every one of them late.
///
/// It reads the protocol without TLS, on the loopback address, for tests and benchmarks.
///
/// ```swift
/// let proxy = try PostgresProxy(to: url)
/// proxy.rule { $0.kind == "C" ? .cut : .pass }
/// options.url = proxy.url
/// ```
public final class PostgresProxy: Sendable {
  /// A message that is about to be passed on.
  public struct Message: Sendable {
    /// The connection, counted from 1.
    public let connection: Int
    /// Whether the server has sent the message.
    public let isServers: Bool
    /// The first byte; "0" for a start-up, which has none.
    public let kind: Character
    /// The whole message.
    public let bytes: [UInt8]

    /// Whether it has some text in it, such as a statement.
    ///
    /// - Parameter text: The text.
    public func mentions(_ text: String) -> Bool { String(decoding: bytes, as: UTF8.self).contains(text) }
  }

  /// An action on a message.
  public enum Action: Sendable {
    /// The message is passed on.
    case pass
    /// The message is dropped, and the connection is closed on both sides.
    case cut
    /// It is kept back, and so is all that either side says on this connection, until ``release()``. No end is
    /// passed on.
    case hold
  }

  struct State: Sendable {
    var rule: @Sendable (Message) -> Action = { _ in .pass }
    var delay: Duration = .zero
    var releases = 0
    var syncs = 0
    var isClosed = false
  }

  private let state = Locked(State())
  private let listener: ProxySocket
  private let waker: PlatformPipe
  private let place: ServerPlace

  /// The connection string that leads through the proxy.
  public let url: String

  /// Begins to listen on a free port.
  ///
  /// - Parameter server: The server's connection string, of the form `postgresql://user@host:port/database`.
  /// - Throws: `ProxyFailure`, when the string is another one or the system has no port left.
  public init(to server: String) throws {
    place = try ServerPlace(server)
    guard let listener = ProxySocket.listening(), let waker = PlatformPipe() else {
      throw ProxyFailure(description: "The system has no port left.")
    }
    self.listener = listener
    self.waker = waker
    url = place.url(port: listener.port)
    let (state, place) = (state, place)
    Thread.detachNewThread {
      var service = ProxyService(listener: listener, waker: waker, place: place, state: state)
      service.run()
    }
  }

  deinit { close() }

  /// Says what is done with messages from now on.
  ///
  /// - Parameter rule: Called for each message, on a thread of the proxy.
  public func rule(_ rule: @escaping @Sendable (Message) -> Action) { state.withLock { $0.rule = rule } }

  /// Passes on everything that was kept back.
  public func release() {
    state.withLock { $0.releases += 1 }
    waker.wake()
  }

  /// Makes every message late, in each direction.
  ///
  /// - Parameter delay: How long a message takes; a round trip takes twice as long.
  public func delay(_ delay: Duration) { state.withLock { $0.delay = delay } }

  /// How many round trips clients have asked for: each ends with a Sync.
  public var roundTrips: Int { state.withLock { $0.syncs } }

  /// Ends all connections.
  public func close() {
    state.withLock { $0.isClosed = true }
    waker.wake()
  }
}

/// The proxy could not begin.
public struct ProxyFailure: Error, CustomStringConvertible {
  /// Why, in a sentence.
  public let description: String
}

/// Where the server is.
struct ServerPlace: Sendable, Equatable {
  let user: String
  let port: UInt16
  let database: String

  /// - Throws: For a server that is not on the loopback address.
  init(_ url: String) throws(ProxyFailure) {
    let rest = url.drop { $0 != "/" }.dropFirst(2)
    let parts = rest.split(separator: "@", maxSplits: 1)
    let address = parts.last?.split(separator: "/", maxSplits: 1) ?? []
    guard parts.count == 2, address.count == 2, address[0].hasPrefix("127.0.0.1:"),
      let port = UInt16(address[0].dropFirst("127.0.0.1:".count))
    else { throw ProxyFailure(description: "A proxy is for a server like postgresql://user@127.0.0.1:5432/database.") }
    user = String(parts[0])
    self.port = port
    database = String(address[1].prefix { $0 != "?" })
  }

  func url(port: UInt16) -> String {
    "postgresql://\(user)@127.0.0.1:\(port)/\(database)?sslmode=disable&gssencmode=disable"
  }
}
