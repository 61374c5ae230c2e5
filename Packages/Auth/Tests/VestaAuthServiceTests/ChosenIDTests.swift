import Testing
import VestaAuthBackend
import VestaServiceInterop

@testable import VestaAuthService

/// The ids that an owner may choose, to the last length and the last character.
@Suite struct ChosenIDTests {
  private static let lettersAndDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
  /// The neighbours of letters and digits in ASCII, white space, and letters beyond it.
  private static let strange = ["/", ":", "@", "[", "`", "{", " ", "\n", "\u{0}", "é", "\u{FF10}"]

  @Test func `the id of a tenant has 1 to 128 letters, digits and hyphens`() async throws {
    let world = World()
    func refused(_ id: String) async -> AuthServiceError.Code? {
      await refusal {
        try await world.engine.administration.createTenant(CreateTenantRequest(tenantID: id), context: .owner)
      }
    }
    for id in ["a", "-", Self.lettersAndDigits, String(repeating: "x", count: 128)] {
      #expect(await refused(id) == nil, "\(id)")
    }
    for id in ["", String(repeating: "x", count: 129)] + (Self.strange + [".", "_"]).map({ "a\($0)a" }) {
      #expect(await refused(id) == .invalidConfig, "\(id)")
    }
  }

  @Test func `the id of an identity provider has 1 to 128 letters, digits, dots, hyphens and underscores`() async throws
  {
    func isFine(_ id: String) -> Bool {
      let provider = IdentityProvider(id: id, clientID: "client", issuer: "https://id.acme.example")
      do {
        try IdentityProviderCheck.check(provider)
        return true
      } catch {
        return false
      }
    }
    let start = "oidc."
    let longest = start + String(repeating: "x", count: 128 - start.utf8.count)
    for id in [start + "x", start + Self.lettersAndDigits, start + "a.b-c_d", longest] { #expect(isFine(id), "\(id)") }
    for id in ["", start, longest + "x"] + Self.strange.map({ "\(start)a\($0)a" }) { #expect(!isFine(id), "\(id)") }
  }
}
