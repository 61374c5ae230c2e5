public import VestaCryptoInterop
public import VestaTesting

extension CryptoContracts {
  /// Keys in and out, signing and verifying.
  public static let keys: [Contract<any CryptoProvider>] = [
    Contract("RS256 gives the signature of RFC 7515 A.2") { crypto in
      let key = try crypto.signingKey(jsonWebKey: try JSONWebKey(json: bytes(KeyVectors.rsaPrivate)))
      try expect(key.algorithm, equals: .rs256, "algorithm")
      let signature = try key.signature(for: bytes(KeyVectors.rsaSigningInput))
      try expect(Base64.url.encode(signature), equals: KeyVectors.rsaSignature, "signature")
    },
    Contract("the signatures of RFC 7515 A.2 and A.3 are valid") { crypto in
      let rsa = try crypto.verificationKey(jsonWebKey: try JSONWebKey(json: bytes(KeyVectors.rsaPrivate)))
      let rsaSignature = try Base64.url.decode(KeyVectors.rsaSignature)
      try expect(rsa.isValidSignature(rsaSignature, for: bytes(KeyVectors.rsaSigningInput)), "RS256 is not valid")
      let curve = try crypto.verificationKey(jsonWebKey: try JSONWebKey(json: bytes(KeyVectors.p256Private)))
      let curveSignature = try Base64.url.decode(KeyVectors.p256Signature)
      try expect(curve.isValidSignature(curveSignature, for: bytes(KeyVectors.p256SigningInput)), "ES256 is not valid")
    },
    Contract("a signature is valid for its message and its key alone") { crypto in
      let other = try await crypto.generateSigningKey(.es256)
      for key in try importedKeys(crypto) {
        let signature = try key.signature(for: bytes("message"))
        try expect(key.verificationKey.isValidSignature(signature, for: bytes("message")), "not valid")
        try expect(!key.verificationKey.isValidSignature(signature, for: bytes("massage")), "valid for another message")
        try expect(!other.verificationKey.isValidSignature(signature, for: bytes("message")), "valid for another key")
        for index in [0, 5, signature.count / 2, signature.count - 1] {
          var changed = signature
          changed[index] ^= 1
          try expect(
            !key.verificationKey.isValidSignature(changed, for: bytes("message")), "byte \(index) is not checked")
        }
      }
    },
    Contract("bytes that are no signature are not valid, whatever their length") { crypto in
      for key in try importedKeys(crypto) {
        let signature = try key.signature(for: [])
        let junk = [
          [], [0], repeated(0, 64), repeated(0xFF, 64), repeated(0, 256), repeated(0xFF, 256), repeated(7, 4096),
        ]
        let cut = [Array(signature.dropLast()), Array(signature.dropFirst()), signature + [0], [0] + signature]
        // DER forms: an empty sequence, r = s = 0, a length that runs over the end.
        let der: [[UInt8]] = [[0x30, 0], [0x30, 6, 2, 1, 0, 2, 1, 0], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]]
        for bytes in junk + cut + der {
          try expect(!key.verificationKey.isValidSignature(bytes, for: []), "\(bytes.count) bytes of junk are valid")
        }
      }
    },
    Contract("an ES256 signature has 64 bytes") { crypto in
      let key = try await crypto.generateSigningKey(.es256)
      for index in 0..<64 {
        try expect(try key.signature(for: [UInt8(index)]).count, equals: 64, "bytes")
      }
    },
    Contract("generated keys survive PEM and JWK") { crypto in
      for algorithm in SignatureAlgorithm.allCases {
        let key = try await crypto.generateSigningKey(algorithm, keyID: "k1")
        try expect(key.keyID, equals: "k1", "key id")
        let signature = try key.signature(for: bytes("m"))
        let fromPEM = try crypto.verificationKey(
          pem: try key.verificationKey.pem(), algorithm: algorithm, keyID: nil)
        let fromJWK = try crypto.verificationKey(jsonWebKey: try key.verificationKey.jsonWebKey())
        let privateFromPEM = try crypto.signingKey(pem: try key.privatePEM(), algorithm: algorithm, keyID: nil)
        let privateFromJWK = try crypto.signingKey(jsonWebKey: try key.privateJSONWebKey())
        try expect(fromJWK.keyID, equals: "k1", "key id after JWK")
        for copy in [fromPEM, fromJWK, privateFromPEM.verificationKey, privateFromJWK.verificationKey] {
          try expect(copy.isValidSignature(signature, for: bytes("m")), "\(algorithm) copy does not verify")
          let text = try copy.jsonWebKey()
          try expect(text.isPrivate, equals: false, "private part in a public key")
        }
      }
    },
    Contract("a key without an id gets its thumbprint (RFC 7638)") { crypto in
      let key = try crypto.verificationKey(jsonWebKey: try JSONWebKey(json: bytes(KeyVectors.thumbprintKey)))
      try expect(key.keyID, equals: KeyVectors.thumbprint, "key id")
      let pair = try await crypto.generateSigningKey(.es256)
      try expect(pair.verificationKey.keyID, equals: pair.keyID, "key id of the public half")
    },
    Contract("a key of the wrong kind is refused") { crypto in
      for key in try importedKeys(crypto) {
        let wrong: SignatureAlgorithm = key.algorithm == .rs256 ? .es256 : .rs256
        let publicPEM = try key.verificationKey.pem()
        let privatePEM = try key.privatePEM()
        try await expectRefusal { _ = try crypto.verificationKey(pem: publicPEM, algorithm: wrong, keyID: nil) }
        try await expectRefusal { _ = try crypto.signingKey(pem: privatePEM, algorithm: wrong, keyID: nil) }
        try await expectRefusal { _ = try crypto.signingKey(pem: publicPEM, algorithm: key.algorithm, keyID: nil) }
        try await expectRefusal {
          _ = try crypto.verificationKey(pem: privatePEM, algorithm: key.algorithm, keyID: nil)
        }
        let publicKey = try key.verificationKey.jsonWebKey()
        try await expectRefusal { _ = try crypto.signingKey(jsonWebKey: publicKey) }
      }
    },
    Contract("a weak or inconsistent key is refused") { crypto in
      let point = try JSONWebKey(keyType: .p256, parameters: [.x: repeated(1, 32), .y: repeated(1, 32)])
      try await expectRefusal { _ = try crypto.verificationKey(jsonWebKey: point) }
      let short = try JSONWebKey(keyType: .rsa, parameters: [.n: repeated(0xFB, 128), .e: [1, 0, 1]])
      try await expectRefusal { _ = try crypto.verificationKey(jsonWebKey: short) }
      let modulus = try JSONWebKey(json: bytes(KeyVectors.thumbprintKey))[.n] ?? []
      // With an exponent of 1 everything is its own signature.
      for exponent: [UInt8] in [[1], [1, 0, 0]] {
        let open = try JSONWebKey(keyType: .rsa, parameters: [.n: modulus, .e: exponent])
        try await expectRefusal { _ = try crypto.verificationKey(jsonWebKey: open) }
      }
      let even = try JSONWebKey(keyType: .rsa, parameters: [.n: Array(modulus.dropLast()) + [2], .e: [1, 0, 1]])
      try await expectRefusal { _ = try crypto.verificationKey(jsonWebKey: even) }
      let pair = try JSONWebKey(json: bytes(KeyVectors.p256Private))
      let mixed = try JSONWebKey(
        keyType: .p256, parameters: [.x: pair[.x] ?? [], .y: pair[.y] ?? [], .d: repeated(1, 32)])
      try await expectRefusal { _ = try crypto.signingKey(jsonWebKey: mixed) }
    },
    Contract("a broken PEM is refused") { crypto in
      let pem = try importedKeys(crypto)[1].verificationKey.pem()
      let der = try PEM(text: pem).bytes
      for broken in [Array(der.dropLast()), der + [0], [0x30], repeated(0x30, 200), Array(der.dropFirst())] {
        let text = PEM(label: "PUBLIC KEY", bytes: broken).text
        try await expectRefusal { _ = try crypto.verificationKey(pem: text, algorithm: .es256, keyID: nil) }
        let secret = PEM(label: "PRIVATE KEY", bytes: broken).text
        try await expectRefusal { _ = try crypto.signingKey(pem: secret, algorithm: .es256, keyID: nil) }
      }
    },
    Contract("a certificate has the key and is the same for the same facts, or is unsupported") { crypto in
      for key in try importedKeys(crypto) {
        let facts = CertificateFacts(
          commonName: "tokens.example", serialNumber: 7, validFrom: 1_767_225_600, validUntil: 1_768_000_000)
        let pem: String
        do {
          pem = try key.certificate(facts)
        } catch CryptoError.Code.unsupported {
          return
        }
        try expect(try PEM(text: pem).label, equals: "CERTIFICATE", "label")
        let read = try crypto.verificationKey(pem: pem, algorithm: key.algorithm, keyID: key.keyID)
        try expect(try read.jsonWebKey(), equals: try key.verificationKey.jsonWebKey(), "key")
        // Signatures of RSA have no random part.
        if key.algorithm == .rs256 { try expect(try key.certificate(facts), equals: pem, "second certificate") }
        for name in ["", String(repeating: "x", count: 65)] {
          var wrong = facts
          wrong.commonName = name
          let error = try await expectThrows(CryptoError.self, "name") { try key.certificate(wrong) }
          try expect(error.code, equals: .invalidParameter, "code")
        }
      }
    },
    Contract("keys show nothing of themselves but algorithm and id") { crypto in
      for key in try importedKeys(crypto) {
        let jwk = try key.privateJSONWebKey()
        var shown = "\(key) \(key.verificationKey) \(jwk) \(String(reflecting: key)) \(String(reflecting: jwk))"
        dump([key, key.verificationKey, jwk] as [Any], to: &shown)
        for parameter in JSONWebKey.Parameter.allCases where parameter != .e {
          guard let number = jwk[parameter] else { continue }
          for text in [Base64.url.encode(number), Hex.encode(number), "\(number.prefix(4))".dropLast() + ","] {
            try expect(!shown.contains(text.prefix(20)), "the description shows `\(parameter)`")
          }
        }
      }
    },
  ]

  private static func importedKeys(_ crypto: any CryptoProvider) throws -> [any SigningKey] {
    [
      try crypto.signingKey(jsonWebKey: try JSONWebKey(json: bytes(KeyVectors.rsaPrivate))),
      try crypto.signingKey(jsonWebKey: try JSONWebKey(json: bytes(KeyVectors.p256Private))),
    ]
  }

  private static func expectRefusal(_ operation: () throws -> Void) async throws {
    let error = try await expectThrows(CryptoError.self, "import", operation)
    try expect([.invalidKey, .malformed].contains(error.code), "the code is \(error.code)")
  }
}
