import Testing
import VestaAuthBackend

@testable import VestaAuthService

/// Accounts with and without ways to sign in, and how an account begins.
@Suite struct UserRecordTests {
  private static let ways: [(name: String, add: @Sendable (inout UserRecord) -> Void)] = [
    ("address", { $0.email = "ada@example.com" }), ("phone", { $0.phoneNumber = "+15550000001" }),
    ("provider", { $0.link(UserRecord.Provider(providerID: "google.com", rawID: "1")) }),
    ("custom token", { $0.customAuth = true }), ("password", { $0.passwordHash = "h" }),
  ]

  @Test func `an account with any way to sign in is not anonymous`() {
    #expect(UserRecord(localID: "a", createdAt: 1).isAnonymous)
    for (name, add) in Self.ways {
      var user = UserRecord(localID: "a", createdAt: 1)
      add(&user)
      #expect(!user.isAnonymous, "\(name)")
      for other in Self.ways {
        var both = user
        other.add(&both)
        #expect(!both.isAnonymous, "\(name) and \(other.name)")
      }
    }
  }

  @Test func `links to an address that was taken away do not let its successor sign in by link`() {
    var user = UserRecord(localID: "a", createdAt: 1)
    (user.email, user.emailVerified, user.emailLinkSignIn) = ("ada@example.com", true, true)
    user.setPassword("h", now: 1)
    #expect(user.providerInfo.map(\.providerID) == ["password"])
    user.unlink("password")
    user.email = "bob@example.com"
    #expect(user.providerInfo.isEmpty && !user.emailVerified && !user.emailLinkSignIn && user.passwordHash == nil)
  }

  @Test func `a new account takes no token of the second before it, and never becomes valid earlier`() {
    var user = UserRecord(localID: "a", createdAt: 1)
    user.begin(epoch: 7, now: 1_767_225_600_999)
    #expect(user.epoch == 7 && user.validSince == 1_767_225_600)
    user.begin(epoch: 8, now: 1_767_225_000_000)
    #expect(user.epoch == 8 && user.validSince == 1_767_225_600)
  }

  @Test func `an epoch has 48 bits, and all of them are drawn`() throws {
    let world = World()
    let epochs = try (0..<200).map { _ in try world.engine.core.secrets.newEpoch() }
    #expect(epochs.allSatisfy { (0..<(1 << 48)).contains($0) })
    #expect(epochs.reduce(0, |) == (1 << 48) - 1 && epochs.reduce(-1, &) == 0)
  }
}
