import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaBytes
import VestaServiceInterop
import VestaStoreInterop
import VestaTesting

@testable import VestaAuthService

/// Random calls of users, thieves and administrators; after each one the rows of the indexes are those of the accounts.
@Suite struct PasskeyRowsTests {
  private static let emails = ["ada@example.com", "eve@example.com", "bob@example.com"]

  /// Few ids, some of them in two alphabets: accounts get in one another's way.
  private static let ids = ["-_-_", "+/+/", "AAEC", "AAE", "AAE=", "not Base64", "é", "e\u{301}"]

  private struct Run {
    let world: World
    let isDevelopment: Bool
    var random: SplitMix
    var sessions: [AuthTokens] = []
    var refusals = 0
    var done = 0

    mutating func pick<Element>(_ elements: [Element]) -> Element {
      elements[Int.random(in: elements.indices, using: &random)]
    }

    mutating func user() async throws -> UserRecord? {
      let users = try await accounts()
      return users.isEmpty ? nil : pick(users)
    }

    func accounts() async throws -> [UserRecord] {
      try await world.store.read { reader in
        try await reader.entries(in: Keys.users(.project)).map {
          try RecordCodec.decode(UserRecord.self, from: $0.value)
        }
      }
    }

    mutating func enroll() async throws {
      guard !sessions.isEmpty else { return }
      let (tokens, caller) = (pick(sessions), PasskeyCaller(world: world))
      if isDevelopment {
        try await caller.finish(tokens, .init(credentialID: pick(ids)))
      } else {
        var authenticator = VirtualAuthenticator.fake(UInt8.random(in: 1...3, using: &random))
        authenticator.credentialID = [UInt8.random(in: 1...4, using: &random)]
        sessions.append(try await caller.enroll(tokens, authenticator).tokens)
      }
    }

    mutating func signIn() async throws {
      let caller = PasskeyCaller(world: world)
      var assertion = FinalizePasskeySignInRequest.Assertion(credentialID: pick(ids))
      if !isDevelopment {
        var authenticator = VirtualAuthenticator.fake(UInt8.random(in: 1...3, using: &random))
        authenticator.credentialID = [UInt8.random(in: 1...4, using: &random)]
        assertion = try authenticator.assertion(for: try await caller.options())
      }
      if let tokens = try await caller.signIn(assertion).outcome.tokens { sessions.append(tokens) }
    }

    private var passkeyIDs: [String] {
      get async throws { try await accounts().flatMap { $0.passkeys.map(\.credentialID) } + ids }
    }

    mutating func remove(asOwner: Bool) async throws {
      let removed = [pick(try await passkeyIDs), pick(ids)]
      if asOwner, let user = try await user() {
        _ = try await world.engine.administration.updateUser(
          AdminUpdateRequest(localID: user.localID, deletePasskeys: removed), context: .owner)
      } else if !sessions.isEmpty {
        _ = try await world.engine.update(
          UpdateRequest(idToken: pick(sessions).idToken, deletePasskeys: removed), context: world.context)
      }
    }

    mutating func proveMailbox() async throws {
      let email = pick(emails)
      let before = try await accounts().first { $0.email == email }
      switch Int.random(in: 0..<3, using: &random) {
      case 0: if let tokens = try await world.signInByLink(email).outcome.tokens { sessions.append(tokens) }
      case 1:
        guard before != nil else { return }
        try await world.send(.passwordReset, to: email)
        try await world.reset(try world.emailedCode(.passwordReset, to: email), "another horse")
        #expect(try await accounts().first { $0.email == email }?.passkeys.isEmpty == true)
      default:
        guard isDevelopment else { return }
        let claims = #"{"sub":"\#(email)","email":"\#(email)","email_verified":true}"#
        _ = try await world.engine.signInWithIdp(
          IdpSignInRequest(credential: IdpCredential(providerID: "google.com", idToken: claims)),
          context: world.context)
      }
      if let before, !before.emailVerified, let after = try await accounts().first(where: { $0.email == email }),
        after.emailVerified
      {
        #expect(after.passkeys.isEmpty, "the owner of the mailbox keeps the passkey of a stranger")
      }
    }

    mutating func changeAddress() async throws {
      guard !sessions.isEmpty else { return }
      _ = try await world.engine.update(
        UpdateRequest(idToken: pick(sessions).idToken, email: pick(emails)), context: world.context)
    }

    mutating func takeBack() async throws {
      guard let sent = world.sender.recordedEmails.last(where: { $0.requestType == .recoverEmail }) else { return }
      _ = try await world.apply(sent.code)
      guard !isDevelopment else { return }
      #expect(try await accounts().first { $0.email == sent.recipient }?.passkeys.isEmpty == true)
    }

    mutating func administer() async throws {
      let (admin, found) = (world.engine.administration, try await user())
      guard let found else { return }
      switch Int.random(in: 0..<6, using: &random) {
      case 0: try await admin.deleteUser(localID: found.localID, context: .owner)
      case 1:
        _ = try await admin.batchCreate(
          BatchCreateRequest(users: [ImportedUser(localID: found.localID)], allowsOverwrite: true), context: .owner)
        #expect(try await world.record(found.localID).passkeys.isEmpty)
      case 2:
        _ = try await admin.updateUser(
          AdminUpdateRequest(localID: found.localID, disabled: Bool.random(using: &random)), context: .owner)
      case 3:
        try await admin.deleteUser(localID: found.localID, context: .owner)
        _ = try await admin.createUser(
          CreateUserRequest(localID: found.localID, email: pick(emails)), context: .owner)
        #expect(try await world.record(found.localID).passkeys.isEmpty)
      case 4:
        _ = try await admin.updateUser(
          AdminUpdateRequest(localID: found.localID, email: pick(emails), password: "of the owner"), context: .owner)
      default:
        _ = try await admin.batchDelete(
          BatchDeleteRequest(localIDs: [found.localID], force: Bool.random(using: &random)), context: .owner)
      }
    }

    mutating func step() async throws {
      do {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: sessions.append(try await world.signUp(pick(emails)).tokens)
        case 1:
          sessions.append(
            try await world.engine.signUp(SignUpRequest(), context: world.context).tokens)
        case 2: if let tokens = try await world.signIn(pick(emails)).outcome.tokens { sessions.append(tokens) }
        case 3, 4, 5: try await enroll()
        case 6: try await signIn()
        case 7: try await remove(asOwner: Bool.random(using: &random))
        case 8: try await proveMailbox()
        case 9: try await changeAddress()
        case 10: try await takeBack()
        default: try await administer()
        }
        done += 1
      } catch let error as AuthServiceError {
        refusals += 1
        #expect(error.code != .internalError)
      }
      if sessions.count > 12 { sessions.removeFirst(6) }
      world.pass(seconds: 20)
    }

    /// The rows of the indexes as they are, and as the accounts would have them.
    func check() async throws {
      let tables: [Keys.Table] = [.email, .phone, .provider, .providerEmail, .initialEmail, .passkey]
      let first = Set(tables.map(\.rawValue))
      let rows = try await world.contents().filter { $0.key.first.map(first.contains) == true }
      let users = try await accounts()
      var expected: [[UInt8]: [UInt8]] = [:]
      for user in users {
        for (key, row) in user.indexRows(.project) {
          #expect(row.conflict == nil || expected[key] == nil, "two accounts have \(Keys.describe(key))")
          expected[key] = row.conflict == nil ? [] : Array(user.localID.utf8)
        }
      }
      #expect(Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0.value) }) == expected)
      for id in users.flatMap(\.passkeys).map(\.canonicalID) {
        #expect(try await world.store.read { try await $0.user(.project, passkey: id) } != nil)
      }
    }

    private var emails: [String] { PasskeyRowsTests.emails }
    private var ids: [String] { PasskeyRowsTests.ids }
  }

  @Test(arguments: [true, false], [1, 2, 3, 4, 5, 6] as [UInt64])
  func `the rows of the indexes are those of the accounts`(isDevelopment: Bool, seed: UInt64) async throws {
    let world = World { $0.isDevelopment = isDevelopment }
    var run = Run(world: world, isDevelopment: isDevelopment, random: SplitMix(seed: seed))
    for _ in 0..<400 {
      try await run.step()
      try await run.check()
    }
    #expect(run.done > 100, "\(run.refusals) refusals")
  }
}
