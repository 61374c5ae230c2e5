public import VestaCryptoInterop
public import VestaTesting

extension CryptoContracts {
  /// Tokens signed and checked with the provider's keys.
  public static let tokens: [Contract<any CryptoProvider>] = [
    Contract("a signed token is believed, with its claims") { crypto in
      let verifier = JWTVerifier(issuers: ["me"], audiences: ["you"])
      for algorithm in SignatureAlgorithm.allCases {
        let key = try await crypto.generateSigningKey(algorithm)
        let text = try JWT.sign(claims, with: key)
        let token = try verifier.verify(text, at: 1500, keys: [key.verificationKey])
        try expect(token.claims, equals: claims, "claims")
        try expect(token.header.keyID, equals: key.keyID, "kid")
      }
    },
    Contract("a token that was changed in any place is not believed") { crypto in
      let key = try await crypto.generateSigningKey(.es256)
      let text = try JWT.sign(claims, with: key)
      let verifier = JWTVerifier(issuers: nil, audiences: nil)
      for index in text.utf8.indices {
        var changed = Array(text.utf8)
        let offset = text.utf8.distance(from: text.utf8.startIndex, to: index)
        changed[offset] = changed[offset] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        let token = String(decoding: changed, as: UTF8.self)
        try await expectThrows(CryptoError.self, "byte \(offset)") {
          try verifier.verify(token, at: 1500, keys: [key.verificationKey])
        }
      }
    },
    Contract("a public key used as a shared secret convinces nobody") { crypto in
      let key = try await crypto.generateSigningKey(.rs256)
      let header = Base64.url.encode(bytes(#"{"alg":"HS256","kid":"\#(key.keyID)"}"#))
      let input = header + "." + Base64.url.encode(bytes(#"{"exp":2000}"#))
      let secret = bytes(try key.verificationKey.pem())
      let signature = try crypto.hmac(.sha256, key: secret, message: bytes(input))
      let error = try await expectThrows(CryptoError.self, "HS256") {
        try JWTVerifier(issuers: nil, audiences: nil)
          .verify(input + "." + Base64.url.encode(signature), at: 1500, keys: [key.verificationKey])
      }
      try expect(error.code, equals: .algorithmNotAllowed, "code")
    },
    Contract("the tokens of RFC 7515 are believed at their time") { crypto in
      let verifier = JWTVerifier(issuers: ["joe"], audiences: nil)
      let rsa = try crypto.verificationKey(jsonWebKey: try JSONWebKey(json: bytes(KeyVectors.rsaPrivate)))
      let rsaToken = KeyVectors.rsaSigningInput + "." + KeyVectors.rsaSignature
      _ = try verifier.verify(rsaToken, at: 1_300_819_379, keys: [rsa])
      let error = try await expectThrows(CryptoError.self, "late") {
        try verifier.verify(rsaToken, at: 1_300_819_380, keys: [rsa])
      }
      try expect(error.code, equals: .expired, "code")
      let curve = try crypto.verificationKey(jsonWebKey: try JSONWebKey(json: bytes(KeyVectors.p256Private)))
      let curveToken = KeyVectors.p256SigningInput + "." + KeyVectors.p256Signature
      _ = try verifier.verify(curveToken, at: 1_300_819_379, keys: [curve])
    },
  ]

  private static let claims: JWTObject = [
    "iss": "me", "aud": "you", "iat": 1000, "exp": 2000, "admin": true, "firebase": ["identities": ["email": ["a@b"]]],
  ]
}
