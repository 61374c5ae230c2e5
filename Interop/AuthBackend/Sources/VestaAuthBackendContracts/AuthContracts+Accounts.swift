import VestaAuthBackend
import VestaTesting

extension AuthContracts {
  static let accounts: [Contract<AuthSubject>] = [
    Contract("an anonymous account has an id and a session, and no address") { subject in
      let made = try await subject.backend.signUp(SignUpRequest(), context: subject.context)
      let user = try await subject.user(made.tokens)
      try expect(user.localID, equals: made.localID, "the id")
      try expect(user.email == nil && !user.hasPassword, "an anonymous account has an address or a password")
      try expect(user.providerUserInfo.isEmpty, "an anonymous account has providers")
    },
    Contract("a new account with a password can be looked up with its token") { subject in
      let made = try await subject.signUp("Ada@Example.com")
      let user = try await subject.user(made.tokens)
      try expect(user.localID, equals: made.localID, "the id")
      try expect(user.email, equals: "ada@example.com", "the address, in lower case")
      try expect(user.hasPassword && !user.emailVerified, "there is a password, and the address is not verified")
      try expect(user.providerUserInfo.map(\.providerID), equals: ["password"], "the providers")
    },
    Contract("signing in gives the account that signed up, whatever the case of the address") { subject in
      let made = try await subject.signUp()
      let signedIn = try await subject.signIn("ADA@example.COM")
      try expect(signedIn.localID, equals: made.localID, "the id")
      let tokens = try expectValue(signedIn.outcome.tokens, "tokens")
      try expect(try await subject.user(tokens).localID, equals: made.localID, "the id of the token")
    },
    Contract("an account that comes with tokens is the one that a look-up gives") { subject in
      let anonymous = try await subject.backend.signUp(SignUpRequest(), context: subject.context)
      let made = try await subject.signUp()
      let signedIn = try expectValue(try await subject.signIn().outcome.tokens, "tokens")
      // The last of an account only: signing in changes it.
      for tokens in [anonymous.tokens, signedIn] {
        guard let account = tokens.account else { continue }
        try expect(account == (try await subject.user(tokens)), "the account is not as a look-up describes it")
      }
      guard let account = made.tokens.account else { return }
      try expect(account.localID, equals: made.localID, "the id of the account that came with the tokens")
    },
    Contract("a wrong password and an unknown address are refused") { subject in
      _ = try await subject.signUp()
      try await expectRefusal(.invalidLoginCredentials, .invalidPassword, of: "a wrong password") {
        try await subject.signIn("ada@example.com", "wrong horse")
      }
      try await expectRefusal(.invalidLoginCredentials, .emailNotFound, of: "an unknown address") {
        try await subject.signIn("bob@example.com")
      }
    },
    Contract("the checks of a sign-up come in order") { subject in
      _ = try await subject.signUp()
      try await expectRefusal(.missingEmail, of: "no address") { try await subject.signUp("", "x") }
      try await expectRefusal(.missingPassword, of: "no password") { try await subject.signUp("no address", "") }
      try await expectRefusal(.invalidEmail, of: "no real address") { try await subject.signUp("no address", "x") }
      try await expectRefusal(.emailExists, of: "a taken address") { try await subject.signUp("ada@example.com", "x") }
      try await expectRefusal(.weakPassword, of: "a short password") { try await subject.signUp("b@example.com", "x") }
    },
    Contract("the checks of a sign-in come in order") { subject in
      try await expectRefusal(.missingEmail, of: "no address") { try await subject.signIn("", "") }
      try await expectRefusal(.invalidEmail, of: "no real address") { try await subject.signIn("no address", "") }
      try await expectRefusal(.missingPassword, of: "no password") { try await subject.signIn("a@example.com", "") }
    },
    Contract("of 16 sign-ups at once with one address one wins") { subject in
      let results = await atOnce(16) { try await subject.signUp() }
      let winners = results.compactMap { try? $0.get() }
      try expect(winners.count, equals: 1, "the number of accounts")
      for case .failure(let error) in results {
        try expect((error as? AuthServiceError)?.code == .emailExists, "the others got \(error)")
      }
      try expect(try await subject.signIn().localID, equals: winners[0].localID, "the account that can sign in")
    },
    Contract("an anonymous account keeps its id when it gets a password") { subject in
      let anonymous = try await subject.backend.signUp(SignUpRequest(), context: subject.context)
      let request = SignUpRequest(
        email: "ada@example.com", password: "correct horse", idToken: anonymous.tokens.idToken)
      let upgraded = try await subject.backend.signUp(request, context: subject.context)
      try expect(upgraded.localID, equals: anonymous.localID, "the id")
      try expect(try await subject.signIn().localID, equals: anonymous.localID, "the id after a sign-in")
    },
    Contract("an upgrade to a taken address is refused and changes nothing") { subject in
      _ = try await subject.signUp()
      let anonymous = try await subject.backend.signUp(SignUpRequest(), context: subject.context)
      let request = SignUpRequest(
        email: "ada@example.com", password: "another horse", idToken: anonymous.tokens.idToken)
      try await expectRefusal(.emailExists, of: "the upgrade") {
        try await subject.backend.signUp(request, context: subject.context)
      }
      try expect(try await subject.user(anonymous.tokens).email == nil, "the account has an address")
      _ = try await subject.signIn()
    },
    Contract("a profile can be changed and cleared") { subject in
      let tokens = try await subject.signUp().tokens
      var request = UpdateRequest(idToken: tokens.idToken, displayName: "Ada", photoURL: "https://example.com/ada.png")
      let changed = try await subject.backend.update(request, context: subject.context)
      try expect(changed.displayName, equals: "Ada", "the name in the response")
      let user = try await subject.user(tokens)
      try expect(user.displayName, equals: "Ada", "the name")
      try expect(user.photoURL, equals: "https://example.com/ada.png", "the picture")
      request = UpdateRequest(idToken: tokens.idToken, deleteAttributes: [.displayName, .photoURL])
      _ = try await subject.backend.update(request, context: subject.context)
      let cleared = try await subject.user(tokens)
      try expect(cleared.displayName == nil && cleared.photoURL == nil, "the profile is still there")
    },
    Contract("an update that names no account is refused") { subject in
      try await expectRefusal(.invalidRequestType, of: "an update without token and code") {
        try await subject.backend.update(UpdateRequest(displayName: "Ada"), context: subject.context)
      }
    },
    Contract("a deleted account is gone, and its address is free") { subject in
      let made = try await subject.signUp()
      try await subject.backend.delete(DeleteRequest(idToken: made.tokens.idToken), context: subject.context)
      try await expectRefusal(.userNotFound, .invalidIDToken, of: "its ID token") {
        try await subject.user(made.tokens)
      }
      try await expectRefusal(.userNotFound, .invalidRefreshToken, of: "its refresh token") {
        try await subject.backend.refresh(
          RefreshRequest(refreshToken: made.tokens.refreshToken), context: subject.context)
      }
      let again = try await subject.signUp()
      try expect(again.localID != made.localID, "the new account has the old id")
    },
  ]
}
