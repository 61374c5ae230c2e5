import VestaAuthWire
public import VestaTransportInterop

/// The routes of Identity Toolkit, of the exchange of refresh tokens, and of the calls of local test suites.
///
/// ```swift
/// let handler = AuthEndpoints().handler(in: host)
/// let listener = try await server.listen(at: .internet(host: "127.0.0.1", port: 9099), handler: handler)
/// ```
///
/// A path may begin with the host that it stands for, as SDKs have it that were given the address of a local server:
/// `/identitytoolkit.googleapis.com/v1/accounts:signUp`. A call with a credential is an owner's, and one without is a
/// client's; a credential is judged by the engine behind `AuthBackend` and `AuthAdminBackend`.
public struct AuthEndpoints: EndpointProvider {
  private let tuning: AuthEndpointTuning

  /// The routes.
  ///
  /// - Parameter tuning: The limits.
  public init(tuning: AuthEndpointTuning = AuthEndpointTuning()) { self.tuning = tuning }

  /// "auth".
  public var product: String { "auth" }

  /// Whether a request is one of Auth's.
  public func serves(_ head: HTTPRequestHead) -> Bool {
    AuthTarget(method: head.method.name, target: head.target, isDevelopment: true) != nil
  }

  /// The handler of the requests.
  ///
  /// Pages of all origins may use it, as nothing in it depends on cookies.
  public func handler(in host: any EndpointHost) -> any HTTPHandler {
    CrossOriginHandler(
      rules: CrossOriginRules(origins: .all, allowsCredentials: true, allowsPrivateNetwork: true),
      AuthHandler(host: host, tuning: tuning))
  }
}

/// The limits of the routes; small in tests.
public struct AuthEndpointTuning: Sendable {
  /// The largest request, in bytes: imports are as large as a thousand accounts.
  public var requestBytes = 32 << 20

  /// The defaults.
  public init() {}
}
