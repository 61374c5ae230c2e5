import VestaAppCheckInterop
import VestaTesting

extension AppCheckInteropContracts {
  static let threads: [Contract<AppCheckInteropSubject>] = [
    Contract("64 tasks that ask for the first token at once get one and the same") { subject in
      let tokens = try await subject.atOnce { try await subject.token() }
      try expect(Set(tokens).count, equals: 1, "the number of different tokens")
    },
    Contract("64 tasks that ask for limited-use tokens at once get one each") { subject in
      let tokens = try await subject.atOnce { try await subject.limitedUseToken() }
      try expect(Set(tokens).count, equals: 64, "the number of different tokens")
    },
    Contract("a cancelled caller leaves at once with CancellationError") { subject in
      try await subject.setFetchesHeld(true)
      let cancelled = Task { await subject.appCheck.getToken(forcingRefresh: true) }
      cancelled.cancel()
      let result = try await expectEnd(within: subject.patience, of: "the cancelled call") { await cancelled.value }
      try expect(result.error is CancellationError, "the result's error is no CancellationError: \(result)")
      try await subject.setFetchesHeld(false)
    },
    Contract("a cancelled caller does not disturb the others") { subject in
      try await subject.setFetchesHeld(true)
      let calls = (1...8).map { _ in Task { await subject.appCheck.getToken(forcingRefresh: false) } }
      await leave(calls.dropLast(), patience: subject.patience)
      try await subject.setFetchesHeld(false)
      let result = try await expectEnd(within: subject.patience, of: "the other call") { await calls[7].value }
      try expect(result.error == nil, "the other caller got no token: \(result)")
    },
  ]
}

extension AppCheckInteropSubject {
  /// The token, which must be there.
  func token(forcingRefresh: Bool = false) async throws -> String {
    try real(await appCheck.getToken(forcingRefresh: forcingRefresh))
  }

  func limitedUseToken() async throws -> String { try real(await appCheck.getLimitedUseToken()) }

  func atOnce(_ ask: @escaping @Sendable () async throws -> String) async throws -> [String] {
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 1...64 { group.addTask { try await ask() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  private func real(_ result: AppCheckTokenResultInterop) throws -> String {
    try expect(result.error == nil, "expected a token, found \(result)")
    try expect(!result.token.isEmpty, "the token is empty")
    return result.token
  }
}
