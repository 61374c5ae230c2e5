import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaBytes

@testable import VestaAuthService

/// Passkeys over HTTP, with the members that browsers and Apple's SDK write.
@Suite struct PasskeyEndpointTests {
  private func call(_ server: EndpointWorld, _ name: String, _ body: JSONObject) async throws -> EndpointWorld.Answer {
    try await server.call("accounts/\(name)", body, version: "v2")
  }

  private func account(_ server: EndpointWorld, _ email: String = "a@b.c") async throws -> JSONValue {
    try #require(try await server.call("accounts:signUp", ["email": .string(email), "password": "secret"])["idToken"])
  }

  private func passkeys(_ server: EndpointWorld, _ token: JSONValue) async throws -> [JSONValue] {
    let users = try await server.call("accounts:lookup", ["idToken": token])["users"]?.array
    return users?[0].object?["passkeyInfo"]?.array ?? []
  }

  @Test func `a test suite without an authenticator adds a passkey, signs in and removes it`() async throws {
    let server = EndpointWorld()
    let token = try await account(server)
    let options = try await call(server, "passkeyEnrollment:start", ["idToken": token])["credentialCreationOptions"]
    #expect(options?.object?["rp"]?.object?["id"] == "localhost")
    #expect(options?.object?["attestation"] == "none")
    #expect(options?.object?["authenticatorSelection"]?.object?["residentKey"] == "required")
    let kinds = options?.object?["pubKeyCredParams"]?.array
    #expect(kinds == [["type": "public-key", "alg": -7], ["type": "public-key", "alg": -257]])
    for (id, name) in [("A", "name"), ("B", "displayName"), ("C", nil)] as [(JSONValue, String?)] {
      var body: JSONObject = ["idToken": token, "authenticatorRegistrationResponse": ["id": id]]
      if let name { body[name] = .string("Key \(name)") }
      let made = try await call(server, "passkeyEnrollment:finalize", body)
      #expect(made["idToken"]?.string != nil && made["refreshToken"]?.string != nil && made["localId"]?.string != nil)
    }
    #expect(
      try await passkeys(server, token) == [
        ["credentialId": "A", "name": "Key name"], ["credentialId": "B", "name": "Key displayName"],
        ["credentialId": "C", "name": "Unnamed Passkey"],
      ])
    let asked = try await call(server, "passkeySignIn:start", [:])["credentialRequestOptions"]?.object
    #expect(asked?["rpId"] == "localhost" && asked?["challenge"]?.string?.isEmpty == false)
    let signedIn = try await call(
      server, "passkeySignIn:finalize", ["authenticatorAuthenticationResponse": ["id": "B"]])
    #expect(signedIn.status == 200 && signedIn["idToken"]?.string != nil && signedIn["refreshToken"]?.string != nil)
    let removal: JSONObject = ["idToken": token, "deletePasskey": ["A", "none"]]
    #expect(try await server.call("accounts:update", removal).status == 200)
    #expect(try await passkeys(server, token).count == 2)
    let again: JSONObject = ["idToken": token, "authenticatorRegistrationResponse": ["id": "B"]]
    #expect(try await call(server, "passkeyEnrollment:finalize", again).message == "CREDENTIAL_ALREADY_IN_USE")
  }

  @Test(
    arguments: [
      ("passkeyEnrollment:start", [:], "MISSING_ID_TOKEN"),
      ("passkeyEnrollment:finalize", ["authenticatorRegistrationResponse": ["id": "A"]], "MISSING_ID_TOKEN"),
      ("passkeyEnrollment:finalize", ["idToken": "some_token"], "MISSING_AUTHENTICATOR_RESPONSE"),
      ("passkeySignIn:finalize", [:], "MISSING_AUTHENTICATOR_RESPONSE"),
      ("passkeySignIn:finalize", ["authenticatorAuthenticationResponse": [:]], "INVALID_CREDENTIAL_ID"),
      ("passkeySignIn:finalize", ["authenticatorAuthenticationResponse": ["id": "A"]], "PASSKEY_CREDENTIAL_NOT_FOUND"),
    ] as [(String, JSONObject, String)])
  func `what is missing has a name`(name: String, body: JSONObject, message: String) async throws {
    let refused = try await call(EndpointWorld(), name, body)
    #expect(refused.status == 400 && refused.message == message)
  }

  @Test func `a browser's answers in both alphabets of base64 are verified`() async throws {
    let server = EndpointWorld(isDevelopment: false)
    let token = try await account(server)
    let authenticator = VirtualAuthenticator.fake()
    let started = try await call(server, "passkeyEnrollment:start", ["idToken": token])
    let challenge = started["credentialCreationOptions"]?.object?["challenge"]?.string
    let creation = PasskeyCreationOptions(
      relyingPartyID: "localhost", relyingPartyName: "", userID: [], userName: "", displayName: "",
      challenge: try Base64.url.decode(try #require(challenge)))
    let made = authenticator.registration(for: creation)
    func text(_ bytes: [UInt8]?, _ base64: Base64) -> JSONValue { .string(base64.encode(bytes ?? [])) }
    let registration: JSONObject = [
      "id": .string(made.credentialID),
      "response": [
        "clientDataJSON": text(made.clientData, .standard), "attestationObject": text(made.attestationObject, .url),
      ],
    ]
    let enrolled = try await call(
      server, "passkeyEnrollment:finalize",
      ["idToken": token, "authenticatorRegistrationResponse": .object(registration)])
    #expect(enrolled.status == 200 && enrolled["idToken"]?.string != nil)
    let asked = try await call(server, "passkeySignIn:start", [:])["credentialRequestOptions"]?.object
    let request = PasskeyRequestOptions(
      relyingPartyID: "localhost", challenge: try Base64.url.decode(try #require(asked?["challenge"]?.string)))
    let signed = try authenticator.assertion(for: request)
    let answer: JSONObject = [
      "id": .string(signed.credentialID),
      "response": [
        "clientDataJSON": text(signed.clientData, .url), "signature": text(signed.signature, .standard),
        "authenticatorData": text(signed.authenticatorData, .standard), "userHandle": "",
      ],
    ]
    let body: JSONObject = ["authenticatorAuthenticationResponse": .object(answer)]
    #expect(try await call(server, "passkeySignIn:finalize", body)["idToken"]?.string != nil)
    let replayed = try await call(server, "passkeySignIn:finalize", body)
    #expect(replayed.message?.hasPrefix("INVALID_AUTHENTICATOR_RESPONSE : ") == true)
  }
}
