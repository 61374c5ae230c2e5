import Testing
import VestaTesting

@testable import VestaCryptoInterop

/// Every decoder is total: whatever the bytes, there is a value or an error.
@Suite struct FuzzTests {
  private static let seeds = [
    #"{"kty":"EC","crv":"P-256","kid":"k","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
    #"{"keys":[{"kty":"RSA","n":"AQ","e":"AQAB"}]}"#, #"{"a":[1,-2.5e3,true,null,"\u00e9\ud83d\ude00"],"b":{"c":{}}}"#,
    "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODB9.DtEhU3ljbEg8L38VWAfUAqOyKAM6",
    "-----BEGIN PUBLIC KEY-----\nAAECAwQFBgcICQ==\n-----END PUBLIC KEY-----\n",
    "$scrypt$ln=14,r=8,p=1$c2FsdHNhbHQ$AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM",
    "$firebase-scrypt$ln=14,r=8,sep=Bw$c2FsdHNhbHQ$AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM",
    "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
    "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
  ].map { Array($0.utf8) }

  @Test(arguments: [UInt64(1), 2, 3, 4])
  func `no input crashes a decoder`(seed: UInt64) {
    var generator = SplitMix(seed: seed)
    var accepted = 0
    for round in 0..<25_000 {
      let start = Self.seeds[round % Self.seeds.count]
      let bytes = round % 10 == 0 ? generator.bytes(upTo: 64) : generator.mutated(start)
      accepted += decodeAll(bytes)
    }
    // Some mutations must get through, or the fuzzing would only ever see the first check.
    #expect(accepted > 1000, "seed \(seed)")
  }

  /// Gives the bytes to every decoder; what is accepted must survive being written and read again.
  private func decodeAll(_ bytes: [UInt8]) -> Int {
    let text = String(decoding: bytes, as: UTF8.self)
    var accepted = 0
    if let value = try? JSONValue(json: bytes) {
      accepted += 1
      #expect((try? JSONValue(json: value.json())) == value)
    }
    if let key = try? JSONWebKey(json: bytes) { accepted += (try? JSONWebKey(json: key.json())) == key ? 1 : 0 }
    if (try? JSONWebKeySet(json: bytes)) != nil { accepted += 1 }
    if (try? JWT(unverified: text)) != nil { accepted += 1 }
    if let pem = try? PEM(text: text) {
      accepted += 1
      #expect((try? PEM(text: pem.text)) == pem)
    }
    if let hash = try? PasswordHash(text: text) {
      accepted += 1
      #expect((try? PasswordHash(text: hash.text)) == hash)
    }
    for codec in [Base64.standard, .url, .unpadded] {
      if let decoded = try? codec.decode(text) { #expect(codec.encode(decoded) == text) }
    }
    if let decoded = try? Hex.decode(text) { #expect(Hex.encode(decoded) == text.lowercased()) }
    return accepted
  }
}
