public import VestaAppCheckBackend
import VestaBytes
import VestaServiceInterop
public import VestaTesting

/// A service that is held to its contract, without secrets at first.
public struct AppCheckSubject: Sendable {
  /// The service.
  public let backend: any AppCheckBackend

  /// Lets a time pass by the service's clock.
  public let advance: @Sendable (Duration) async -> Void

  /// A service.
  public init(_ backend: any AppCheckBackend, advance: @escaping @Sendable (Duration) async -> Void) {
    self.backend = backend
    self.advance = advance
  }

  fileprivate func token(_ app: String = AppCheckContracts.app) async throws -> AppCheckToken {
    try await backend.addDebugSecret(AppCheckContracts.secret, appID: app, context: .owner)
    return try await backend.exchange(.debug(AppCheckContracts.secret), appID: app, context: CallContext())
  }

  fileprivate func verify(_ token: String, consumes: Bool = false) async throws -> VerifiedAppCheckToken {
    try await backend.verify(token: token, consumes: consumes, context: CallContext())
  }

  fileprivate func code(of call: () async throws -> Void) async throws -> ServiceCode? {
    do {
      try await call()
      return nil
    } catch let error as AppCheckServiceError {
      return error.code
    }
  }
}

/// The promises of `AppCheckBackend`, for any implementation.
public enum AppCheckContracts {
  /// All of them.
  public static let all: [Contract<AppCheckSubject>] = [
    Contract("a token names its app and is one of many") { subject in
      let (one, two) = (try await subject.token(), try await subject.token())
      let (first, second) = (try await subject.verify(one.text), try await subject.verify(two.text))
      try expect(first.appID, equals: app, "the app")
      try expect(first.tokenID != second.tokenID && !first.tokenID.isEmpty, "tokens have ids of their own")
    },
    Contract("a secret counts for its app alone, and until it is removed") { subject in
      _ = try await subject.token()
      for (proof, appID) in [(AppCheckProof.debug(secret), "1:2:web:other"), (.debug(other), app), (.custom("x"), app)]
      {
        let refused = try await subject.code {
          _ = try await subject.backend.exchange(proof, appID: appID, context: CallContext())
        }
        try expect(refused, equals: .permissionDenied, "the code for \(proof) of \(appID)")
      }
      for _ in 0..<2 { try await subject.backend.removeDebugSecret(secret, appID: app, context: .owner) }
      let removed = try await subject.code {
        _ = try await subject.backend.exchange(.debug(secret), appID: app, context: CallContext())
      }
      try expect(removed, equals: .permissionDenied, "the code for a removed secret")
    },
    Contract("the owner alone makes and removes secrets") { subject in
      _ = try await subject.token()
      let made = try await subject.code {
        try await subject.backend.addDebugSecret(other, appID: app, context: CallContext())
      }
      try expect(made, equals: .permissionDenied, "the code for making one")
      let removed = try await subject.code {
        try await subject.backend.removeDebugSecret(secret, appID: app, context: CallContext())
      }
      try expect(removed, equals: .permissionDenied, "the code for removing one")
      _ = try await subject.backend.exchange(.debug(secret), appID: app, context: CallContext())
    },
    Contract("a token ends with its time") { subject in
      let token = try await subject.token()
      await subject.advance(token.lifetime)
      let late = try await subject.code { _ = try await subject.verify(token.text) }
      try expect(late, equals: .unauthenticated, "the code of a token that has ended")
    },
    Contract("a token is consumed once") { subject in
      let token = try await subject.token()
      try expect(try await subject.verify(token.text).isAlreadyConsumed, equals: false, "before")
      try expect(
        try await subject.verify(token.text, consumes: true).isAlreadyConsumed, equals: false, "the first time")
      for _ in 0..<2 {
        try expect(try await subject.verify(token.text, consumes: true).isAlreadyConsumed, equals: true, "later")
      }
    },
    Contract("what is no token is refused, and consumes nothing") { subject in
      let token = try await subject.token()
      let parts = token.text.split(separator: ".", omittingEmptySubsequences: false)
      for text in [
        "", "x", "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==", parts.dropLast().joined(separator: ".") + ".", secret,
      ] {
        let code = try await subject.code { _ = try await subject.verify(text, consumes: true) }
        try expect(code, equals: .unauthenticated, "the code of \"\(text)\"")
      }
      try expect(try await subject.verify(token.text, consumes: true).isAlreadyConsumed, equals: false, "the token")
    },
    Contract("the keys are public and have ids") { subject in
      _ = try await subject.token()
      let keys = try await subject.backend.keys(context: CallContext())["keys"]?.array ?? []
      try expect(!keys.isEmpty, "there is a key")
      for key in keys.compactMap(\.object) {
        try expect(key["kid"]?.string?.isEmpty == false && key["alg"] == "RS256", "a key has an id and its algorithm")
        try expect(key["n"] != nil && key["e"] != nil && key["d"] == nil && key["p"] == nil, "a key is public")
      }
    },
    Contract("a credential that cannot be verified is refused in every call") { subject in
      let token = try await subject.token()
      let forged = CallContext(caller: .credential(.idToken("a.b.c")))
      let calls: [@Sendable () async throws -> Void] = [
        { _ = try await subject.backend.exchange(.debug(secret), appID: app, context: forged) },
        { _ = try await subject.backend.keys(context: forged) },
        { _ = try await subject.backend.verify(token: token.text, consumes: false, context: forged) },
        { try await subject.backend.addDebugSecret(other, appID: app, context: forged) },
        { try await subject.backend.removeDebugSecret(secret, appID: app, context: forged) },
      ]
      for (index, call) in calls.enumerated() {
        try expect(try await subject.code { try await call() }, equals: .unauthenticated, "the code of call \(index)")
      }
    },
  ]

  static let app = "1:2:web:3"
  static let secret = "11111111-2222-4333-8444-555555555555"
  static let other = "11111111-2222-4333-8444-666666666666"
}
