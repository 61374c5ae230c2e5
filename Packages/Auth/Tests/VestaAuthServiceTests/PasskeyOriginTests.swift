import Testing

@testable import VestaAuthService

/// The pages and apps whose answers are accepted.
@Suite struct PasskeyOriginTests {
  @Test(
    arguments: [
      "https://example.com", "https://example.com:8443", "https://login.example.com", "https://a.b.example.com:1",
    ])
  func `the pages of a domain may use its passkeys`(origin: String) {
    #expect(PasskeyRelyingParty(id: "example.com", name: "").accepts(origin))
  }

  @Test(
    arguments: [
      "https://evil.com#.example.com", "https://evil.com?.example.com", "https://evil.com\\.example.com",
      "https://evil.com/.example.com", "https://evil.com:\u{301}.example.com", "https://evil.com/\u{301}.example.com",
      "https://example.com@evil.com", "https://evil.com@login.example.com", "https://example.com:443@evil.com",
      "https://example.com:evil", "https://example.com:", "https://example.com:123456", "https://example.com/",
      "https://example.com#", "https://.example.com", "https://evil.com .example.com", "https://évil.example.com",
      "https://EXAMPLE.com", "HTTPS://example.com", "https://example.com\0", "https://example.com.", "https://",
      "https:///example.com", "http://example.com", "http://localhost", "ftp://example.com", "https:example.com",
      "https://https://example.com", "null", "", "://example.com", "https://exаmple.com", "https://a..example.com",
    ])
  func `no other page does, however its address is written`(origin: String) {
    #expect(!PasskeyRelyingParty(id: "example.com", name: "").accepts(origin))
  }

  @Test func `pages of this machine need no TLS, and nothing else is this machine`() {
    let party = PasskeyRelyingParty.localhost
    for origin in ["http://localhost", "http://localhost:5000", "https://localhost", "https://app.localhost"] {
      #expect(party.accepts(origin), "\(origin)")
    }
    for origin in [
      "http://localhost@evil.com", "http://evil.com#localhost", "http://localhost:80@evil.com", "http://localhost/",
      "https://evil.com#.localhost", "https://localhost@evil.com", "http://app.localhost",
    ] { #expect(!party.accepts(origin), "\(origin)") }
  }

  @Test func `the places of apps are compared byte by byte`() {
    let party = PasskeyRelyingParty(id: "example.com", name: "", origins: ["android:apk-key-hash:\u{E9}"])
    #expect(party.accepts("android:apk-key-hash:\u{E9}"))
    #expect(!party.accepts("android:apk-key-hash:e\u{301}"))
  }
}
