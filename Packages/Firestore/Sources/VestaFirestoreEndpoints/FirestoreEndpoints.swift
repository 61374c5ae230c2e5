public import VestaTransportInterop

/// The routes of `google.firestore.v1` and `google.firestore.admin.v1`: gRPC and REST on one port, and the calls of the
/// Emulator Suite.
///
/// ```swift
/// let handler = FirestoreEndpoints().handler(in: host)
/// let listener = try await server.listen(at: .internet(host: "127.0.0.1", port: 8080), handler: handler)
/// ```
///
/// The resource name of a call names the project of its database. The rights of a caller are decided by the
/// engine behind `FirestoreBackend`: it gets the credential unchanged.
public struct FirestoreEndpoints: EndpointProvider {
  private let tuning: FirestoreEndpointTuning

  /// The routes.
  ///
  /// - Parameter tuning: The limits.
  public init(tuning: FirestoreEndpointTuning = FirestoreEndpointTuning()) { self.tuning = tuning }

  /// "firestore".
  public var product: String { "firestore" }

  /// Whether a request is one of Firestore's.
  public func serves(_ head: HTTPRequestHead) -> Bool {
    let path = head.target.utf8.prefix { $0 != UInt8(ascii: "?") }
    if FirestoreService.names.contains(where: { path.starts(with: $0.utf8) }) { return true }
    if AdminCallTable.services.contains(where: { path.starts(with: $0.utf8) }) { return true }
    let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    if parts.count > 4, parts[1].elementsEqual("v1".utf8) || parts[1].elementsEqual("v1beta1".utf8) {
      return parts[2].elementsEqual("projects".utf8) && parts[4].elementsEqual("databases".utf8)
    }
    return FirestoreEmulatorCall(method: head.method, target: head.target) != nil
  }

  /// The handler of the requests.
  ///
  /// Pages of all origins may use it, as nothing in it depends on cookies.
  public func handler(in host: any EndpointHost) -> any HTTPHandler {
    let handler = FirestoreHandler(host, tuning)
    host.onShutDown { handler.endStreams() }
    return CrossOriginHandler(
      rules: CrossOriginRules(
        origins: .all, exposedFields: ["x-http-session-id", "x-client-wire-protocol", "x-http-initial-response"],
        allowsCredentials: true, allowsPrivateNetwork: true),
      handler)
  }
}
