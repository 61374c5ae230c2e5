import VestaAuthBackend
import VestaServiceInterop
import VestaTesting

extension AuthContracts {
  static let sessions: [Contract<AuthSubject>] = [
    Contract("a refresh token gives ID tokens of its account, time after time") { subject in
      let made = try await subject.signUp()
      var refreshToken = made.tokens.refreshToken
      for _ in 0..<3 {
        let refreshed = try await subject.backend.refresh(
          RefreshRequest(refreshToken: refreshToken), context: subject.context)
        try expect(refreshed.userID, equals: made.localID, "the id")
        try expect(try await subject.user(refreshed.tokens).localID, equals: made.localID, "the id of the token")
        refreshToken = refreshed.tokens.refreshToken
      }
    },
    Contract("a refresh token that is missing or not known is refused") { subject in
      try await expectRefusal(.missingRefreshToken, of: "an empty token") {
        try await subject.backend.refresh(RefreshRequest(refreshToken: ""), context: subject.context)
      }
      try await expectRefusal(.invalidRefreshToken, of: "an unknown token") {
        try await subject.backend.refresh(RefreshRequest(refreshToken: "unknown"), context: subject.context)
      }
    },
    Contract("a credential that cannot be verified is refused in every call") { subject in
      let made = try await subject.signUp()
      let forged = CallContext(caller: .credential(.idToken("a.b.c")))
      for (name, call) in callsWithCredential(of: made, subject.backend) {
        try await expectRefusal(.unauthenticated, of: name) { try await call(forged) }
      }
      try expect(try await subject.signIn().localID, equals: made.localID, "the account")
    },
    Contract("an ID token that is missing, malformed or forged is refused") { subject in
      let tokens = try await subject.signUp().tokens
      let parts = tokens.idToken.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      try expect(parts.count, equals: 3, "the number of parts of an ID token")
      let forged = [
        "nonsense", "a.b.c", parts[0] + "." + parts[1] + ".", parts[0] + "." + parts[1] + "." + parts[0],
        "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0." + parts[1] + ".",
      ]
      for token in forged {
        try await expectRefusal(.invalidIDToken, of: "a forged token") {
          try await subject.backend.lookup(LookupRequest(idToken: token), context: subject.context)
        }
      }
      try await expectRefusal(.missingIDToken, of: "an empty token") {
        try await subject.backend.lookup(LookupRequest(idToken: ""), context: subject.context)
      }
    },
    Contract("an unsigned ID token is refused in every call that changes something") { subject in
      let made = try await subject.signUp()
      let parts = made.tokens.idToken.split(separator: ".", omittingEmptySubsequences: false)
      let unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.\(parts.dropFirst().first ?? "")."
      for (name, call) in callsWithToken(unsigned, subject.backend) {
        try await expectRefusal(.invalidIDToken, of: name) { try await call(subject.context) }
      }
      try expect(try await subject.signIn().localID, equals: made.localID, "the account")
    },
    Contract("an ID token of another tenant is refused") { subject in
      let tokens = try await subject.signUp().tokens
      try await expectRefusal(.tenantIDMismatch, of: "the token") {
        try await subject.backend.lookup(
          LookupRequest(idToken: tokens.idToken), context: CallContext(tenantID: "another"))
      }
    },
    Contract("a changed password replaces the old one and ends the other sessions") { subject in
      _ = try await subject.signUp()
      let other = try expectValue(try await subject.signIn().outcome.tokens, "tokens")
      let own = try expectValue(try await subject.signIn().outcome.tokens, "tokens")
      let changed = try await subject.backend.update(
        UpdateRequest(idToken: own.idToken, password: "another horse"), context: subject.context)
      let tokens = try expectValue(changed.tokens, "new tokens")
      _ = try await subject.user(tokens)
      _ = try await subject.backend.refresh(
        RefreshRequest(refreshToken: tokens.refreshToken), context: subject.context)
      try await expectRefusal(.tokenExpired, .invalidRefreshToken, of: "the other session") {
        try await subject.backend.refresh(RefreshRequest(refreshToken: other.refreshToken), context: subject.context)
      }
      try await expectRefusal(.invalidLoginCredentials, .invalidPassword, of: "the old password") {
        try await subject.signIn()
      }
      _ = try await subject.signIn("ada@example.com", "another horse")
    },
    Contract("64 refreshes at once all succeed") { subject in
      let made = try await subject.signUp()
      let results = await atOnce(64) {
        try await subject.backend.refresh(
          RefreshRequest(refreshToken: made.tokens.refreshToken), context: subject.context)
      }
      for result in results { try expect(try result.get().userID, equals: made.localID, "the id") }
    },
    Contract("the published keys are a JSON Web Key Set") { subject in
      _ = try await subject.signUp()
      let keys = try await subject.backend.publicKeys(context: subject.context)
      try expect(String(decoding: keys.jwks, as: UTF8.self).contains("\"keys\""), "there is no list of keys")
    },
    Contract("every published key has a certificate by its name") { subject in
      _ = try await subject.signUp()
      let keys = try await subject.backend.publicKeys(context: subject.context)
      let certificates = try await subject.backend.certificates(context: subject.context)
      let published = String(decoding: keys.jwks, as: UTF8.self)
      let count = published.split(separator: "\"kid\"", omittingEmptySubsequences: false).count - 1
      try expect(certificates.certificates.count, equals: count, "the number of certificates")
      for (name, text) in certificates.certificates {
        try expect(published.contains("\"\(name)\"") && !text.isEmpty, "there is no key for a certificate")
      }
    },
  ]
}

/// Calls that succeed for an account, by their names.
private func callsWithCredential(
  of made: SignUpResponse, _ backend: any AuthBackend
) -> [(name: String, call: @Sendable (CallContext) async throws -> Void)] {
  let (idToken, email) = (made.tokens.idToken, made.email ?? "")
  return [
    ("a sign-up", { _ = try await backend.signUp(SignUpRequest(), context: $0) }),
    (
      "a sign-in",
      {
        let request = PasswordSignInRequest(email: email, password: "correct horse")
        _ = try await backend.signInWithPassword(request, context: $0)
      }
    ),
    ("a look-up", { _ = try await backend.lookup(LookupRequest(idToken: idToken), context: $0) }),
    (
      "an update",
      { _ = try await backend.update(UpdateRequest(idToken: idToken, displayName: "Ada"), context: $0) }
    ),
    (
      "a refresh",
      { _ = try await backend.refresh(RefreshRequest(refreshToken: made.tokens.refreshToken), context: $0) }
    ),
    (
      "a code by e-mail",
      {
        let request = SendOobCodeRequest(requestType: .passwordReset, email: email)
        _ = try await backend.sendOobCode(request, context: $0)
      }
    ),
    (
      "a code to a phone",
      {
        let request = SendVerificationCodeRequest(phoneNumber: "+15550000001")
        _ = try await backend.sendVerificationCode(request, context: $0)
      }
    ),
    ("the policy", { _ = try await backend.passwordPolicy(context: $0) }),
    ("a deletion", { try await backend.delete(DeleteRequest(idToken: idToken), context: $0) }),
  ]
}

/// Calls that change something and are made with an ID token, by their names.
private func callsWithToken(
  _ idToken: String, _ backend: any AuthBackend
) -> [(name: String, call: @Sendable (CallContext) async throws -> Void)] {
  [
    (
      "a sign-up that links",
      {
        let request = SignUpRequest(email: "eve@example.com", password: "correct horse", idToken: idToken)
        _ = try await backend.signUp(request, context: $0)
      }
    ),
    (
      "an update",
      { _ = try await backend.update(UpdateRequest(idToken: idToken, password: "another horse"), context: $0) }
    ),
    (
      "a code by e-mail",
      {
        let request = SendOobCodeRequest(requestType: .verifyEmail, idToken: idToken)
        _ = try await backend.sendOobCode(request, context: $0)
      }
    ),
    (
      "a second factor",
      {
        let request = StartMfaEnrollmentRequest(idToken: idToken, factor: .totp)
        _ = try await backend.startMfaEnrollment(request, context: $0)
      }
    ),
    ("a deletion", { try await backend.delete(DeleteRequest(idToken: idToken), context: $0) }),
  ]
}
