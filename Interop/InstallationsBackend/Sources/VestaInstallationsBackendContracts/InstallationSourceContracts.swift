public import VestaInstallationsBackend
import VestaServiceInterop
public import VestaTesting

/// An installation that is held to its contract, and the service that it belongs to.
public struct InstallationSourceSubject: Sendable {
  /// The installation.
  public let source: any InstallationSource

  /// Returns the id of the installation that a token belongs to.
  public let idOfToken: @Sendable (String) async throws -> String

  /// Switches the service off, or on again; a pause that the source makes after a failure is over when this returns.
  public let setService: @Sendable (_ isOn: Bool) async -> Void

  /// An installation.
  ///
  /// - Parameters:
  ///   - source: The installation.
  ///   - idOfToken: Returns the id of the installation that a token belongs to.
  ///   - setService: Switches the service off, or on again.
  public init(
    _ source: any InstallationSource, idOfToken: @escaping @Sendable (String) async throws -> String,
    setService: @escaping @Sendable (_ isOn: Bool) async -> Void
  ) {
    self.source = source
    self.idOfToken = idOfToken
    self.setService = setService
  }
}

/// The promises of `InstallationSource`, for any implementation.
public enum InstallationSourceContracts {
  /// All of them.
  public static let all: [Contract<InstallationSourceSubject>] = [
    Contract("a credential stays the same while no service refuses it") { subject in
      let first = try await subject.source.credential()
      try expect(try await subject.source.credential(), equals: first, "the second credential")
      try expect(!first.id.isEmpty && !first.token.isEmpty, "the credential has no id or no token")
    },
    Contract("a token is that of the id that is returned with it") { subject in
      for _ in 0..<2 {
        let credential = try await subject.source.credential()
        try expect(try await subject.idOfToken(credential.token), equals: credential.id, "the id of the token")
        subject.source.tokenWasRefused(credential.token)
      }
    },
    Contract("after a refusal the same installation has another token") { subject in
      let first = try await subject.source.credential()
      subject.source.tokenWasRefused(first.token)
      let second = try await subject.source.credential()
      try expect(second.token != first.token, "the refused token is returned again")
      try expect(second.id, equals: first.id, "the id")
      try expect(try await subject.source.credential(), equals: second, "the credential afterwards")
    },
    Contract("a late refusal of a token that was replaced changes nothing") { subject in
      let first = try await subject.source.credential()
      subject.source.tokenWasRefused(first.token)
      let second = try await subject.source.credential()
      for token in [first.token, "another one's", ""] { subject.source.tokenWasRefused(token) }
      try expect(try await subject.source.credential(), equals: second, "the credential")
    },
    Contract("concurrent callers get one credential") { subject in
      for _ in 0..<2 {
        let credentials = try await withThrowingTaskGroup(of: InstallationCredential.self) { group in
          for _ in 0..<16 { group.addTask { try await subject.source.credential() } }
          return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        try expect(credentials.count, equals: 1, "the number of credentials")
        if let credential = credentials.first { subject.source.tokenWasRefused(credential.token) }
      }
    },
    Contract("without its service a source fails, and it has a credential when the service is back") { subject in
      let first = try await subject.source.credential()
      subject.source.tokenWasRefused(first.token)
      await subject.setService(false)
      _ = try await expectThrows(InstallationsServiceError.self, "a credential without a service") {
        try await subject.source.credential()
      }
      await subject.setService(true)
      let second = try await subject.source.credential()
      try expect(second.id == first.id && second.token != first.token, "\(second) followed \(first)")
    },
  ]
}
