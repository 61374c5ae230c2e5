public import VestaBytes

/// The caller, address, deadline and other facts that accompany every call of a service.
///
/// ```swift
/// var context = CallContext(caller: .user(VerifiedUser(uid: "ada", claims: claims)))
/// context.deadline = clock.now() + clock.microseconds(.seconds(10))
/// ```
public struct CallContext: Sendable, Hashable {
  /// In whose name a call is made.
  public enum Caller: Sendable, Hashable {
    /// Nobody: rules see no user.
    case nobody
    /// The owner of the project: rules are not evaluated.
    ///
    /// Server code in the process makes such calls. An adapter on the wire does so only for callers whose credentials
    /// it has verified.
    case owner
    /// A user whose token was verified by whoever made the context.
    case user(VerifiedUser)
    /// An ID token that nobody has verified yet; a backend verifies it, or refuses the call as `UNAUTHENTICATED`.
    case idToken(String)
  }

  /// In whose name the call is made.
  public var caller: Caller

  /// The caller's App Check token, or its placeholder.
  public var appCheckToken: String?

  /// The project's API key, where the caller sent one.
  public var apiKey: String?

  /// The tenant that the call is about; `nil` for the project itself.
  public var tenantID: String?

  /// The language for messages to the user, such as "de".
  public var locale: String?

  /// The network address of the caller, by which limits count; `nil` within the process.
  public var clientAddress: String?

  /// The time after which nobody waits for the answer, in microseconds since 1970; `nil` for no deadline.
  ///
  /// A call whose deadline has passed fails with `DEADLINE_EXCEEDED`, and its transaction has changed nothing.
  public var deadline: Int64?

  /// An identifier of the call for logs.
  public var requestID: String?

  /// A context.
  public init(
    caller: Caller = .nobody,
    appCheckToken: String? = nil,
    apiKey: String? = nil,
    tenantID: String? = nil,
    locale: String? = nil,
    clientAddress: String? = nil,
    deadline: Int64? = nil,
    requestID: String? = nil
  ) {
    self.caller = caller
    self.appCheckToken = appCheckToken
    self.apiKey = apiKey
    self.tenantID = tenantID
    self.locale = locale
    self.clientAddress = clientAddress
    self.deadline = deadline
    self.requestID = requestID
  }

  /// The context of server code in the process.
  public static let owner = CallContext(caller: .owner)

  /// The same context with a deadline at most so far ahead.
  ///
  /// - Parameters:
  ///   - timeout: How long the caller waits.
  ///   - clock: The clock of the service.
  public func limited(to timeout: Duration, by clock: ServiceClock) -> CallContext {
    var copy = self
    let limit = clock.now() + timeout.microseconds
    copy.deadline = min(deadline ?? limit, limit)
    return copy
  }

  /// The user in whose name the call is made, if it was verified.
  public var user: VerifiedUser? { if case .user(let user) = caller { user } else { nil } }

  /// Whether rules are not evaluated for this call.
  public var isOwner: Bool { caller == .owner }
}

/// A user whose ID token was verified.
public struct VerifiedUser: Sendable, Hashable {
  /// The user's id.
  public var uid: String

  /// The claims of the verified token, as rules see them in `request.auth.token`.
  public var claims: JSONObject

  /// A user.
  ///
  /// - Parameters:
  ///   - uid: The user's id.
  ///   - claims: The claims of the verified token.
  public init(uid: String, claims: JSONObject = JSONObject()) {
    self.uid = uid
    self.claims = claims
  }
}
