import Foundation
import Testing
import VestaAuthBackend
import VestaTesting

@testable import VestaAuth

@Suite struct SessionMachineTests {
  static let start = Date(timeIntervalSince1970: 1_700_000_000)

  static func session(_ uid: String, token: String = "t", name: String? = nil) -> StoredSession {
    let tokens = TokenSet(AuthTokens(idToken: token, refreshToken: "r"), now: start)
    return StoredSession(
      user: SessionUser(AuthUser(localID: uid, displayName: name), wasAnonymous: false), tokens: tokens)
  }

  let ada = session("ada")

  @Test func `a stored session is announced and watched`() {
    var machine = SessionMachine()
    #expect(
      machine.storeWasRead(ada) == [.announceUser, .announceToken, .watch(expiration: ada.tokens.expiration)])
    #expect(machine.session == ada && machine.isRead && machine.pendingWrite == nil)
  }

  @Test func `an empty store announces no user`() {
    var machine = SessionMachine()
    #expect(machine.storeWasRead(nil) == [] && machine.isRead)
  }

  @Test func `a sign-in is kept before it is announced`() {
    var machine = SessionMachine()
    let actions = machine.sessionChanged(to: ada)
    #expect(actions == [.save(ada), .announceUser, .announceToken, .watch(expiration: ada.tokens.expiration)])
  }

  @Test func `a new token is no new user`() {
    var machine = SessionMachine()
    _ = machine.sessionChanged(to: ada)
    let new = Self.session("ada", token: "t2")
    #expect(
      machine.sessionChanged(to: new) == [.save(new), .announceToken, .watch(expiration: new.tokens.expiration)])
  }

  @Test func `a new profile is kept and not announced`() {
    var machine = SessionMachine()
    _ = machine.sessionChanged(to: ada)
    let new = Self.session("ada", name: "Ada")
    #expect(machine.sessionChanged(to: new) == [.save(new)])
    #expect(machine.sessionChanged(to: new) == [])
  }

  @Test func `a sign-out erases and stops watching`() {
    var machine = SessionMachine()
    _ = machine.storeWasRead(ada)
    #expect(machine.sessionChanged(to: nil) == [.erase, .announceUser, .announceToken, .stopWatching])
    #expect(machine.sessionChanged(to: nil) == [])
  }

  @Test func `changes from before the store was read are kept`() {
    var signedOut = SessionMachine()
    #expect(signedOut.sessionChanged(to: nil) == [.erase])
    #expect(signedOut.storeWasRead(ada) == [] && signedOut.session == nil)
    var signedIn = SessionMachine()
    let grace = Self.session("grace")
    _ = signedIn.sessionChanged(to: grace)
    #expect(signedIn.storeWasRead(ada) == [] && signedIn.session == grace)
  }

  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
  func `on any course of events the store and the listeners end up with the session`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    var machine = SessionMachine()
    var stored: StoredSession?
    var heardUser: String?
    var heardToken: String?
    for step in 0..<2000 {
      let isRead = Int.random(in: 0..<8, using: &random) == 0
      let uid = ["a", "b", "c"].randomElement(using: &random) ?? "a"
      let session = Self.session(uid, token: "\(uid)\(Int.random(in: 0..<3, using: &random))")
      let new = Int.random(in: 0..<3, using: &random) == 0 ? nil : session
      let actions = isRead ? machine.storeWasRead(stored) : machine.sessionChanged(to: new)
      let storeWorks = Bool.random(using: &random)
      for action in actions + (storeWorks ? [machine.pendingWrite].compactMap { $0 } : []) {
        switch action {
        case .save(let session) where storeWorks: (stored, _) = (session, machine.storeTookTheChange())
        case .erase where storeWorks: (stored, _) = (nil, machine.storeTookTheChange())
        case .announceUser: heardUser = machine.session?.user.uid
        case .announceToken: heardToken = machine.session?.tokens.idToken
        default: break
        }
      }
      #expect(heardUser == machine.session?.user.uid, "seed \(seed), step \(step)")
      #expect(heardToken == machine.session?.tokens.idToken, "seed \(seed), step \(step)")
      #expect(machine.pendingWrite != nil || stored == machine.session, "seed \(seed), step \(step)")
    }
  }

  @Test func `a token is fresh while it has five minutes left`() {
    let now = Self.start
    #expect(TokenFreshness.isFresh(expiration: now + 300, now: now))
    #expect(!TokenFreshness.isFresh(expiration: now + 299, now: now))
    #expect(!TokenFreshness.isFresh(expiration: now - 1, now: now))
  }

  @Test func `refreshes that fail are tried again more and more seldom`() {
    let now = Self.start
    let delays = (0...9).map {
      TokenFreshness.nextRefresh(expiration: now + 3600, failures: $0, now: now).timeIntervalSince(now)
    }
    #expect(delays == [3300, 30, 60, 120, 240, 480, 960, 960, 960, 960])
  }

  @Test func `a session is read as it was written`() throws {
    var user = AuthUser(localID: "ada", email: "ada@example.com", createdAt: 1_700_000_000_000)
    user.mfaInfo = [MfaEnrollment(mfaEnrollmentID: "m", factor: .phone(number: "+1"), displayName: "phone")]
    user.providerUserInfo = [
      ProviderUserInfo(
        providerID: "google.com", rawID: "7", email: "a@b", displayName: "A. L.", photoURL: "q", phoneNumber: "+2")
    ]
    user.tenantID = "t"
    user.photoURL = "p"
    user.phoneNumber = "+1"
    user.displayName = "Ada"
    user.emailVerified = true
    user.lastLoginAt = 1_700_000_000_123
    var record = SessionUser(user, wasAnonymous: false)
    record.isAnonymous = true
    let session = StoredSession(
      user: record, tokens: TokenSet(AuthTokens(idToken: "i", refreshToken: "r"), now: Self.start + 0.1))
    let bytes = try session.encoded()
    #expect(StoredSession.decoded(bytes) == session)
    for length in 0..<bytes.count { #expect(StoredSession.decoded(Array(bytes[..<length])) == nil) }
    #expect(StoredSession.decoded(Array(#"{"version":2}"#.utf8)) == nil)
  }

  @Test func `a session of the first layout is still read`() throws {
    let json = """
      {"version":1,"user":{"uid":"ada","email":"a@b","isEmailVerified":true,"isAnonymous":false,"creationDate":1.5,
      "providers":[{"providerID":"google.com","uid":"7"}],"factors":[{"uid":"m","enrollmentDate":2,"phoneNumber":"+1"}]},
      "tokens":{"idToken":"i","refreshToken":"r","expiration":721692800.25}}
      """
    let session = try #require(StoredSession.decoded(Array(json.utf8)))
    #expect(session.user.uid == "ada" && session.user.isEmailVerified)
    #expect(session.user.creationDate == Date(timeIntervalSinceReferenceDate: 1.5))
    #expect(session.user.providers.map(\.uid) == ["7"] && session.user.factors.map(\.phoneNumber) == ["+1"])
    #expect(session.tokens.expiration == Date(timeIntervalSinceReferenceDate: 721_692_800.25))
    #expect(StoredSession.decoded(try session.encoded()) == session)
  }

  @Test func `an account without a time of creation has none`() {
    for (time, date) in [(-1, nil), (0, nil), (1000, Date(timeIntervalSince1970: 1))] as [(Int64, Date?)] {
      #expect(SessionUser(AuthUser(localID: "ada", createdAt: time), wasAnonymous: false).creationDate == date)
    }
  }

  @Test func `bytes that are no session are never read as one`() throws {
    let user = SessionUser(AuthUser(localID: "ada", createdAt: 1), wasAnonymous: false)
    let bytes = try StoredSession(
      user: user, tokens: TokenSet(AuthTokens(idToken: "i", refreshToken: "r"), now: Self.start)
    ).encoded()
    // A changed byte may change a value, which a store's checksum would detect; it must never stop the process.
    for index in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[index] ^= 1 << bit
        if let session = StoredSession.decoded(damaged) { #expect(!session.user.uid.isEmpty) }
      }
    }
  }
}
