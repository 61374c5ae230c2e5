import VestaAuthInterop
import VestaConcurrency
public import VestaTesting

/// The promises of `AuthInterop` as checks.
///
/// ```swift
/// for outcome in await AuthInteropContracts.all.run(against: { try await makeSubject() }) { print(outcome) }
/// ```
public enum AuthInteropContracts {
  /// All promises, including the listeners'.
  public static let all: [Contract<AuthInteropSubject>] = users + refreshes + threads + listeners

  private static let users: [Contract<AuthInteropSubject>] = [
    Contract("with nobody signed in there is no user, no token and no error") { subject in
      try await subject.expectState(userID: nil, token: nil)
      try expect(try await subject.auth.getToken(forcingRefresh: true), equals: nil, "a refreshed token of nobody")
    },
    Contract("a signed-in user has an id and a token that stays the same") { subject in
      try await subject.signIn("ada")
      let token = try await subject.token()
      try expect(!token.isEmpty, "the token is empty")
      for _ in 1...3 { try await subject.expectState(userID: "ada", token: token) }
    },
    Contract("a sign-out ends user and token and is heard") { subject in
      let log = subject.listen()
      defer { log.cancel() }
      try await subject.signIn("ada")
      let token = try await subject.token()
      try await subject.signOut()
      try await log.wait(for: "the sign-out") {
        $0.suffix(2) == [AuthTokenChange(userID: "ada", token: token), .signedOut]
      }
      try await subject.expectState(userID: nil, token: nil)
    },
    Contract("another user gets another token") { subject in
      try await subject.signIn("ada")
      let first = try await subject.token()
      try await subject.signIn("grace")
      let second = try await subject.token()
      try expect(first != second, "the token of the first user was given to the second")
      try await subject.expectState(userID: "grace", token: second)
    },
  ]

  private static let refreshes: [Contract<AuthInteropSubject>] = [
    Contract("a forced refresh gives a new token, which is kept") { subject in
      try await subject.signIn("ada")
      let old = try await subject.token()
      let new = try await subject.token(forcingRefresh: true)
      try expect(new != old, "a forced refresh gave the old token")
      try await subject.expectState(userID: "ada", token: new)
    },
    Contract("a new token of the same user is heard") { subject in
      try await subject.signIn("ada")
      let log = subject.listen()
      defer { log.cancel() }
      let token = try await subject.token(forcingRefresh: true)
      let event = AuthTokenChange(userID: "ada", token: token)
      try await log.wait(for: "the refreshed token") { $0.last == event }
    },
    Contract("a refresh that fails throws AuthInteropError") { subject in
      try await subject.signIn("ada")
      try await subject.setRefreshesFail(true)
      let error = try await expectThrows(AuthInteropError.self, "a failing refresh") {
        try await subject.auth.getToken(forcingRefresh: true)
      }
      try expect(error.code, equals: .unavailable, "the code")
    },
    Contract("a refresh that fails leaves user and token as they are") { subject in
      try await subject.signIn("ada")
      let token = try await subject.token()
      try await subject.setRefreshesFail(true)
      _ = try? await subject.auth.getToken(forcingRefresh: true)
      try await subject.expectState(userID: "ada", token: token)
    },
    Contract("a failure is not remembered") { subject in
      try await subject.signIn("ada")
      let old = try await subject.token()
      try await subject.setRefreshesFail(true)
      for _ in 1...3 { _ = try? await subject.auth.getToken(forcingRefresh: true) }
      try await subject.setRefreshesFail(false)
      try expect(try await subject.token(forcingRefresh: true) != old, "the token is still the old one")
    },
  ]
}
