/// The caller, address, deadline and other facts that accompany every call of a service.
///
/// ```swift
/// var context = CallContext(caller: .user(VerifiedUser(uid: "ada", claims: claims)))
/// context.deadline = clock.now() + Duration.seconds(10).microseconds
/// ```
///
/// Rarely used facts (``client``, ``actingFor``, ``trace``) share one reference, so that a context without them is
/// small and costs nothing to copy.
public struct CallContext: Sendable, Hashable {
  /// The identity under which a call is made.
  public enum Caller: Sendable, Hashable {
    /// No user: rules see no `request.auth`.
    case nobody
    /// An owner of the project: rules are not evaluated.
    ///
    /// Server code in the process makes such calls. An adapter on the wire does so only for callers whose credentials
    /// it has verified.
    case owner(Owner)
    /// A user whose token was verified.
    indirect case user(VerifiedUser)
    /// A credential that is not verified yet.
    ///
    /// A service asks its ``CallerVerifier`` before it looks at the call, and refuses the call as `UNAUTHENTICATED`
    /// where the credential is not valid or where it has no verifier.
    case credential(Credential)

    /// The owner with all rights.
    public static let owner = Caller.owner(.full)

    /// Whether this is an owner, whatever its name and scopes.
    public var isOwner: Bool { if case .owner = self { true } else { false } }
  }

  /// The identity under which the call is made.
  public var caller: Caller

  /// The project that the call is about, as the wire names it; `nil` for the project of the service.
  public var project: String?

  /// The App Check token of the calling app, and whether it was verified.
  public var appCheck: AppCheckState

  /// The project's API key, where the caller sent one.
  public var apiKey: String?

  /// The tenant that the call is about; `nil` for the project itself.
  public var tenantID: String?

  /// The language for messages to the user, such as "de".
  public var locale: String?

  /// The network address of the caller, by which limits count; `nil` within the process.
  public var clientAddress: String?

  /// The time after which the caller does not wait for the answer, in microseconds since 1970; `nil` for no deadline.
  ///
  /// A call whose deadline has passed fails with `DEADLINE_EXCEEDED`, and its transaction has changed nothing.
  public var deadline: Int64?

  /// An identifier of the call for logs.
  public var requestID: String?

  /// Whether the changes of the call cause no events, such as an import's changes.
  public var suppressesEvents: Bool

  private var rare: RareFacts?

  /// A context.
  public init(
    caller: Caller = .nobody,
    project: String? = nil,
    appCheck: AppCheckState = .none,
    apiKey: String? = nil,
    tenantID: String? = nil,
    locale: String? = nil,
    clientAddress: String? = nil,
    deadline: Int64? = nil,
    requestID: String? = nil,
    suppressesEvents: Bool = false
  ) {
    self.caller = caller
    self.project = project
    self.appCheck = appCheck
    self.apiKey = apiKey
    self.tenantID = tenantID
    self.locale = locale
    self.clientAddress = clientAddress
    self.deadline = deadline
    self.requestID = requestID
    self.suppressesEvents = suppressesEvents
  }

  /// The context of server code in the process: the owner with all rights.
  public static let owner = CallContext(caller: .owner)

  /// The same context with a deadline at most so far ahead.
  ///
  /// - Parameters:
  ///   - timeout: How long the caller waits.
  ///   - clock: The clock of the service.
  public func limited(to timeout: Duration, by clock: ServiceClock) -> CallContext {
    var copy = self
    let (limit, overflows) = clock.now().addingReportingOverflow(timeout.microseconds)
    copy.deadline = min(deadline ?? .max, overflows ? .max : limit)
    return copy
  }

  /// The user under whose identity the call is made, if it was verified.
  public var user: VerifiedUser? { if case .user(let user) = caller { user } else { nil } }

  /// Whether rules are not evaluated for this call.
  public var isOwner: Bool { caller.isOwner }
}

extension CallContext {
  /// The client library that sent the call; `nil` where it is not known.
  public var client: ClientInfo? { clientFields.flatMap { ClientInfo($0) } }

  /// The fields of the request that name the client library; `nil` where there are none.
  public var clientFields: ClientFields? {
    get { rare?.facts.clientFields }
    set { change { $0.clientFields = newValue } }
  }

  /// The caller that acts under the identity of ``caller``, such as an owner that overrides the user.
  ///
  /// `nil` where the caller acts for itself. Audit logs name it.
  public var actingFor: Caller? {
    get { rare?.facts.actingFor }
    set { change { $0.actingFor = newValue } }
  }

  /// The position of the call in a distributed trace.
  public var trace: TraceContext? {
    get { rare?.facts.trace }
    set { change { $0.trace = newValue } }
  }

  private mutating func change(_ change: (inout RareFacts.Facts) -> Void) {
    var facts = rare?.facts ?? RareFacts.Facts()
    change(&facts)
    rare = facts == RareFacts.Facts() ? nil : RareFacts(facts)
  }
}

/// The facts of a context that few calls have; immutable.
private final class RareFacts: Sendable, Hashable {
  struct Facts: Sendable, Hashable {
    var clientFields: ClientFields?
    var actingFor: CallContext.Caller?
    var trace: TraceContext?
  }

  let facts: Facts

  init(_ facts: Facts) { self.facts = facts }

  static func == (left: RareFacts, right: RareFacts) -> Bool { left.facts == right.facts }

  func hash(into hasher: inout Hasher) { hasher.combine(facts) }
}
