public import VestaAuthBackend
import VestaBytes
import VestaServiceInterop
public import VestaTesting

/// A service whose accounts are exported, and another one that imports them; both without accounts.
public struct AccountExportSubject: Sendable {
  /// The calls of clients on the exporting service.
  public var source: any AuthBackend
  /// Exports a page of accounts.
  public var export: @Sendable (BatchGetRequest) async throws -> BatchGetResponse
  /// How the exporting project hashes passwords.
  public var hashing: @Sendable () async throws -> ImportHash
  /// Imports accounts into the exporting service itself.
  public var importBack: @Sendable (BatchCreateRequest) async throws -> BatchCreateResponse
  /// The calls of clients on the importing service.
  public var target: any AuthBackend
  /// Imports accounts into the other service.
  public var importElsewhere: @Sendable (BatchCreateRequest) async throws -> BatchCreateResponse

  /// Two services.
  public init(
    from source: any AuthBackend, _ administration: any AuthAdminBackend, to target: any AuthBackend,
    _ targetAdministration: any AuthAdminBackend
  ) {
    (self.source, self.target) = (source, target)
    export = { try await administration.batchGet($0, context: .owner) }
    hashing = { try await administration.passwordHashing(context: .owner) }
    importBack = { try await administration.batchCreate($0, context: .owner) }
    importElsewhere = { try await targetAdministration.batchCreate($0, context: .owner) }
  }
}

/// The promises of exports and imports of accounts as checks.
public enum AccountExportContracts {
  /// All promises; each wants a fresh subject.
  public static let all: [Contract<AccountExportSubject>] = [
    Contract("an export in parts is imported elsewhere, and the password signs in") { subject in
      try await signUp(subject)
      let user = try expectValue(try await subject.export(BatchGetRequest()).users.first, "an account")
      try await importAndSignIn(user, try await subject.hashing(), subject)
    },
    Contract("an export as text is imported elsewhere, and the password signs in") { subject in
      try await signUp(subject)
      let user = try expectValue(try await subject.export(BatchGetRequest(hashForm: .text)).users.first, "an account")
      try await importAndSignIn(user, .text, subject)
    },
    Contract("an export in parts has no hash that was made in another way") { subject in
      // Of Firebase's own algorithm, which needs a signer key.
      let old = ImportHash.scrypt(signerKey: [1, 2, 3], saltSeparator: [4], rounds: 8, memoryCost: 8)
      let imported = ImportedUser(
        localID: "old", email: "old@example.com", passwordHash: [UInt8](repeating: 5, count: 64), salt: [6, 7, 8])
      let errors = try await subject.importBack(BatchCreateRequest(users: [imported], hash: old)).errors
      try expect(errors.isEmpty, "the import was refused: \(errors)")
      let user = try expectValue(try await subject.export(BatchGetRequest()).users.first, "an account")
      try expect(user.localID, equals: "old", "the account")
      // A service may write a word in place of the hash, as it does where hashes are not shown.
      try expect(user.salt == nil, "the salt of another algorithm is exported")
      let text = try expectValue(try await subject.export(BatchGetRequest(hashForm: .text)).users.first, "an account")
      try expect(text.passwordHash != nil, "the text of the hash is not exported")
    },
    Contract("an imported account keeps its times and its first address") { subject in
      var user = ImportedUser(localID: "ada", email: "new@example.com")
      (user.initialEmail, user.emailLinkSignIn, user.customAuth) = ("first@example.com", true, true)
      (user.lastRefreshAt, user.lastLoginAt, user.createdAt) = (1_700_000_003_000, 1_700_000_002_000, 1_700_000_001_000)
      let errors = try await subject.importElsewhere(BatchCreateRequest(users: [user])).errors
      try expect(errors.isEmpty, "the import was refused: \(errors)")
      try expect(
        try await subject.importBack(BatchCreateRequest(users: [user])).errors.isEmpty, "the import was refused")
      let found = try expectValue(try await subject.export(BatchGetRequest()).users.first, "an account")
      try expect(found.initialEmail, equals: user.initialEmail, "the first address")
      try expect(found.emailLinkSignIn && found.customAuth, "the ways to sign in are not kept")
      try expect(found.lastRefreshAt, equals: user.lastRefreshAt, "the time of the last refresh")
      try expect(found.lastLoginAt, equals: user.lastLoginAt, "the time of the last sign-in")
      try expect(found.createdAt, equals: 1_700_000_001_000, "the time of the creation")
    },
  ]

  private static let (email, password) = ("ada@example.com", "correct horse")

  private static func signUp(_ subject: AccountExportSubject) async throws {
    _ = try await subject.source.signUp(SignUpRequest(email: email, password: password), context: CallContext())
  }

  private static func importAndSignIn(
    _ user: AuthUser, _ hash: ImportHash, _ subject: AccountExportSubject
  ) async throws {
    let imported = ImportedUser(
      localID: user.localID, email: user.email,
      passwordHash: try Base64.standard.decode(try expectValue(user.passwordHash, "a hash")),
      salt: hash == .text ? [] : try Base64.standard.decode(try expectValue(user.salt, "a salt")))
    let errors = try await subject.importElsewhere(BatchCreateRequest(users: [imported], hash: hash)).errors
    try expect(errors.isEmpty, "the import was refused: \(errors)")
    let request = PasswordSignInRequest(email: email, password: password)
    let signedIn = try await subject.target.signInWithPassword(request, context: CallContext())
    try expect(signedIn.localID, equals: user.localID, "the account that signed in")
    try await expectRefusal(.invalidPassword, .invalidLoginCredentials, of: "another password") {
      let request = PasswordSignInRequest(email: email, password: "another horse")
      return try await subject.target.signInWithPassword(request, context: CallContext())
    }
  }
}
