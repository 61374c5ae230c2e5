import VestaAuthBackend
import VestaBytes
import VestaCryptoInterop
import VestaServiceInterop

// Passkeys are added and sign in. In development the id of a passkey is enough, as with a local server of Firebase's:
// test suites have no authenticator.

extension PasskeyOperation {
  /// 33 bytes as Base64url.
  private static var challengeLength: Int { 44 }

  private var party: PasskeyRelyingParty { options.passkeyRelyingParty }
  private var check: PasskeyCheck { PasskeyCheck(party: party, crypto: crypto) }

  func startEnrollment(_ request: StartPasskeyEnrollmentRequest) async throws -> PasskeyCreationOptions {
    let proof = try await proof(request.idToken)
    let (challenge, user) = try await write(for: proof) { call in
      let caller = try await call.caller(proof) as Caller
      try call.requireRecentSignInToChangeFactors(caller)
      let lifetime = call.options.passkeyChallengeLifetime
      let ticket = call.newTicket(.passkeyEnrollment, for: caller.user, lifetime: lifetime)
      return (try await call.tickets.keep(ticket, secretLength: Self.challengeLength), caller.user)
    }
    let name = user.email ?? user.phoneNumber ?? user.localID
    return PasskeyCreationOptions(
      relyingPartyID: party.id, relyingPartyName: party.name, userID: PasskeyID.handle(of: user.localID),
      userName: name, displayName: user.displayName ?? name, challenge: try Base64.url.decode(challenge),
      excludedCredentialIDs: user.passkeys.map(\.canonicalID))
  }

  func finalizeEnrollment(
    _ request: FinalizePasskeyEnrollmentRequest
  ) async throws -> FinalizePasskeyEnrollmentResponse {
    _ = try Checks.present(request.idToken, or: .missingIDToken)
    guard let registration = request.registration else { throw AuthServiceError(.missingAuthenticatorResponse) }
    let proof = try await proof(request.idToken)
    try Checks.passkeyID(registration.credentialID)
    try Checks.profile(request.name)
    let answer = try await answer(registration, of: proof.localID)
    let grant = try await write(for: proof) { call in
      let caller = try await call.caller(proof) as Caller
      try call.requireRecentSignInToChangeFactors(caller)
      if let answer { try await call.use(answer, .passkeyEnrollment, by: caller.user) }
      let name = request.name.flatMap { $0.isEmpty ? nil : $0 } ?? "Unnamed Passkey"
      return try await call.add(
        UserRecord.Passkey(
          credentialID: registration.credentialID, name: name, publicKey: answer?.publicKey,
          signCount: answer?.signCount ?? 0, createdAt: call.now), to: caller)
    }
    return FinalizePasskeyEnrollmentResponse(localID: grant.user.localID, tokens: try await tokens(grant))
  }

  /// - Returns: What is right about an answer; `nil` for one that is only taken in development.
  private func answer(
    _ registration: FinalizePasskeyEnrollmentRequest.Registration, of account: String
  ) async throws -> PasskeyCheck.Answer? {
    do {
      return try await inTurn(of: account, isSlow: true) { try check.registration(registration) }
    } catch let refusal as AuthServiceError {
      guard options.isDevelopment else { throw refusal }
      return nil
    }
  }

  func startSignIn() async throws -> PasskeyRequestOptions {
    let challenge = try await write { call in
      let ticket = call.newTicket(.passkeySignIn, lifetime: call.options.passkeyChallengeLifetime)
      return try await call.tickets.keep(ticket, secretLength: Self.challengeLength)
    }
    return PasskeyRequestOptions(relyingPartyID: party.id, challenge: try Base64.url.decode(challenge))
  }

  func finalizeSignIn(_ request: FinalizePasskeySignInRequest) async throws -> FinalizePasskeySignInResponse {
    guard let assertion = request.assertion else { throw AuthServiceError(.missingAuthenticatorResponse) }
    try Checks.passkeyID(assertion.credentialID)
    let verified = try await options.isDevelopment ? nil : verified(assertion)
    let (localID, first) = try await writeAsking { call in
      let (old, passkey) = try await call.owner(ofPasskey: assertion.credentialID)
      var user = old
      if let verified {
        guard verified.localID == old.localID, verified.publicKey == passkey.publicKey else {
          throw AuthServiceError.refusedAnswer("the passkey was replaced meanwhile")
        }
        guard let used = passkey.used(verified.answer.signCount) else {
          throw AuthServiceError.refusedAnswer("the passkey was copied")
        }
        try await call.use(verified.answer, .passkeySignIn)
        user.passkeys = old.passkeys.map { $0.isSame(as: passkey) ? used : $0 }
      }
      guard !old.disabled else { throw AuthServiceError(.userDisabled) }
      return (user.localID, try await call.sessions.finishFirstFactor(user, replacing: old, provider: "passkey"))
    }
    return FinalizePasskeySignInResponse(localID: localID, outcome: try await outcome(first))
  }

  /// An answer that was signed by the passkey of an account.
  private struct VerifiedAnswer: Sendable {
    let localID: String
    let publicKey: [UInt8]?
    let answer: PasskeyCheck.Answer
  }

  /// Verifies a signature outside of any transaction, as no other write has to wait for that.
  private func verified(_ assertion: FinalizePasskeySignInRequest.Assertion) async throws -> VerifiedAnswer {
    let (user, passkey) = try await read { call in try await call.owner(ofPasskey: assertion.credentialID) }
    let answer = try await inTurn(of: user.localID, isSlow: passkey.isSlow) {
      try check.assertion(assertion, of: user.localID, passkey)
    }
    return VerifiedAnswer(localID: user.localID, publicKey: passkey.publicKey, answer: answer)
  }

  /// Looks at an answer when it is the caller's turn: a key of RSA takes the time of a password.
  private func inTurn(
    of account: String, isSlow: Bool, _ look: () throws -> PasskeyCheck.Answer
  ) async throws -> PasskeyCheck.Answer {
    guard isSlow else { return try look() }
    return try await core.hashing.run(for: context.clientAddress, account: account) { try look() }
  }
}

extension UserRecord.Passkey {
  fileprivate var isSlow: Bool { publicKey.flatMap { try? PasskeyKey($0) }?.key.keyType == .rsa }
}

extension Checks {
  fileprivate static func passkeyID(_ id: String) throws(AuthServiceError) {
    guard !id.isEmpty, id.utf8.count <= PasskeyID.longest else { throw AuthServiceError(.invalidCredentialID) }
  }
}

extension AuthWriteCall {
  /// Uses up the challenge of an answer, which is good once.
  ///
  /// In development a challenge that is not known is none.
  fileprivate func use(
    _ answer: PasskeyCheck.Answer, _ purpose: TicketRecord.Purpose, by user: UserRecord? = nil
  ) async throws {
    for challenge in answer.challenges {
      guard let ticket = try await ticket(challenge, purpose), !isExpired(ticket),
        user.map({ ticket.isCurrent(for: $0) }) ?? true
      else { continue }
      return try await tickets.consume(challenge, ticket)
    }
    guard !options.isDevelopment else { return }
    throw AuthServiceError(
      .invalidAuthenticatorResponse, "The challenge is not known, was used, or has expired. Start again.")
  }

  /// Adds a passkey to the account of a caller.
  fileprivate func add(_ passkey: UserRecord.Passkey, to caller: Caller) async throws -> Grant {
    var user = caller.user
    guard !user.passkeys.contains(where: passkey.isSame) else { throw AuthServiceError(.credentialAlreadyInUse) }
    guard user.passkeys.count < options.passkeyLimit else {
      throw AuthServiceError(
        .operationNotAllowed, "An account has \(options.passkeyLimit) passkeys at most: remove one first.")
    }
    user.passkeys.append(passkey)
    return try await sessions.link(user, to: caller, provider: "passkey")
  }
}

extension AuthCall {
  /// The account of a passkey.
  fileprivate func owner(ofPasskey id: String) async throws -> (UserRecord, UserRecord.Passkey) {
    let id = PasskeyID.canonical(id)
    guard let user = try await reader.user(tenant, passkey: id),
      let passkey = user.passkeys.first(where: { $0.canonicalID == id })
    else { throw AuthServiceError(.passkeyCredentialNotFound) }
    return (user, passkey)
  }
}
