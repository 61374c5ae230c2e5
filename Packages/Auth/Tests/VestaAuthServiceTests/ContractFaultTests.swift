import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaConcurrency
import VestaCryptoInterop
import VestaServiceInterop
import VestaTesting

@testable import VestaAuthService

/// Tests of the contracts: for each promise a backend that breaks it, and nothing else.
@Suite struct ContractFaultTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription, broken: String
    let make: @Sendable () -> WrongBackend

    init(_ fault: String, breaks broken: String, make: @escaping @Sendable () -> WrongBackend) {
      (testDescription, self.broken, self.make) = (fault, broken, make)
    }
  }

  @Test(arguments: accounts + sessions + codes) func `a wrong backend breaks exactly its promise`(_ fault: Fault) async
  {
    let outcomes = await AuthContracts.all.run {
      let wrong = fault.make()
      return AuthSubject(
        wrong,
        emailedCode: { try wrong.world.emailedCode($0, to: $1) },
        textedCode: { try wrong.world.textedCode($0) })
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.name) == [fault.broken], "\(outcomes.filter { !$0.isKept })")
  }

  @Test func `every promise has a backend that breaks it`() {
    let broken = (Self.accounts + Self.sessions + Self.codes).map(\.broken)
    #expect(Set(AuthContracts.all.map(\.name)).subtracting(broken) == [])
  }

  // MARK: Accounts

  static let accounts: [Fault] = [
    Fault(
      "gives anonymous accounts a provider", breaks: "an anonymous account has an id and a session, and no address"
    ) {
      WrongBackend(
        signsUp: { world, request, context in
          var made = try await world.engine.signUp(request, context: context)
          made.tokens.account = nil
          return made
        },
        looksUp: { world, request, context in
          var found = try await world.engine.lookup(request, context: context)
          if !found.users[0].hasPassword, found.users[0].email == nil {
            found.users[0].providerUserInfo = [ProviderUserInfo(providerID: "anonymous", rawID: "1")]
          }
          return found
        })
    },
    Fault(
      "keeps addresses as they were typed", breaks: "a new account with a password can be looked up with its token"
    ) {
      let typed = Locked("")
      return WrongBackend(
        signsUp: { world, request, context in
          typed.withLock { $0 = request.email ?? "" }
          return try await world.engine.signUp(request, context: context)
        },
        looksUp: { world, request, context in
          var found = try await world.engine.lookup(request, context: context)
          let typed = typed.withLock { $0 }
          if found.users[0].email == typed.lowercased() { found.users[0].email = typed }
          return found
        })
    },
    Fault(
      "looks addresses up as they are typed",
      breaks: "signing in gives the account that signed up, whatever the case of the address"
    ) {
      WrongBackend(signsIn: { world, request, context in
        guard request.email == request.email.lowercased() else { throw AuthServiceError(.emailNotFound) }
        return try await world.engine.signInWithPassword(request, context: context)
      })
    },
    Fault(
      "tells an account as it was before the sign-in",
      breaks: "an account that comes with tokens is the one that a look-up gives"
    ) {
      WrongBackend(signsIn: { world, request, context in
        var response = try await world.engine.signInWithPassword(request, context: context)
        guard case .signedIn(var tokens) = response.outcome else { return response }
        tokens.account?.lastLoginAt = 1
        response.outcome = .signedIn(tokens)
        return response
      })
    },
    Fault("makes accounts at the sign-in", breaks: "a wrong password and an unknown address are refused") {
      WrongBackend(signsIn: { world, request, context in
        do {
          return try await world.engine.signInWithPassword(request, context: context)
        } catch AuthServiceError.Code.emailNotFound {
          _ = try await world.signUp(request.email, request.password)
          return try await world.engine.signInWithPassword(request, context: context)
        }
      })
    },
    Fault("looks at the password before the address", breaks: "the checks of a sign-up come in order") {
      WrongBackend(signsUp: { world, request, context in
        if request.email == "ada@example.com", request.password?.count == 1 { throw AuthServiceError(.weakPassword) }
        return try await world.engine.signUp(request, context: context)
      })
    },
    Fault("misses the password before the address", breaks: "the checks of a sign-in come in order") {
      WrongBackend(signsIn: { world, request, context in
        guard !request.password.isEmpty else { throw AuthServiceError(.missingPassword) }
        return try await world.engine.signInWithPassword(request, context: context)
      })
    },
    Fault("lets everybody have the address", breaks: "of 16 sign-ups at once with one address one wins") {
      WrongBackend(signsUp: { world, request, context in
        do {
          return try await world.engine.signUp(request, context: context)
        } catch AuthServiceError.Code.emailExists where request.idToken == nil && request.password != "x" {
          return try await world.engine.signUp(SignUpRequest(), context: context)
        }
      })
    },
    Fault("makes a new account instead", breaks: "an anonymous account keeps its id when it gets a password") {
      WrongBackend(signsUp: { world, request, context in
        var request = request
        // Tokens that are not valid are refused, as they should be.
        if request.idToken?.hasSuffix(".") == false { request.idToken = nil }
        return try await world.engine.signUp(request, context: context)
      })
    },
    Fault("takes a similar address", breaks: "an upgrade to a taken address is refused and changes nothing") {
      WrongBackend(signsUp: { world, request, context in
        do {
          return try await world.engine.signUp(request, context: context)
        } catch AuthServiceError.Code.emailExists where request.idToken != nil {
          var request = request
          request.email = "second." + (request.email ?? "")
          return try await world.engine.signUp(request, context: context)
        }
      })
    },
    Fault("clears nothing", breaks: "a profile can be changed and cleared") {
      WrongBackend(updates: { world, request, context in
        var request = request
        request.deleteAttributes = []
        return try await world.engine.update(request, context: context)
      })
    },
    Fault("updates nobody", breaks: "an update that names no account is refused") {
      WrongBackend(updates: { world, request, context in
        guard request.idToken != nil || request.oobCode != nil else { return UpdateResponse(localID: "nobody") }
        return try await world.engine.update(request, context: context)
      })
    },
    Fault("keeps what is deleted", breaks: "a deleted account is gone, and its address is free") {
      WrongBackend(deletes: { world, request, context in
        _ = try await world.engine.lookup(LookupRequest(idToken: request.idToken), context: context)
      })
    },
  ]

  // MARK: Sessions

  static let sessions: [Fault] = [
    Fault(
      "has a third token without content", breaks: "a refresh token gives ID tokens of its account, time after time"
    ) {
      let count = Locked(0)
      return WrongBackend(refreshes: { world, request, context in
        var response = try await world.engine.refresh(request, context: context)
        if count.withLock({
          $0 += 1; return $0
        }) == 3 {
          response.tokens.idToken = "a.b.c"
        }
        return response
      })
    },
    Fault(
      "deletes by an unsigned token", breaks: "an unsigned ID token is refused in every call that changes something"
    ) {
      WrongBackend(deletes: { world, request, context in
        guard request.idToken.hasSuffix("."), let token = try? JWT(unverified: request.idToken) else {
          return try await world.engine.delete(request, context: context)
        }
        let localID = token.claims["sub"]?.string ?? ""
        try await world.engine.administration.deleteUser(localID: localID, context: .owner)
      })
    },
    Fault("takes any credential", breaks: "a credential that cannot be verified is refused in every call") {
      WrongBackend(refreshes: { world, request, context in
        var context = context
        context.caller = .nobody
        return try await world.engine.refresh(request, context: context)
      })
    },
    Fault("does not miss a token", breaks: "a refresh token that is missing or not known is refused") {
      WrongBackend(refreshes: { world, request, context in
        guard !request.refreshToken.isEmpty else { throw AuthServiceError(.invalidRefreshToken) }
        return try await world.engine.refresh(request, context: context)
      })
    },
    Fault("believes unsigned tokens", breaks: "an ID token that is missing, malformed or forged is refused") {
      let last = Locked("")
      return WrongBackend(
        signsUp: { world, request, context in
          let made = try await world.engine.signUp(request, context: context)
          last.withLock { $0 = made.tokens.idToken }
          return made
        },
        looksUp: { world, request, context in
          let isUnsigned = request.idToken.hasSuffix(".")
          let token = isUnsigned ? last.withLock { $0 } : request.idToken
          return try await world.engine.lookup(LookupRequest(idToken: token), context: context)
        })
    },
    Fault("knows no tenants", breaks: "an ID token of another tenant is refused") {
      WrongBackend(looksUp: { world, request, context in
        var context = context
        context.tenantID = nil
        return try await world.engine.lookup(request, context: context)
      })
    },
    Fault(
      "leaves the other sessions after a change",
      breaks: "a changed password replaces the old one and ends the other sessions"
    ) {
      let hasChanged = Locked(false)
      return WrongBackend(
        updates: { world, request, context in
          let response = try await world.engine.update(request, context: context)
          if request.password != nil { hasChanged.withLock { $0 = true } }
          return response
        },
        refreshes: { try await refresh($0, $1, $2, evenIfExpired: hasChanged.withLock { $0 }) })
    },
    Fault("tires of refreshes", breaks: "64 refreshes at once all succeed") {
      let count = Locked(0)
      return WrongBackend(refreshes: { world, request, context in
        if count.withLock({
          $0 += 1; return $0
        }) == 40 {
          throw AuthServiceError(.tooManyAttempts)
        }
        return try await world.engine.refresh(request, context: context)
      })
    },
    Fault("certifies a key that is not published", breaks: "every published key has a certificate by its name") {
      WrongBackend(certifies: { _, _, _ in CertificatesResponse(certificates: ["x": "y"], maximumAge: 1) })
    },
    Fault("publishes nothing", breaks: "the published keys are a JSON Web Key Set") {
      WrongBackend(
        publishes: { _, _, _ in PublicKeysResponse(jwks: Array("{}".utf8), maximumAge: 1) },
        certifies: { _, _, _ in CertificatesResponse(certificates: [:], maximumAge: 1) })
    },
  ]

  /// Refreshes; where the session is over and that is not to count, with tokens that look as if it were not.
  private static func refresh(
    _ world: World, _ request: RefreshRequest, _ context: CallContext, evenIfExpired: Bool
  ) async throws -> RefreshResponse {
    do {
      return try await world.engine.refresh(request, context: context)
    } catch AuthServiceError.Code.tokenExpired where evenIfExpired {
      let tokens = AuthTokens(idToken: "stale", refreshToken: request.refreshToken)
      return RefreshResponse(tokens: tokens, userID: "stale", projectID: "demo")
    }
  }

  // MARK: Codes

  static let codes: [Fault] = [
    Fault("takes a code twice", breaks: "a code verifies an address, once") {
      let done = Locked<[String: UpdateResponse]>([:])
      return WrongBackend(updates: { world, request, context in
        if let code = request.oobCode, let response = done.withLock({ $0[code] }) { return response }
        let response = try await world.engine.update(request, context: context)
        if let code = request.oobCode { done.withLock { $0[code] = response } }
        return response
      })
    },
    Fault(
      "leaves the sessions after a reset",
      breaks: "a code can be looked at, resets a password once, and ends all sessions"
    ) {
      let hasReset = Locked(false)
      return WrongBackend(
        resets: { world, request, context in
          let response = try await world.engine.resetPassword(request, context: context)
          if request.newPassword != nil { hasReset.withLock { $0 = true } }
          return response
        },
        refreshes: { try await refresh($0, $1, $2, evenIfExpired: hasReset.withLock { $0 }) })
    },
    Fault("signs in with any code", breaks: "a code for one thing does nothing else") {
      let verifying = Locked<Set<String>>([])
      return WrongBackend(
        signsInByLink: { world, request, context in
          guard verifying.withLock({ $0.contains(request.oobCode) }) else {
            return try await world.engine.signInWithEmailLink(request, context: context)
          }
          return try await somebody(request, world)
        },
        sendsCode: { world, request, context in
          let sent = try await world.engine.sendOobCode(request, context: context)
          if request.requestType == .verifyEmail {
            let code = try world.emailedCode(.verifyEmail)
            verifying.withLock { _ = $0.insert(code) }
          }
          return sent
        })
    },
    Fault("takes a link from anybody", breaks: "an e-mail link signs in once, for its address only") {
      WrongBackend(signsInByLink: { world, request, context in
        do {
          return try await world.engine.signInWithEmailLink(request, context: context)
        } catch AuthServiceError.Code.invalidEmail {
          return try await somebody(request, world)
        }
      })
    },
    Fault("gives in after some tries", breaks: "a code that 16 present at once works once") {
      let tries = Locked(0)
      return WrongBackend(signsInByLink: { world, request, context in
        let number = tries.withLock {
          $0 += 1
          return $0
        }
        do {
          return try await world.engine.signInWithEmailLink(request, context: context)
        } catch AuthServiceError.Code.invalidOobCode where number > 4 {
          return try await somebody(request, world)
        }
      })
    },
    Fault("names the wrong thing", breaks: "asking for a code names what is missing") {
      WrongBackend(sendsCode: { world, request, context in
        let lacksNew = request.requestType == .verifyAndChangeEmail && request.newEmail == nil
        if lacksNew { throw AuthServiceError(.missingEmail) }
        return try await world.engine.sendOobCode(request, context: context)
      })
    },
    Fault("takes a text twice", breaks: "a phone's code signs in once") {
      let done = Locked<[PhoneProof: PhoneSignInResponse]>([:])
      return WrongBackend(signsInByPhone: { world, request, context in
        if let response = done.withLock({ $0[request.proof] }) { return response }
        let response = try await world.engine.signInWithPhoneNumber(request, context: context)
        done.withLock { $0[request.proof] = response }
        return response
      })
    },
    Fault(
      "forgets its proofs",
      breaks: "a number that another account has is not linked, and its proof signs in to that account"
    ) {
      WrongBackend(signsInByPhone: { world, request, context in
        if case .temporaryProof = request.proof { throw AuthServiceError(.invalidTemporaryProof) }
        return try await world.engine.signInWithPhoneNumber(request, context: context)
      })
    },
    Fault("guesses the country", breaks: "a phone number has to be in the international form") {
      WrongBackend(sendsText: { world, request, context in
        var request = request
        if request.phoneNumber.first == "5" { request.phoneNumber = "+1" + request.phoneNumber }
        return try await world.engine.sendVerificationCode(request, context: context)
      })
    },
    Fault("makes up a session", breaks: "asking for a way to sign in checks the address first") {
      WrongBackend(createsURI: { world, request, context in
        var response = try await world.engine.createAuthURI(request, context: context)
        response.sessionID = "another"
        return response
      })
    },
  ]

  /// A sign-in by link that should not have been.
  private static func somebody(
    _ request: EmailLinkSignInRequest, _ world: World
  ) async throws -> EmailLinkSignInResponse {
    let made = try await world.engine.signUp(SignUpRequest(), context: world.context)
    return EmailLinkSignInResponse(
      localID: made.localID, email: request.email, isNewUser: true, outcome: .signedIn(made.tokens))
  }
}
