import VestaBytes
public import VestaServiceInterop
public import VestaTesting

/// A verifier that is held to the promises of `CallerVerifier`, and how to make tokens for it.
public struct CallerVerifierSubject: Sendable {
  let verifier: any CallerVerifier
  /// Makes a valid ID token of a user that expires after a time.
  public let issue: @Sendable (_ uid: String, _ lifetime: Duration) async throws -> Credential
  let forge: @Sendable (_ genuine: Credential, _ uid: String) -> Credential
  let advance: @Sendable (Duration) -> Void
  let project: String?

  /// A subject.
  ///
  /// - Parameters:
  ///   - verifier: The verifier.
  ///   - project: The project of its tokens.
  ///   - issue: Makes a valid ID token of a user that expires after a time.
  ///   - forge: Makes a token that names another user and keeps everything else, the signature included.
  ///   - advance: Moves the clock of the verifier.
  public init(
    _ verifier: any CallerVerifier, project: String?,
    issue: @escaping @Sendable (_ uid: String, _ lifetime: Duration) async throws -> Credential,
    forge: @escaping @Sendable (_ genuine: Credential, _ uid: String) -> Credential,
    advance: @escaping @Sendable (Duration) -> Void
  ) {
    self.verifier = verifier
    self.project = project
    self.issue = issue
    self.forge = forge
    self.advance = advance
  }

  fileprivate func uid(_ credential: Credential) async throws -> String {
    let known = try verifier.verifyAtOnce(credential, project: project)
    let caller = try await verifier.verify(credential, project: project).caller
    try expect(known.map { $0.caller == caller } ?? true, "the answer at once is another one")
    guard case .user(let user) = caller else {
      throw ContractViolation("the answer for an ID token is \(caller), and not a user")
    }
    return user.uid
  }

  fileprivate func expectRefused(_ credential: Credential, _ what: String, project: String? = nil) async throws {
    do {
      if let answer = try verifier.verifyAtOnce(credential, project: project ?? self.project) {
        throw ContractViolation("\(what) was accepted at once as \(answer.caller)")
      }
      let answer = try await verifier.verify(credential, project: project ?? self.project)
      throw ContractViolation("\(what) was accepted as \(answer.caller)")
    } catch let status as ServiceStatus {
      try expect(status.code, equals: .unauthenticated, "the status of \(what)")
    }
  }
}

/// The promises of `CallerVerifier` as checks.
public enum CallerVerifierContracts {
  /// All promises.
  public static let all: [Contract<CallerVerifierSubject>] = answers + refusals

  private static let answers: [Contract<CallerVerifierSubject>] = [
    Contract("a valid token is answered with its user, each time") { subject in
      let (ada, grace) = (
        try await subject.issue("ada", .seconds(3600)), try await subject.issue("grace", .seconds(3600))
      )
      for _ in 1...3 {
        try expect(try await subject.uid(ada), equals: "ada", "the user")
        try expect(try await subject.uid(grace), equals: "grace", "the other user")
      }
    },
    Contract("the answer ends with the token") { subject in
      let credential = try await subject.issue("ada", .seconds(3600))
      let answer = try await subject.verifier.verify(credential, project: subject.project)
      guard case .user(let user) = answer.caller, let expiry = user.expiry else {
        throw ContractViolation("the user has no expiry")
      }
      try expect(answer.expiry ?? .min <= expiry, "the answer outlives the token")
    },
    Contract("calls at the same time get the same answer") { subject in
      let credential = try await subject.issue("ada", .seconds(3600))
      let users = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<16 { group.addTask { try await subject.uid(credential) } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      try expect(users, equals: ["ada"], "the users")
    },
  ]

  private static let refusals: [Contract<CallerVerifierSubject>] = [
    Contract("a token is refused from its expiry on, also one that was accepted before") { subject in
      let credential = try await subject.issue("ada", .seconds(3600))
      let unused = try await subject.issue("ada", .seconds(3600))
      _ = try await subject.uid(credential)
      subject.advance(.seconds(3590))
      _ = try await subject.uid(credential)
      subject.advance(.seconds(20))
      try await subject.expectRefused(credential, "an expired token that was accepted before")
      try await subject.expectRefused(unused, "an expired token")
    },
    Contract("a token that names another user than its signature covers is refused") { subject in
      let credential = try await subject.issue("ada", .seconds(3600))
      try await subject.expectRefused(subject.forge(credential, "root"), "a forged token")
      _ = try await subject.uid(credential)
      try await subject.expectRefused(subject.forge(credential, "root"), "a forged token, after the genuine one")
    },
    Contract("what is no token is refused") { subject in
      for text in ["", "a", "a.b.c", "..", "owner", String(repeating: "é", count: 2_000)] {
        try await subject.expectRefused(.idToken(text), "the text \(text.prefix(10))")
      }
      // The same characters as a credential of another kind prove nothing.
      let genuine = try await subject.issue("ada", .seconds(3600))
      _ = try await subject.uid(genuine)
      do {
        let answer = try await subject.verifier.verify(.bearer("no-such-token"), project: subject.project)
        if case .owner = answer.caller { throw ContractViolation("an unknown bearer token is an owner") }
      } catch let status as ServiceStatus {
        try expect(status.code, equals: .unauthenticated, "the status of an unknown bearer token")
      }
    },
    Contract("an unsigned token is refused outside development") { subject in
      let genuine = try await subject.issue("ada", .seconds(3600)).token
      var tokens = try unsigned(project: subject.project ?? "p")
      let parts = genuine.split(separator: ".", omittingEmptySubsequences: false)
      // The claims of a genuine token, without its signature.
      if parts.count == 3 { tokens += ["\(parts[0]).\(parts[1]).", "\(try header("none")).\(parts[1])."] }
      for token in tokens {
        for credential in [Credential.idToken(token), .bearer(token)] {
          try await subject.expectRefused(credential, "an unsigned token")
        }
      }
    },
    Contract("a token of another project is refused") { subject in
      let credential = try await subject.issue("ada", .seconds(3600))
      try await subject.expectRefused(credential, "a token of another project", project: "another-project")
      _ = try await subject.uid(credential)
      try await subject.expectRefused(credential, "a known token of another project", project: "another-project")
    },
  ]

  /// Tokens that say everything that an ID token of a user says, and have no signature or an empty one.
  private static func unsigned(project: String) throws -> [String] {
    let claims: JSONObject = [
      "iss": .string("https://securetoken.google.com/\(project)"), "aud": .string(project), "sub": "ada",
      "user_id": "ada", "iat": 0, "auth_time": 0, "exp": 4_102_444_800,
      "firebase": ["sign_in_provider": "password", "identities": [:]],
    ]
    let payload = Base64.url.encode(try claims.json())
    return try ["none", "NONE", "HS256", "RS256"].flatMap { algorithm in
      let start = "\(try header(algorithm)).\(payload)"
      return ["\(start).", "\(start).AAAA", start]
    }
  }

  private static func header(_ algorithm: String) throws -> String {
    let header: JSONObject = ["alg": .string(algorithm), "typ": "JWT"]
    return Base64.url.encode(try header.json())
  }
}
