/// Verifies the credentials of callers: the embedded Auth engine does, and a server's table of keys.
///
/// Promises of every implementation (`VestaServiceInteropContracts` checks them):
/// - The signature covers the claims, the user id and the project of the answer; nothing is taken from an unverified
///   part of a token.
/// - A token without a signature is refused, unless the options of the verifier accept tokens of development.
/// - A token is refused from its expiry on, also one that was accepted before.
/// - A credential that is not valid, or that is of a kind that the verifier does not know, is `UNAUTHENTICATED`. Where
///   the verifier cannot decide, as without its store, the failure is transient, such as `UNAVAILABLE`: the caller
///   keeps the token and tries again.
/// - The result is never `.credential`.
public protocol CallerVerifier: Sendable {
  /// Verifies a credential.
  ///
  /// - Parameters:
  ///   - credential: The credential as it was sent.
  ///   - project: The project that the call is about; a token of another project is refused. `nil` for the project of
  ///     the verifier.
  /// - Returns: The caller, and how long the answer holds.
  /// - Throws: `UNAUTHENTICATED` for a credential that is not valid; a transient status where it cannot be decided.
  nonisolated(nonsending) func verify(
    _ credential: Credential, project: String?
  ) async throws(ServiceStatus) -> VerifiedCaller

  /// The answer of ``verify(_:project:)`` where it takes no waiting; `nil` where that has to be asked.
  ///
  /// - Parameters:
  ///   - credential: The credential as it was sent.
  ///   - project: The project that the call is about.
  /// - Throws: `UNAUTHENTICATED` for a credential that is not valid.
  func verifyAtOnce(_ credential: Credential, project: String?) throws(ServiceStatus) -> VerifiedCaller?
}

extension CallerVerifier {
  /// None: every answer has to be waited for.
  public func verifyAtOnce(_ credential: Credential, project: String?) throws(ServiceStatus) -> VerifiedCaller? {
    nil
  }
}

/// The result of a verification.
public struct VerifiedCaller: Sendable, Hashable {
  /// The caller: a user, an owner, or no caller.
  public var caller: CallContext.Caller

  /// The time from which the answer does not hold, in microseconds since 1970; `nil` for an answer that holds for one
  /// call.
  public var expiry: Int64?

  /// A result.
  ///
  /// - Parameters:
  ///   - caller: The caller.
  ///   - expiry: The time from which the answer does not hold, in microseconds since 1970.
  public init(_ caller: CallContext.Caller, expiry: Int64? = nil) {
    self.caller = caller
    self.expiry = expiry
  }
}

/// Verifies App Check tokens.
public protocol AppCheckVerifier: Sendable {
  /// Verifies a token.
  ///
  /// - Parameters:
  ///   - token: The token as it was sent; it may be a placeholder.
  ///   - project: The project that the call is about; `nil` for the project of the verifier.
  /// - Returns: The id of the app, and the id of the token.
  /// - Throws: `UNAUTHENTICATED` for a token that is not valid; a transient status where it cannot be decided.
  nonisolated(nonsending) func verify(
    appCheckToken token: String, project: String?
  ) async throws(ServiceStatus) -> (appID: String, tokenID: String?)

  /// Consumes a token, so that a later call learns that it was used before.
  ///
  /// A token that was consumed stays valid: the service that is called decides what a second use means. Of several
  /// calls at the same time one alone is the first.
  ///
  /// - Parameters:
  ///   - token: The token as it was sent.
  ///   - project: The project that the call is about; `nil` for the project of the verifier.
  /// - Returns: Whether an earlier call has consumed it.
  /// - Throws: `UNAUTHENTICATED` for a token that is not valid; `UNIMPLEMENTED` where the verifier keeps no record of
  ///   tokens; a transient status where it cannot be decided.
  nonisolated(nonsending) func consume(
    appCheckToken token: String, project: String?
  ) async throws(ServiceStatus) -> Bool
}

extension AppCheckVerifier {
  /// Refused: the verifier keeps no record of tokens.
  public nonisolated(nonsending) func consume(
    appCheckToken token: String, project: String?
  ) async throws(ServiceStatus) -> Bool {
    throw ServiceStatus(
      .unimplemented, "The verifier of App Check tokens keeps no record of them, so none can be consumed.")
  }
}

/// The check of who calls, which a service makes before it looks at a call.
///
/// | the context says | with a verifier | without one |
/// |---|---|---|
/// | no user, an owner, a verified user | unchanged | unchanged |
/// | a credential | the verified caller, or `UNAUTHENTICATED` | `UNAUTHENTICATED` |
/// | an App Check token | `.verified`; unchanged where it cannot be verified | unchanged |
///
/// With ``enforcesAppCheck`` a call whose App Check state is not `.verified` in the end is `UNAUTHENTICATED`.
public struct CallerCheck: Sendable {
  /// The verifier of credentials; `nil` refuses all of them.
  public var callers: (any CallerVerifier)?

  /// The verifier of App Check tokens; `nil` leaves them as they are.
  public var apps: (any AppCheckVerifier)?

  /// Whether calls without a valid App Check token are refused; owners are not asked for one.
  public var enforcesAppCheck: Bool

  /// A check; without arguments it refuses every credential.
  ///
  /// - Parameters:
  ///   - callers: The verifier of credentials.
  ///   - apps: The verifier of App Check tokens.
  ///   - enforcesAppCheck: Whether calls without a valid App Check token are refused.
  public init(
    callers: (any CallerVerifier)? = nil, apps: (any AppCheckVerifier)? = nil, enforcesAppCheck: Bool = false
  ) {
    self.callers = callers
    self.apps = apps
    self.enforcesAppCheck = enforcesAppCheck
  }

  /// Whether there is something to verify in a context; false for most calls, at the cost of two comparisons.
  ///
  /// - Parameter context: The context of a call.
  public func concerns(_ context: CallContext) -> Bool {
    switch context.caller {
    case .credential: return true
    case .owner: return false
    case .nobody, .user: break
    }
    if enforcesAppCheck { return context.appCheck.appID == nil }
    return apps != nil && context.appCheck.unverifiedToken != nil
  }

  /// The context with everything verified, where that takes no waiting; `nil` where ``verified(_:)`` has to be asked.
  ///
  /// - Parameter context: The context as the caller sent it.
  /// - Throws: `UNAUTHENTICATED`.
  public func verifiedAtOnce(_ context: CallContext) throws(ServiceStatus) -> CallContext? {
    guard case .credential(let credential) = context.caller, let callers, !enforcesAppCheck,
      apps == nil || context.appCheck.unverifiedToken == nil,
      let answer = try callers.verifyAtOnce(credential, project: context.project)
    else { return nil }
    if case .credential = answer.caller { throw .unauthenticated }
    var context = context
    context.caller = answer.caller
    return context
  }

  /// The context with everything verified.
  ///
  /// - Parameter context: The context as the caller sent it.
  /// - Throws: `UNAUTHENTICATED`, or the failure of a verifier that could not decide.
  public func verified(_ context: CallContext) async throws(ServiceStatus) -> CallContext {
    var context = context
    if case .credential(let credential) = context.caller {
      guard let callers else {
        throw ServiceStatus(
          .unauthenticated, "The service has no verifier of credentials, so no token can be accepted.")
      }
      let verified = try await callers.verify(credential, project: context.project)
      if case .credential = verified.caller { throw .unauthenticated }
      context.caller = verified.caller
    }
    if let token = context.appCheck.unverifiedToken, let apps, !context.isOwner {
      do {
        let (appID, tokenID) = try await apps.verify(appCheckToken: token, project: context.project)
        context.appCheck = .verified(appID: appID, tokenID: tokenID)
      } catch  where !enforcesAppCheck {
        // A service that does not enforce App Check serves apps without it, too, and does not depend on its verifier.
      }
    }
    if enforcesAppCheck, context.appCheck.appID == nil, !context.isOwner {
      // Web clients of Storage know the failure by these words.
      throw ServiceStatus(.unauthenticated, "Firebase App Check token is invalid.")
    }
    return context
  }
}

extension ServiceStatus {
  /// The credential of a call is not valid.
  public static let unauthenticated = ServiceStatus(
    .unauthenticated, "The credential of the call is not valid or has expired.")
}
