public import VestaDatabaseWire
import VestaServiceInterop
public import VestaTransportInterop

/// The tree as a server offers it to Firebase's SDKs and to everything that speaks HTTP.
///
/// | route | answered by |
/// |---|---|
/// | `/path.json` | reads and writes without a connection; with `Accept: text/event-stream` a listen |
/// | `/.settings/rules.json`, `/.inspect/databases.json` | `DatabaseAdminBackend`: rules and their indexes, the databases |
/// | `/.ws?v=5` | a connection, by the protocol of the SDKs |
/// | `/.lp` | the same by long polling, for browsers that cannot open a WebSocket |
///
/// A request names its database by `ns`, or by the first label of a host of Firebase; without either it is
/// `<project>-default-rtdb`. The databases `<project>-default-rtdb` and `<project>` belong to a project; in a server
/// that is not for development all others belong to the server's own.
///
/// It decides nothing about callers: the engine verifies what they sent, and asks its guard.
public struct DatabaseEndpoints: EndpointProvider {
  /// The name of the product.
  public let product = "database"

  private let tuning: DatabaseEndpointsTuning

  /// Endpoints.
  ///
  /// - Parameter tuning: The figures at which the behaviour changes.
  public init(tuning: DatabaseEndpointsTuning = DatabaseEndpointsTuning()) { self.tuning = tuning }

  /// Whether a request is for the tree.
  ///
  /// Names of other products end with `.json`, too: only with a database in the query it is surely this one.
  public func serves(_ head: HTTPRequestHead) -> Bool {
    let path = head.target.prefix { $0 != "?" }
    if path == "/.ws" || path == "/.lp" { return true }
    guard path.hasSuffix(".json") else { return false }
    let query = head.target.utf8.dropFirst(path.utf8.count + 1)
    return query.split(separator: UInt8(ascii: "&")).contains { $0.starts(with: "ns=".utf8) }
  }

  /// Makes the handler.
  public func handler(in host: any EndpointHost) -> any HTTPHandler {
    DatabaseHandler(host: host, links: OpenLinks(host), tuning: tuning)
  }
}

/// Every figure at which the behaviour of ``DatabaseEndpoints`` changes; tests draw small ones.
public struct DatabaseEndpointsTuning: Sendable, Hashable {
  /// The figures of the codec.
  public var wire = DatabaseWireTuning()

  /// The most bytes of a body, also when it is decompressed.
  public var bodyLimit = 32 << 20

  /// The time after which a silent stream of events has an event that says that it is open.
  public var keepAlive = Duration.seconds(30)

  /// The size of the messages that may wait for a client, as its link estimates it; a client that lags more
  /// loses its connection, and asks again when it connects again.
  public var backlog = 16 << 20

  /// The number of requests of a connection that may wait for their replies; further ones are not read.
  public var requestLimit = 1_000

  /// The bytes of the requests of a connection that may wait for their replies.
  public var requestBytes = 32 << 20

  /// How long a poll waits for something to send: longer than clients wait before they send the next one.
  public var pollLength = Duration.seconds(45)

  /// The time after which a session of long polling ends that is not polled.
  public var pollPause = Duration.seconds(60)

  /// The largest number of sessions of long polling.
  public var sessionLimit = 10_000

  /// Figures that suit upstream's clients.
  public init() { wire.maximumMessageBytes = 32 << 20 }
}

/// Serves requests: each one of the REST API in a task.
struct DatabaseHandler: HTTPHandler {
  private let host: any EndpointHost
  private let links: OpenLinks
  private let tuning: DatabaseEndpointsTuning
  private let rules = CrossOriginRules(exposedFields: ["etag"], allowsPrivateNetwork: true)
  private let rest: any HTTPHandler

  init(host: any EndpointHost, links: OpenLinks, tuning: DatabaseEndpointsTuning) {
    (self.host, self.links, self.tuning) = (host, links, tuning)
    let polls = PollSessions(host, links, tuning)
    rest = RESTHandler.make(bodyLimit: tuning.bodyLimit, compression: host.compression, rules: rules) {
      error, request in
      DatabaseFailure.response(to: error, of: request)
    } serve: { request in
      if request.http.path == "/.lp" { return try await polls.response(to: request.http) }
      if let call = try AdministrationCall(request, host) { return try await call.response() }
      return try await DatabaseExchange(request, host, links, tuning).response()
    }
  }

  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { rest.bodyDelivery(for: head) }

  func refusal(of head: HTTPRequestHead, limit: Int) -> HTTPResponse {
    let request = HTTPRequest(head.method, head.target, authority: "", fields: head.fields)
    return rules.allowing(
      request, DatabaseFailure.response(.contentTooLarge, "The body has more than \(limit) bytes."))
  }

  func reply(to request: HTTPRequest) -> HTTPReply {
    guard request.path == "/.ws" else { return rest.reply(to: request) }
    do {
      return .webSocket(try SocketOpening(request, host, tuning).service())
    } catch {
      return .response(DatabaseFailure.response(to: error, of: request))
    }
  }
}
