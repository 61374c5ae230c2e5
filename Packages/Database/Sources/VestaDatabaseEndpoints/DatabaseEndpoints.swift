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
/// that is not for development all others belong to the server's own, and are there when they are configured or an
/// owner has written to them.
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

/// Serves requests: each one of the REST API in a task.
struct DatabaseHandler: HTTPHandler {
  private let host: any EndpointHost
  private let links: OpenLinks
  private let names: DatabaseNames
  private let tuning: DatabaseEndpointsTuning
  private let rules = CrossOriginRules(exposedFields: ["etag"], allowsPrivateNetwork: true)
  private let rest: any HTTPHandler

  init(host: any EndpointHost, links: OpenLinks, tuning: DatabaseEndpointsTuning) {
    (self.host, self.links, self.tuning) = (host, links, tuning)
    let names = DatabaseNames(host)
    self.names = names
    let polls = PollSessions(host, links, names, tuning)
    rest = RESTHandler.make(bodyLimit: tuning.bodyLimit, compression: host.compression, rules: rules) {
      error, request in
      DatabaseFailure.response(to: error, of: request)
    } serve: { request in
      if request.http.path == "/.lp" { return try await polls.response(to: request.http) }
      // Scripts that wait for the service ask for this page.
      if request.http.path == "/", [.get, .head].contains(request.http.method) {
        return HTTPResponse(fields: [.contentType: "text/plain; charset=utf-8"], body: .text("Ok\n"))
      }
      if let call = try AdministrationCall(request, host) { return try await call.response() }
      let exchange = try DatabaseExchange(request, host, links, tuning)
      try await names.check(exchange.place, for: exchange.context)
      return try await exchange.response()
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
      return .webSocket(try SocketOpening(request, host, names, tuning).service())
    } catch {
      return .response(DatabaseFailure.response(to: error, of: request))
    }
  }
}
