public import VestaServiceInterop

/// A server with a REST API: the client that reaches it, its address, and the identity of callers.
///
/// The library of a remote backend makes it from the components of its app; each ``RESTChannel`` to the server is made
/// of it.
public struct RESTService: Sendable {
  /// Sends the requests.
  public var client: any HTTPClient

  /// The scheme, the host and the port; the path is not looked at.
  public var origin: HTTPURL

  /// The identity of callers, and the limits of calls.
  public var options: RESTOptions

  /// The clock of deadlines.
  public var clock: ServiceClock

  /// A server.
  ///
  /// - Parameters:
  ///   - client: Sends the requests.
  ///   - origin: The scheme, the host and the port.
  ///   - options: The identity of callers, and the limits of calls.
  ///   - clock: The clock of deadlines.
  public init(
    _ client: any HTTPClient, at origin: HTTPURL, options: RESTOptions = RESTOptions(), clock: ServiceClock = .system
  ) {
    self.client = client
    self.origin = origin
    self.options = options
    self.clock = clock
  }

  /// A server at an origin such as `https://vesta.example`.
  ///
  /// - Throws: `ServiceStatus` for a text that is no URL.
  public init(
    _ client: any HTTPClient, at origin: String, options: RESTOptions = RESTOptions(), clock: ServiceClock = .system
  ) throws(ServiceStatus) {
    guard let url = HTTPURL(origin) else {
      throw ServiceStatus(.invalidArgument, "\"\(origin)\" is no address of a server.")
    }
    self.init(client, at: url, options: options, clock: clock)
  }
}
