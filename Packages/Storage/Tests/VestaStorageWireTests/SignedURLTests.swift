import Testing
import VestaBytes

@testable import VestaStorageWire

/// Signed URLs of both forms.
@Suite struct SignedURLTests {
  private static let parts = [
    "X-Goog-Algorithm=GOOG4-RSA-SHA256", "X-Goog-Credential=a%2F20240203%2Fauto%2Fstorage%2Fgoog4_request",
    "X-Goog-Date=20240203T040506Z", "X-Goog-Expires=60", "X-Goog-SignedHeaders=host", "X-Goog-Signature=ab12",
  ]
  private static let start: Int64 = 1_706_933_106

  @Test func `the fourth form is valid from its date on, for its time`() throws {
    let url = try #require(try SignedURL(query: Self.parts.joined(separator: "&")))
    #expect(url.start == Self.start && url.end == Self.start + 60)
    #expect(url.isValid(at: Self.start) && url.isValid(at: Self.start + 59) && url.isValid(at: Self.start - 900))
    #expect(!url.isValid(at: Self.start + 60) && !url.isValid(at: Self.start - 901))
  }

  @Test func `the second form is valid until it expires`() throws {
    let url = try #require(try SignedURL(query: "GoogleAccessId=a&Expires=100&Signature=b%2B"))
    #expect(url.isValid(at: 99) && !url.isValid(at: 100))
  }

  @Test func `a URL without a signature is none, and one with a part of it is wrong`() throws {
    #expect(try SignedURL(query: "") == nil)
    #expect(try SignedURL(query: "alt=media&token=x") == nil)
    for index in Self.parts.indices where index != 5 {
      var parts = Self.parts
      parts.remove(at: index)
      #expect(throws: BytesError.self) { try SignedURL(query: parts.joined(separator: "&")) }
    }
    let date = Self.parts.joined(separator: "&")
    for (old, new) in [
      ("GOOG4-RSA-SHA256", "NONE"), ("20240203T040506Z", "2024"), ("20240203T040506Z", "20241303T040506Z"),
      ("=60", "=0"),
      ("=60", "=604801"), ("=60", "=x"), ("=ab12", "="),
    ] {
      #expect(throws: BytesError.self, "\(new)") { try SignedURL(query: date.replacing(old, with: new)) }
    }
    for wrong in ["GoogleAccessId=a", "Signature=b&Expires=1", "GoogleAccessId=a&Signature=b&Expires=x"] {
      #expect(throws: BytesError.self) { try SignedURL(query: wrong) }
    }
  }
}
