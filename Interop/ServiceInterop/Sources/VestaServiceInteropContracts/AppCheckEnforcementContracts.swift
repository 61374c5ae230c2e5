public import VestaServiceInterop
public import VestaTesting

/// A service that enforces App Check, as one call that every client may make and that needs a token.
public struct AppCheckEnforcementSubject: Sendable {
  /// Makes a call that succeeds for a client with a valid App Check token, and for an owner.
  public let call: @Sendable (CallContext) async throws -> Void
  /// A token that the service's verifier accepts.
  public let token: String
  /// Whether owners are served without a token, as by all services but functions, which say so for themselves.
  public let exemptsOwners: Bool

  /// A service.
  ///
  /// - Parameters:
  ///   - token: A token that the service's verifier accepts.
  ///   - exemptsOwners: Whether owners are served without a token.
  ///   - call: Makes a call that succeeds for a client with the token.
  public init(
    token: String, exemptsOwners: Bool = true, call: @escaping @Sendable (CallContext) async throws -> Void
  ) {
    (self.token, self.exemptsOwners, self.call) = (token, exemptsOwners, call)
  }

  fileprivate func expectRefused(_ context: CallContext, _ what: String) async throws {
    do {
      try await call(context)
    } catch {
      let status = error as? ServiceStatus ?? (error as? any ServiceFailure)?.status
      return try expect(status?.code, equals: .unauthenticated, "the status of \(what)")
    }
    throw ContractViolation("\(what) was served")
  }
}

/// The promises of a service that enforces App Check, as checks.
public enum AppCheckEnforcementContracts {
  /// All promises; each wants a fresh subject.
  public static let all: [Contract<AppCheckEnforcementSubject>] = [
    Contract("a call without an App Check token is unauthenticated, also one of a verified user") { subject in
      try await subject.expectRefused(CallContext(), "a call without a token")
      let user = CallContext(caller: .user(VerifiedUser(uid: "ada")))
      try await subject.expectRefused(user, "a user's call without a token")
    },
    Contract("a call with a token that is not valid is unauthenticated") { subject in
      // Clients that cannot get a token send a placeholder: the Base64 of an error.
      for token in ["", "forged", "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==", subject.token + "x"] {
        try await subject.expectRefused(CallContext(appCheck: .token(token)), "a call with the token \(token)")
      }
    },
    Contract("a call with a valid token, or with one that was verified before, is served") { subject in
      try await subject.call(CallContext(appCheck: .token(subject.token)))
      try await subject.call(CallContext(appCheck: .verified(appID: "app", tokenID: nil)))
    },
    Contract("an owner's call is served without a token") { subject in
      if subject.exemptsOwners { try await subject.call(.owner) }
    },
  ]
}
