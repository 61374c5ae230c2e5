import VestaServiceInterop

/// Turns the context of a call into the fields of a request, as `CallContext.init(_:project:clock:)` reads them.
struct RESTIdentity: Sendable {
  private let options: RESTOptions
  private let origin: HTTPURL

  init(_ service: RESTService) { (options, origin) = (service.options, service.origin) }

  /// The fields of a call.
  ///
  /// - Parameters:
  ///   - context: The context.
  ///   - timeout: How long the caller still waits; `nil` for a stream.
  ///   - hasToken: Whether the product's part of the request has a token.
  /// - Throws: `ServiceStatus` for a caller that cannot be named to a server, and for tokens that would be sent in
  ///   clear text to another machine.
  func fields(for context: CallContext, timeout: Duration?, hasToken: Bool) async throws -> HTTPFields {
    var fields = options.fields
    let token = try await bearer(context.caller)
    let appCheck = context.appCheck.unverifiedToken
    // The word by which emulators know the owner is no secret.
    if hasToken || (token != nil && token != Self.emulatorOwner) || appCheck != nil { try checkSecrecy() }
    if let token { fields.append(.authorization, "\(scheme(of: context.caller)) \(token)") }
    if let appCheck { fields.append("x-firebase-appcheck", appCheck) }
    if let key = context.apiKey ?? options.apiKey { fields.append("x-goog-api-key", key) }
    if let locale = context.locale { fields.append("x-firebase-locale", locale) }
    if let id = context.requestID { fields.append("x-request-id", id) }
    if let timeout { fields.append("x-server-timeout", Self.seconds(timeout)) }
    if let trace = context.trace {
      fields.append("traceparent", "00-\(trace.traceID)-\(trace.spanID)-\(trace.isSampled ? "01" : "00")")
    }
    // The last one: a request that was refused above has taken no day.
    if let (name, value) = options.heartbeat?(options.compression) { fields.append(name, value) }
    return fields
  }

  private static let emulatorOwner = "owner"

  private func scheme(of caller: CallContext.Caller) -> String {
    if case .credential(.idToken) = caller { options.userScheme } else { "Bearer" }
  }

  func bearer(_ caller: CallContext.Caller) async throws -> String? {
    switch caller {
    case .nobody: return nil
    case .credential(let credential): return credential.token
    case .owner:
      guard let ownerToken = options.ownerToken else {
        throw ServiceStatus(
          .unauthenticated, "Calls of the owner need a credential of the owner, and this backend was given none.")
      }
      return try await ownerToken()
    case .user:
      throw ServiceStatus(.unauthenticated, "A server verifies users by itself: call with the credential of the user.")
    }
  }

  /// Whether a token may be sent to the server.
  var keepsTokensSecret: Bool {
    origin.isSecure || options.allowsInsecureTokens || origin.isLoopback
  }

  private func checkSecrecy() throws(ServiceStatus) {
    if keepsTokensSecret { return }
    throw ServiceStatus(
      .failedPrecondition,
      """
      The call has a token, and \(origin.authority) would receive it in clear text. Use https, or allow tokens in clear \
      text for a network that you trust.
      """)
  }

  /// A time-out in seconds with three decimals, rounded up.
  private static func seconds(_ timeout: Duration) -> String {
    let milliseconds = max(1, (timeout.microseconds.addingReportingOverflow(999).partialValue) / 1_000)
    return "\(milliseconds / 1_000).\(String(1_000 + milliseconds % 1_000).dropFirst())"
  }
}
