public import VestaServiceInterop
public import VestaTesting

/// A verifier of App Check tokens that keeps a record of them, and how to make tokens for it.
public struct AppCheckVerifierSubject: Sendable {
  let verifier: any AppCheckVerifier
  let issue: @Sendable () async throws -> (token: String, appID: String)

  /// A subject.
  ///
  /// - Parameters:
  ///   - verifier: The verifier.
  ///   - issue: Makes a valid token that no call has used, and says which app it names.
  public init(
    _ verifier: any AppCheckVerifier, issue: @escaping @Sendable () async throws -> (token: String, appID: String)
  ) {
    (self.verifier, self.issue) = (verifier, issue)
  }

  fileprivate func expectRefused<Value>(_ what: String, _ call: () async throws -> Value) async throws {
    let status = try await expectThrows(ServiceStatus.self, what, call)
    try expect(status.code, equals: .unauthenticated, "the status of \(what)")
  }
}

/// The promises of `AppCheckVerifier` as checks.
public enum AppCheckVerifierContracts {
  /// All promises; each wants a fresh subject.
  public static let all: [Contract<AppCheckVerifierSubject>] = [
    Contract("a valid token names its app, each time") { subject in
      let (token, appID) = try await subject.issue()
      for _ in 0..<3 {
        let found = try await subject.verifier.verify(appCheckToken: token, project: nil)
        try expect(found.appID, equals: appID, "the app")
      }
    },
    Contract("what is no token is refused, and cannot be consumed") { subject in
      let (token, _) = try await subject.issue()
      for text in ["", "a", "a.b.c", "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==", token + "x"] {
        try await subject.expectRefused("the token \(text.prefix(10))") {
          try await subject.verifier.verify(appCheckToken: text, project: nil)
        }
        try await subject.expectRefused("the consumption of \(text.prefix(10))") {
          try await subject.verifier.consume(appCheckToken: text, project: nil)
        }
      }
    },
    Contract("a token is consumed once, and stays valid") { subject in
      let (one, two) = (try await subject.issue().token, try await subject.issue().token)
      for (token, isConsumed) in [(one, false), (one, true), (two, false), (one, true), (two, true)] {
        let found = try await subject.verifier.consume(appCheckToken: token, project: nil)
        try expect(found, equals: isConsumed, "whether the token was consumed before")
        _ = try await subject.verifier.verify(appCheckToken: token, project: nil)
      }
    },
    Contract("of several calls at the same time one consumes a token first") { subject in
      let (token, _) = try await subject.issue()
      let firsts = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<16 {
          group.addTask { try await !subject.verifier.consume(appCheckToken: token, project: nil) }
        }
        return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      try expect(firsts, equals: 1, "the number of calls that were the first")
    },
  ]
}
