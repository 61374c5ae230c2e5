import Testing
import VestaCryptoInterop

@Suite struct JSONWebKeyTests {
  private let point = Base64.url.encode([UInt8](repeating: 0xA5, count: 32))

  private var publicText: String { #"{"kty":"EC","kid":"k","crv":"P-256","x":"\#(point)","y":"\#(point)"}"# }

  @Test func `a key is read back from its JSON`() throws {
    let key = try JSONWebKey(json: utf8(publicText))
    #expect(key.keyType == .p256 && key.keyID == "k" && !key.isPrivate && key.algorithm == nil)
    #expect(try JSONWebKey(json: key.json()) == key)
    let rsa = try JSONWebKey(
      keyType: .rsa, keyID: "r", algorithm: .rs256,
      parameters: [.n: [1, 2], .e: [3], .d: [4], .p: [5], .q: [6], .dp: [7], .dq: [8], .qi: [9]])
    #expect(try JSONWebKey(json: rsa.json()) == rsa)
    #expect(rsa.isPrivate && !rsa.publicKey.isPrivate)
    #expect(try JSONWebKey(json: rsa.publicKey.json()) == rsa.publicKey)
  }

  @Test(arguments: [
    ("[]", CryptoError.Code.malformed), ("{}", .malformed), (#"{"kty":1}"#, .malformed),
    (#"{"kty":"oct","k":"AAAA"}"#, .unsupported), (#"{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}"#, .unsupported),
    (#"{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}"#, .invalidKey), (#"{"kty":"RSA","n":"AQ"}"#, .invalidKey),
    (#"{"kty":"RSA","n":"AAE","e":"AQAB"}"#, .invalidKey), (#"{"kty":"RSA","n":"AQ","e":"AQ","d":"AQ"}"#, .invalidKey),
    (#"{"kty":"RSA","n":"AQ","e":"AR"}"#, .malformed), (#"{"kty":"RSA","n":"AQ==","e":"AQ"}"#, .malformed),
    (#"{"kty":"RSA","n":1,"e":"AQ"}"#, .malformed), (#"{"kty":"RSA","n":"","e":"AQ"}"#, .invalidKey),
    (#"{"kty":"RSA","n":"AQ","e":"AQ","alg":"ES256"}"#, .invalidKey),
    (#"{"kty":"RSA","n":"AQ","e":"AQ","alg":"RSA-OAEP"}"#, .unsupported),
    (#"{"kty":"RSA","n":"AQ","e":"AQ","use":"enc"}"#, .unsupported),
    (#"{"kty":"RSA","n":"AQ","n":"Ag","e":"AQ"}"#, .malformed),
    (#"{"kty":"RSA","n":"AQ","e":"AQ","oth":[]}"#, .unsupported),
  ])
  func `broken keys are errors`(text: String, code: CryptoError.Code) {
    let error = #expect(throws: CryptoError.self) { try JSONWebKey(json: utf8(text)) }
    #expect(error?.code == code)
  }

  @Test func `a set leaves out what it does not know and nothing else`() throws {
    let set = try JSONWebKeySet(json: utf8(#"{"keys":[{"kty":"oct","k":"AA"},\#(publicText),{"kty":"OKP"}],"x":1}"#))
    #expect(set.keys.map(\.keyID) == ["k"])
    #expect(throws: CryptoError.self) { try JSONWebKeySet(json: utf8(#"{"keys":[{"kty":"RSA"}]}"#)) }
    #expect(throws: CryptoError.self) { try JSONWebKeySet(json: utf8(#"{"keys":[1]}"#)) }
    #expect(throws: CryptoError.self) { try JSONWebKeySet(json: utf8("{}")) }
  }

  @Test func `a published set has no secrets`() throws {
    let bytes = [UInt8](repeating: 0x77, count: 32)
    let key = try JSONWebKey(keyType: .p256, parameters: [.x: [UInt8](repeating: 1, count: 32), .y: bytes, .d: bytes])
    let text = JSONWebKeySet(keys: [key]).publicJSON()
    #expect(try JSONWebKeySet(json: text).keys == [key.publicKey])
    #expect(!String(decoding: text, as: UTF8.self).contains("\"d\""))
  }

  @Test func `secrets do not show`() throws {
    let bytes = [UInt8](repeating: 0x77, count: 32)
    let key = try JSONWebKey(keyType: .p256, parameters: [.x: bytes, .y: bytes, .d: bytes])
    let hash = try PasswordHash(scheme: .standard, salt: bytes, digest: bytes)
    var shown = ""
    for value in [key, SecretBytes(bytes), PEM(label: "PRIVATE KEY", bytes: bytes), hash] as [Any] {
      dump(value, to: &shown)
      shown += "\(value) \(String(reflecting: value)) \([value])"
    }
    #expect(shown.contains("PRIVATE KEY"))
    for secret in ["119, 119", "7777", Base64.url.encode(bytes)] { #expect(!shown.contains(secret)) }
  }
}
