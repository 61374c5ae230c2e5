import VestaAuthInterop
import VestaConcurrency
import VestaTesting

extension AuthInteropContracts {
  static let threads: [Contract<AuthInteropSubject>] = [
    Contract("64 tasks that ask at once get one and the same token") { subject in
      try await subject.signIn("ada")
      let tokens = try await subject.tokens(forcingRefresh: false)
      let now = try await subject.token()
      try expect(tokens, equals: [now], "the tokens")
    },
    Contract("64 tasks that force a refresh at once all get a new token") { subject in
      try await subject.signIn("ada")
      let old = try await subject.token()
      let tokens = try await subject.tokens(forcingRefresh: true)
      try expect(!tokens.contains(old), "a forced refresh gave the old token")
      try expect(tokens.contains(try await subject.token()), "the current token is none of those that were given")
    },
    Contract("a cancelled caller leaves at once with CancellationError") { subject in
      try await subject.signIn("ada")
      try await subject.setRefreshesHeld(true)
      let cancelled = Task { try await subject.auth.getToken(forcingRefresh: true) }
      cancelled.cancel()
      try await expectThrows(CancellationError.self, "the cancelled call") {
        try await expectEnd(within: subject.patience, of: "the cancelled call") { try await cancelled.value }
      }
      try await subject.setRefreshesHeld(false)
    },
    Contract("a cancelled caller does not disturb the others") { subject in
      try await subject.signIn("ada")
      let old = try await subject.token()
      try await subject.setRefreshesHeld(true)
      let calls = (1...8).map { _ in Task { try await subject.auth.getToken(forcingRefresh: true) } }
      await leave(calls.dropLast(), patience: subject.patience)
      try await subject.setRefreshesHeld(false)
      let token = try await expectEnd(within: subject.patience, of: "the other call") { try await calls[7].value }
      try expect(token != nil && token != old, "the other caller got no new token")
    },
  ]

  static let listeners: [Contract<AuthInteropSubject>] = ListenerContracts.all(greets: true) { subject in
    ListenerSubject(
      patience: subject.patience,
      add: { subject.auth.addTokenListener($0) },
      greeting: { try await subject.currentState() },
      callBack: { _ = subject.auth.getUserID() },
      change: { number in
        try await subject.signIn("user-\(number)")
        return try await subject.currentState()
      }
    )
  }
}

extension AuthInteropSubject {
  /// The token, which must be there.
  func token(forcingRefresh: Bool = false) async throws -> String {
    try expectValue(try await auth.getToken(forcingRefresh: forcingRefresh), "the token of a signed-in user")
  }

  /// The answers to 64 tasks that ask at once.
  func tokens(forcingRefresh: Bool) async throws -> Set<String> {
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 1...64 {
        group.addTask { try await token(forcingRefresh: forcingRefresh) }
      }
      return try await group.reduce(into: []) { $0.insert($1) }
    }
  }

  func currentState() async throws -> AuthTokenChange {
    guard let userID = auth.getUserID(), let token = try await auth.getToken(forcingRefresh: false) else {
      return .signedOut
    }
    return AuthTokenChange(userID: userID, token: token)
  }

  // Compares tokens by hand, because a message must not show them.
  func expectState(userID: String?, token: String?, file: String = #fileID, line: Int = #line) async throws {
    try expect(auth.getUserID(), equals: userID, "the user id", file: file, line: line)
    let found = try await auth.getToken(forcingRefresh: false)
    try expect(found == token, "the token is another one than expected", file: file, line: line)
  }

  func listen() -> EventLog<AuthTokenChange> {
    let log = EventLog<AuthTokenChange>(patience: patience)
    log.keep(auth.addTokenListener { log.record($0) })
    return log
  }
}
