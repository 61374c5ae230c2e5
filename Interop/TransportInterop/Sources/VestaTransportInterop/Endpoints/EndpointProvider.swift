public import VestaServiceInterop

/// The routes of one product, contributed to a server as a component.
///
/// A server knows no product: it finds all providers by `container.resolveAll((any EndpointProvider).self)`, opens a
/// port for each, and one that all share. A provider translates between the wire and the backend of its product;
/// it never decides about tokens: the credential of a caller is passed to `CallContext(_:project:clock:)`, and the
/// engine asks the `CallerVerifier` of the project.
///
/// ```swift
/// public enum AuthEndpointsLibrary: Library {
///   public static let name = "vesta-auth-endpoints"
///   public static func components() -> [Component] {
///     [.contribution((any EndpointProvider).self) { _, isCacheable in
///       isCacheable = true
///       return AuthEndpoints()
///     }]
///   }
/// }
/// ```
public protocol EndpointProvider: Sendable {
  /// The name of the product as `firebase.json` names its port: "firestore", "auth", "database", "storage", ...
  var product: String { get }

  /// Whether a request is for this product, on a port that all products share.
  ///
  /// - Parameter head: The head of the request; its target decides.
  func serves(_ head: HTTPRequestHead) -> Bool

  /// Makes the handler of the product's requests; called once for each server.
  ///
  /// - Parameter host: The server.
  func handler(in host: any EndpointHost) -> any HTTPHandler
}

/// The server in which endpoints run: it has the backends of all projects.
public protocol EndpointHost: Sendable {
  /// The clock of deadlines.
  var clock: ServiceClock { get }

  /// The project of requests that name none.
  var defaultProject: String { get }

  /// The projects that have been named so far, the default one first.
  var projects: [String] { get }

  /// Whether the server is one for development: calls of local test suites, which need no credential, such as clearing
  /// all data, are served then and only then.
  var isDevelopment: Bool { get }

  /// How messages of gRPC are read that callers have compressed; `nil` where the server reads none.
  var compression: TransportCompression? { get }

  /// The rules of all projects at once, for calls that set rules and name no project; `nil` where there are none.
  var rulesOfAllProjects: (any RulesAdministration)? { get }

  /// The project that a database of the tree belongs to by the configuration of the server; `nil` where that does not
  /// say it.
  func project(ofDatabase namespace: String) -> String?

  /// The project that a bucket belongs to by the configuration of the server; `nil` where that does not say it, and the
  /// name of the bucket decides.
  func project(ofBucket bucket: String) -> String?

  /// The backend of a project, such as `(any RemoteConfigBackend).self`.
  ///
  /// The project is opened when it is first named; looking up a backend again is cheap, and never blocks for long.
  ///
  /// - Parameters:
  ///   - type: The protocol of the backend.
  ///   - project: The id of the project, as the wire names it.
  /// - Throws: `INVALID_ARGUMENT` for what can be no project's id, `NOT_FOUND` for a project that the server does not
  ///   have, `UNIMPLEMENTED` where it does not have the product.
  func backend<Backend: Sendable>(_ type: Backend.Type, project: String) throws(ServiceStatus) -> Backend

  /// Calls the work when the server begins to shut down, while its listeners still serve: long streams then end with
  /// `UNAVAILABLE`, so that their clients connect again later.
  ///
  /// - Parameter work: Called once, on any thread; at once where the server shuts down already.
  func onShutDown(_ work: @escaping @Sendable () -> Void)
}

extension EndpointHost {
  /// The default one alone.
  public var projects: [String] { [defaultProject] }

  /// None.
  public var compression: TransportCompression? { nil }

  /// None is configured.
  public func project(ofDatabase namespace: String) -> String? { nil }

  /// None is configured.
  public func project(ofBucket bucket: String) -> String? { nil }

  /// None.
  public var rulesOfAllProjects: (any RulesAdministration)? { nil }
}
