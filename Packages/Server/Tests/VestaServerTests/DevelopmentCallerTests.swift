import Testing
import VestaBytes
import VestaServiceInterop

@testable import VestaServer

/// The credentials that a server for development accepts, and another one does not.
@Suite struct DevelopmentCallerTests {
  private func token(_ header: String, _ claims: String, signature: String = "") -> String {
    "\(Base64.url.encode(Array(header.utf8))).\(Base64.url.encode(Array(claims.utf8))).\(signature)"
  }

  private let unsigned = #"{"alg":"none","type":"JWT"}"#

  private func verifier(_ isDevelopment: Bool) throws -> any CallerVerifier {
    let host = ServerHost(ServerSettings(project: "demo", isDevelopment: isDevelopment))
    return try host.backend((any CallerVerifier).self, project: "demo")
  }

  @Test(arguments: ["owner", "OWNER", "Owner"])
  func `in development the word owner is the owner`(word: String) async throws {
    let answer = try await verifier(true).verify(.bearer(word), project: "demo")
    #expect(answer.caller.isOwner)
  }

  @Test func `in development an unsigned token is its user, whatever its times say`() async throws {
    let text = token(unsigned, #"{"sub":"ada","user_id":"ada","iat":0,"exp":3600,"admin":true}"#)
    for credential: Credential in [.bearer(text), .idToken(text)] {
      let answer = try await verifier(true).verify(credential, project: "demo")
      let user = try #require(CallContext(caller: answer.caller).user)
      #expect(user.uid == "ada" && user.claims["admin"] == true)
    }
    let other = try await verifier(true).verify(.bearer(token(unsigned, #"{"sub":"grace"}"#)), project: "demo")
    #expect(CallContext(caller: other.caller).user?.uid == "grace")
  }

  @Test func `what is no unsigned token is left to the check of signatures`() async throws {
    let texts = [
      "", "a", "a.b.c", "..", token(unsigned, "{}"), token(unsigned, #"{"sub":""}"#), token(unsigned, "[]"),
      token(#"{"alg":"RS256"}"#, #"{"sub":"ada"}"#), token(unsigned, #"{"sub":"ada"}"#, signature: "eA"),
    ]
    for text in texts {
      await #expect(throws: ServiceStatus.unauthenticated) {
        try await verifier(true).verify(.bearer(text), project: "demo")
      }
    }
  }

  @Test func `a server that is not for development refuses the owner's word and unsigned tokens`() async throws {
    for text in ["owner", "OWNER", token(unsigned, #"{"sub":"ada","user_id":"ada"}"#)] {
      for credential: Credential in [.bearer(text), .idToken(text)] {
        await #expect(throws: ServiceStatus.unauthenticated) {
          try await verifier(false).verify(credential, project: "demo")
        }
      }
    }
  }
}
