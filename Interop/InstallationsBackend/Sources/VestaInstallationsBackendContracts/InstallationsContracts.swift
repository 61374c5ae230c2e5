public import VestaInstallationsBackend
import VestaServiceInterop
public import VestaTesting

/// A service of installations that is held to its contract.
public struct InstallationsSubject: Sendable {
  /// The service.
  public let backend: any InstallationsBackend

  /// The same service as the other services of its server see it.
  public let verifier: any InstallationsVerifier

  /// Lets a time pass by the service's clock.
  public let advance: @Sendable (Duration) async -> Void

  /// A service.
  public init(
    _ service: any InstallationsBackend & InstallationsVerifier, advance: @escaping @Sendable (Duration) async -> Void
  ) {
    self.init(backend: service, verifier: service, advance: advance)
  }

  /// The two sides of one service.
  public init(
    backend: any InstallationsBackend, verifier: any InstallationsVerifier,
    advance: @escaping @Sendable (Duration) async -> Void
  ) {
    self.backend = backend
    self.verifier = verifier
    self.advance = advance
  }

  fileprivate func create(_ id: String? = nil) async throws -> CreatedInstallation {
    try await backend.create(CreateInstallationRequest(id: id, appID: "1:2:web:3"), context: CallContext())
  }

  fileprivate func code(of call: () async throws -> Void) async throws -> ServiceCode? {
    do {
      try await call()
      return nil
    } catch let error as InstallationsServiceError {
      return error.code
    }
  }
}

/// The promises of `InstallationsBackend`, for any implementation.
public enum InstallationsContracts {
  /// All of them.
  public static let all: [Contract<InstallationsSubject>] = [
    Contract("a well-formed id is kept, and any other one is replaced") { subject in
      try expect(try await subject.create(id).id, equals: id, "the id")
      for wrong in [nil, "", "short", "Z" + id.dropFirst(), id + "A", "c/dddddddddddddddddddd"] {
        let made = try await subject.create(wrong)
        try expect(InstallationID.isValid(made.id) && made.id != wrong, "\(made.id) was made for \(wrong ?? "nothing")")
      }
    },
    Contract("an id belongs to whoever created it first") { subject in
      let (first, second) = (try await subject.create(id), try await subject.create(id))
      try expect(second.id != first.id, "two installations have one id")
      let verified = try await subject.verifier.verify(token: second.token.text, context: CallContext())
      try expect(verified.id, equals: second.id, "the installation of the second token")
    },
    Contract("tokens name their installation and its app") { subject in
      let made = try await subject.create()
      let token = try await subject.backend.generateToken(
        id: made.id, refreshToken: made.refreshToken, context: CallContext())
      for text in [made.token.text, token.text] {
        let verified = try await subject.verifier.verify(token: text, context: CallContext())
        try expect(verified, equals: VerifiedInstallation(id: made.id, appID: "1:2:web:3"), "the installation")
      }
      try expect(token.lifetime > .zero, "a token has a lifetime")
    },
    Contract("another one's secret makes and deletes nothing") { subject in
      let (ada, bob) = (try await subject.create(), try await subject.create())
      for secret in [bob.refreshToken, "", ada.refreshToken + "x", ada.token.text] {
        let made = try await subject.code {
          _ = try await subject.backend.generateToken(id: ada.id, refreshToken: secret, context: CallContext())
        }
        let deleted = try await subject.code {
          try await subject.backend.delete(id: ada.id, refreshToken: secret, context: CallContext())
        }
        try expect(made, equals: .unauthenticated, "the code of a token")
        try expect(deleted, equals: .unauthenticated, "the code of a deletion")
      }
      _ = try await subject.verifier.verify(token: ada.token.text, context: CallContext())
    },
    Contract("a deleted installation is gone, and its tokens with it") { subject in
      let made = try await subject.create()
      for _ in 0..<2 {
        try await subject.backend.delete(id: made.id, refreshToken: made.refreshToken, context: CallContext())
      }
      let verified = try await subject.code {
        _ = try await subject.verifier.verify(token: made.token.text, context: CallContext())
      }
      try expect(verified, equals: .unauthenticated, "the code of its token")
      let generated = try await subject.code {
        _ = try await subject.backend.generateToken(
          id: made.id, refreshToken: made.refreshToken, context: CallContext())
      }
      try expect(generated, equals: .notFound, "the code of a new token")
    },
    Contract("a token ends with its lifetime, and another one is made") { subject in
      let made = try await subject.create()
      await subject.advance(made.token.lifetime)
      let late = try await subject.code {
        _ = try await subject.verifier.verify(token: made.token.text, context: CallContext())
      }
      try expect(late, equals: .unauthenticated, "the code of a token that has ended")
      let token = try await subject.backend.generateToken(
        id: made.id, refreshToken: made.refreshToken, context: CallContext())
      _ = try await subject.verifier.verify(token: token.text, context: CallContext())
    },
    Contract("what is no token is refused") { subject in
      let made = try await subject.create()
      for text in ["", "x", made.id, made.refreshToken, made.token.text + "x", "\(made.token.text.dropLast())"] {
        let code = try await subject.code {
          _ = try await subject.verifier.verify(token: text, context: CallContext())
        }
        try expect(code, equals: .unauthenticated, "the code of \"\(text)\"")
      }
    },
    Contract("a credential that cannot be verified is refused in every call") { subject in
      let made = try await subject.create()
      let forged = CallContext(caller: .credential(.idToken("a.b.c")))
      let calls: [@Sendable () async throws -> Void] = [
        { _ = try await subject.backend.create(CreateInstallationRequest(appID: "a"), context: forged) },
        {
          _ = try await subject.backend.generateToken(
            id: made.id, refreshToken: made.refreshToken, context: forged)
        },
        { _ = try await subject.verifier.verify(token: made.token.text, context: forged) },
        { try await subject.backend.delete(id: made.id, refreshToken: made.refreshToken, context: forged) },
      ]
      for (index, call) in calls.enumerated() {
        try expect(try await subject.code { try await call() }, equals: .unauthenticated, "the code of call \(index)")
      }
    },
  ]

  private static let id = "cABCDEFGHIJKLMNOPQRST0"
}
