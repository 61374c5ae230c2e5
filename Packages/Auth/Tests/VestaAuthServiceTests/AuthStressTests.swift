import Testing
import VestaAuthBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaTesting

@testable import VestaAuthService

@Suite struct AuthStressTests {
  @Test func `of 64 sign-ups with one address one wins`() async throws {
    let world = World()
    let results = await atOnce(64) { _ in try await world.signUp() }
    let winners = results.compactMap(\.value)
    #expect(winners.count == 1)
    #expect(try await world.signIn().localID == winners.first?.localID)
    let users = try await world.contents().count { $0.key.first == Keys.Table.user.rawValue }
    #expect(users == 1)
  }

  @Test func `a thousand refreshes at once all succeed`() async throws {
    let world = World()
    let tokens = try await world.signUp().tokens
    world.pass(seconds: 3600)
    let results = await atOnce(1000) { _ in try await world.refresh(tokens) }
    #expect(results.count { $0.value != nil } == 1000)
  }

  @Test func `a code that 32 callers present at once works once`() async throws {
    let world = World()
    try await world.signUp()
    _ = try await world.engine.sendOobCode(
      SendOobCodeRequest(requestType: .passwordReset, email: "ada@example.com"), context: world.context)
    let code = try world.emailedCode(.passwordReset)
    let resets = await atOnce(32) { index in
      let request = ResetPasswordRequest(oobCode: code, newPassword: "new horse \(index)")
      _ = try await world.engine.resetPassword(request, context: world.context)
      return index
    }
    let winners = resets.compactMap(\.value)
    #expect(winners.count == 1)
    try await world.signIn("ada@example.com", "new horse \(winners.first ?? -1)")
    let sent = try await world.engine.sendVerificationCode(
      SendVerificationCodeRequest(phoneNumber: "+15550000001"), context: world.context)
    let digits = try world.textedCode(sent.sessionInfo)
    let signIns = await atOnce(32) { _ in
      let proof = PhoneProof.code(sessionInfo: sent.sessionInfo, code: digits)
      return try await world.engine.signInWithPhoneNumber(PhoneSignInRequest(proof: proof), context: world.context)
    }
    #expect(signIns.count { $0.value != nil } == 1)
  }

  @Test func `a phone number that many link at once belongs to one`() async throws {
    let world = World()
    var attempts: [PhoneSignInRequest] = []
    for index in 0..<16 {
      let tokens = try await world.signUp("user\(index)@example.com").tokens
      let sent = try await world.engine.sendVerificationCode(
        SendVerificationCodeRequest(phoneNumber: "+15550000001"), context: world.context)
      let proof = PhoneProof.code(sessionInfo: sent.sessionInfo, code: try world.textedCode(sent.sessionInfo))
      attempts.append(PhoneSignInRequest(proof: proof, idToken: tokens.idToken))
    }
    let requests = attempts
    let results = await atOnce(16) { index in
      try await world.engine.signInWithPhoneNumber(requests[index], context: world.context)
    }
    let linked = results.count { if case .signedIn? = $0.value { true } else { false } }
    let inUse = results.count { if case .numberInUse? = $0.value { true } else { false } }
    #expect(linked == 1 && inUse == 15)
  }

  @Test func `whatever many do at once the indexes agree with the accounts`() async throws {
    let seed = UInt64.random(in: .min ... .max)
    let world = World { $0.initialConfig.hidesEmails = false }
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<32 {
        group.addTask {
          var random = SplitMix(seed: seed &+ UInt64(task))
          for _ in 0..<20 { await Self.actAtRandom(world, &random) }
        }
      }
    }
    let entries = try await world.contents()
    var expected: Set<[UInt8]> = []
    for entry in entries where entry.key.first == Keys.Table.user.rawValue {
      let user = try RecordCodec.decode(UserRecord.self, from: entry.value)
      for (key, row) in user.indexRows("") {
        expected.insert(key)
        let owner = entries.first { $0.key == key }?.value
        #expect(owner == (row.conflict == nil ? [] : Array(user.localID.utf8)), "seed \(seed)")
      }
    }
    let tables = Set([Keys.Table.email, .phone, .provider, .providerEmail, .initialEmail].map(\.rawValue))
    let present = Set(entries.map(\.key).filter { $0.first.map(tables.contains) ?? false })
    #expect(present == expected, "seed \(seed)")
    #expect(!expected.isEmpty)
  }

  /// One of the calls that move index rows, on one of few accounts; most are refused.
  private static func actAtRandom(_ world: World, _ random: inout SplitMix) async {
    let email = { (number: Int) in "user\(number)@example.com" }
    let (one, other) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<4, using: &random))
    let (id, admin) = ("id\(one)", Int.random(in: 0..<6, using: &random))
    let (engine, context) = (world.engine, world.context)
    switch admin {
    case 0:
      _ = try? await engine.administration.createUser(
        CreateUserRequest(localID: id, email: email(other)), context: .owner)
    case 1: try? await engine.administration.deleteUser(localID: id, context: .owner)
    case 2:
      _ = try? await engine.administration.updateUser(
        AdminUpdateRequest(localID: id, email: email(other)), context: .owner)
    case 3:
      let provider = ProviderUserInfo(providerID: "google.com", rawID: "\(other)", email: email(other))
      _ = try? await engine.administration.updateUser(
        AdminUpdateRequest(localID: id, linkProvider: provider), context: .owner)
    case 4:
      let request = AdminUpdateRequest(localID: id, phoneNumber: "+1555000000\(other)")
      _ = try? await engine.administration.updateUser(request, context: .owner)
    default:
      guard let tokens = try? await world.signUp(email(other)).tokens else { return }
      let request = UpdateRequest(idToken: tokens.idToken, email: email(one), password: "another horse")
      _ = try? await engine.update(request, context: context)
    }
  }
}
