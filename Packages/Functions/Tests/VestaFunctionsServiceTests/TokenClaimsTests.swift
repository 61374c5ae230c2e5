import Testing
import VestaBytes

@testable import VestaFunctionsService

/// The claims of tokens that were found genuine.
@Suite struct TokenClaimsTests {
  private func token(_ json: String) -> String { "h.\(Base64.url.encode(Array(json.utf8))).s" }

  @Test func `a token has three parts, and JSON in its second`() {
    let middle = Base64.url.encode(Array("{}".utf8))
    #expect(TokenClaims.claims(of: "h.\(middle).s") != nil)
    // An unsigned token has an empty part; what it may do is not decided here.
    #expect(TokenClaims.claims(of: "h.\(middle).") != nil)
    for other in ["", ".", "..", middle, "h.\(middle)", "h.\(middle).s.", "h..\(middle).s", "h.!.s", token("[]")] {
      #expect(TokenClaims.claims(of: other) == nil, "\(other)")
    }
  }

  @Test func `a token has expired when its time is there`() throws {
    let claims = try #require(TokenClaims.claims(of: token(#"{"exp":100}"#)))
    #expect(!TokenClaims.hasExpired(claims, now: 99_999_999))
    #expect(TokenClaims.hasExpired(claims, now: 100_000_000))
    let lasting = try #require(TokenClaims.claims(of: token("{}")))
    #expect(!TokenClaims.hasExpired(lasting, now: .max))
  }

  @Test func `the user is named by one of two claims`() throws {
    func uid(_ json: String) throws -> String? { TokenClaims.uid(try #require(TokenClaims.claims(of: token(json)))) }
    #expect(try uid(#"{"user_id":"a","sub":"b"}"#) == "a")
    #expect(try uid(#"{"sub":"b"}"#) == "b")
    #expect(try uid("{}") == nil)
  }
}
