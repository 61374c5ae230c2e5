import VestaCrypto
import VestaCryptoInterop

/// The real provider with one thing wrong, to see that the contracts notice.
struct FaultyProvider: CryptoProvider {
  enum Fault: CaseIterable {
    case digestOfOtherAlgorithm, streamForgetsSecondPiece, streamNeverEnds, shortKeyedHash, repeatingRandomBytes
    case shortRandomBytes, comparesPrefixes, comparesFirstByte, checksumStartsOver, acceptsAllSignatures
    case ignoresMessage, forgetsKeyID, acceptsAllPasswords, refusesAllPasswords, cutsPasswords, constantSalt
    case derSignatures, talkativeKeys
    case ignoresContext, constantNonce, opensChanged, takesShortKeys, sealsNothing
    case sameAgreementKey, agreesWithItself, takesEveryPoint, takesEveryNumber, ignoresNonce, takesLongNonces
  }

  let fault: Fault
  private let real = OpenSSLCrypto()

  init(_ fault: Fault) { self.fault = fault }

  func digest(_ algorithm: DigestAlgorithm, of bytes: RawSpan) throws(CryptoError) -> [UInt8] {
    try real.digest(fault == .digestOfOtherAlgorithm && algorithm == .sha512 ? .sha256 : algorithm, of: bytes)
  }

  func makeDigestStream(_ algorithm: DigestAlgorithm) throws(CryptoError) -> any DigestStream {
    FaultyStream(real: try real.makeDigestStream(algorithm), fault: fault)
  }

  func hmac(_ algorithm: DigestAlgorithm, key: [UInt8], message: [UInt8]) throws(CryptoError) -> [UInt8] {
    let full = try real.hmac(algorithm, key: key, message: message)
    return fault == .shortKeyedHash ? Array(full.dropLast()) : full
  }

  func randomBytes(count: Int) throws(CryptoError) -> [UInt8] {
    let bytes = try real.randomBytes(count: count)
    switch fault {
    case .repeatingRandomBytes: return bytes.indices.map { UInt8(truncatingIfNeeded: $0) }
    case .shortRandomBytes: return Array(bytes.dropLast())
    default: return bytes
    }
  }

  func seal(_ plaintext: [UInt8], key: SecretBytes, context: [UInt8]) throws(CryptoError) -> [UInt8] {
    switch fault {
    case .ignoresContext: return try real.seal(plaintext, key: key, context: [])
    case .takesShortKeys: return try real.seal(plaintext, key: padded(key), context: context)
    case .sealsNothing: return [UInt8](repeating: 0, count: 12) + plaintext + [UInt8](repeating: 0, count: 16)
    case .constantNonce:
      // As if the nonce were not random.
      let sealed = try real.seal(plaintext, key: key, context: context)
      return [UInt8](repeating: 0, count: 12) + sealed.dropFirst(12)
    default: return try real.seal(plaintext, key: key, context: context)
    }
  }

  func open(_ sealed: [UInt8], key: SecretBytes, context: [UInt8]) throws(CryptoError) -> [UInt8] {
    switch fault {
    case .ignoresContext: return try real.open(sealed, key: key, context: [])
    case .takesShortKeys: return try real.open(sealed, key: padded(key), context: context)
    case .sealsNothing: return Array(sealed.dropFirst(12).dropLast(16))
    case .opensChanged:
      do {
        return try real.open(sealed, key: key, context: context)
      } catch {
        guard error.code == .notAuthentic else { throw error }
        return Array(sealed.dropFirst(12).dropLast(16))
      }
    default: return try real.open(sealed, key: key, context: context)
    }
  }

  func seal(
    _ plaintext: [UInt8], key: SecretBytes, nonce: [UInt8], context: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    let used: [UInt8] =
      switch fault {
      case .ignoresNonce: [UInt8](repeating: 7, count: nonce.count)
      case .takesLongNonces: Array(nonce.prefix(12))
      default: nonce
      }
    return try real.seal(plaintext, key: key, nonce: used, context: fault == .ignoresContext ? [] : context)
  }

  func agreementKey() throws(CryptoError) -> any AgreementKey {
    let fixed = SecretBytes([UInt8](repeating: 7, count: 32))
    return FaultyAgreementKey(
      real: fault == .sameAgreementKey ? try real.agreementKey(privateBytes: fixed) : try real.agreementKey(),
      fault: fault)
  }

  func agreementKey(privateBytes: SecretBytes) throws(CryptoError) -> any AgreementKey {
    do {
      return FaultyAgreementKey(real: try real.agreementKey(privateBytes: privateBytes), fault: fault)
    } catch {
      guard fault == .takesEveryNumber else { throw error }
      return try agreementKey()
    }
  }

  private func padded(_ key: SecretBytes) -> SecretBytes {
    SecretBytes(Array((key.bytes + [UInt8](repeating: 0, count: 32)).prefix(32)))
  }

  func constantTimeEquals(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    switch fault {
    case .comparesPrefixes: zip(first, second).allSatisfy { $0 == $1 }
    case .comparesFirstByte: first.count == second.count && first.first == second.first
    default: real.constantTimeEquals(first, second)
    }
  }

  func crc32c(_ bytes: RawSpan, continuing checksum: UInt32) -> UInt32 {
    real.crc32c(bytes, continuing: fault == .checksumStartsOver ? 0 : checksum)
  }

  func generateSigningKey(_ algorithm: SignatureAlgorithm, keyID: String?) async throws -> any SigningKey {
    FaultySigningKey(real: try await real.generateSigningKey(algorithm, keyID: keyID), fault: fault)
  }

  func signingKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any SigningKey {
    FaultySigningKey(real: try real.signingKey(pem: pem, algorithm: algorithm, keyID: keyID), fault: fault)
  }

  func signingKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any SigningKey {
    FaultySigningKey(real: try real.signingKey(jsonWebKey: jsonWebKey), fault: fault)
  }

  func verificationKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any VerificationKey {
    FaultyVerificationKey(real: try real.verificationKey(pem: pem, algorithm: algorithm, keyID: keyID), fault: fault)
  }

  func verificationKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any VerificationKey {
    FaultyVerificationKey(real: try real.verificationKey(jsonWebKey: jsonWebKey), fault: fault)
  }

  func hashPassword(
    _ password: String, scheme: PasswordScheme, signerKey: SecretBytes?
  ) async throws -> PasswordHash {
    let hash = try await real.hashPassword(password, scheme: scheme, signerKey: signerKey)
    guard fault == .constantSalt else { return hash }
    return try PasswordHash(scheme: scheme, salt: [UInt8](repeating: 1, count: 16), digest: hash.digest)
  }

  func verifyPassword(
    _ password: String, against hash: PasswordHash, signerKey: SecretBytes?
  ) async throws -> Bool {
    let password = fault == .cutsPasswords ? String(password.prefix(1)) : password
    let answer = try await real.verifyPassword(password, against: hash, signerKey: signerKey)
    switch fault {
    case .acceptsAllPasswords: return true
    case .refusesAllPasswords: return false
    default: return answer
    }
  }
}

private struct FaultyAgreementKey: AgreementKey {
  let real: any AgreementKey
  let fault: FaultyProvider.Fault

  var publicPoint: [UInt8] { real.publicPoint }

  func sharedSecret(with point: [UInt8]) throws(CryptoError) -> SecretBytes {
    do {
      return try real.sharedSecret(with: fault == .agreesWithItself ? real.publicPoint : point)
    } catch {
      guard fault == .takesEveryPoint else { throw error }
      return SecretBytes([UInt8](repeating: 0, count: 32))
    }
  }
}

private struct FaultyStream: DigestStream {
  let real: any DigestStream
  let fault: FaultyProvider.Fault

  func update(_ bytes: RawSpan) throws(CryptoError) {
    if fault == .streamForgetsSecondPiece, bytes.byteCount == 63 { return }
    do {
      try real.update(bytes)
    } catch {
      guard fault == .streamNeverEnds else { throw error }
    }
  }

  func finish() throws(CryptoError) -> [UInt8] { try real.finish() }
}

private struct FaultyVerificationKey: VerificationKey {
  let real: any VerificationKey
  let fault: FaultyProvider.Fault

  var algorithm: SignatureAlgorithm { real.algorithm }
  var keyID: String { fault == .forgetsKeyID ? "" : real.keyID }
  var description: String { fault == .talkativeKeys ? "\((try? real.jsonWebKey())?[.n] ?? [])" : real.description }
  var debugDescription: String { real.debugDescription }
  var customMirror: Mirror { real.customMirror }

  func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
    switch fault {
    case .acceptsAllSignatures: true
    case .ignoresMessage: real.isValidSignature(signature, for: Array("message".utf8))
    default: real.isValidSignature(signature, for: message)
    }
  }

  func pem() throws(CryptoError) -> String { try real.pem() }
  func jsonWebKey() throws(CryptoError) -> JSONWebKey { try real.jsonWebKey() }
}

private struct FaultySigningKey: SigningKey {
  let real: any SigningKey
  let fault: FaultyProvider.Fault

  var algorithm: SignatureAlgorithm { real.algorithm }
  var keyID: String { real.keyID }
  var verificationKey: any VerificationKey { FaultyVerificationKey(real: real.verificationKey, fault: fault) }
  var description: String { real.description }
  var debugDescription: String { real.debugDescription }
  var customMirror: Mirror { real.customMirror }

  func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
    let signature = try real.signature(for: message)
    return fault == .derSignatures && algorithm == .es256 ? [0x30, 0x44] + signature : signature
  }

  func privatePEM() throws(CryptoError) -> String { try real.privatePEM() }
  func privateJSONWebKey() throws(CryptoError) -> JSONWebKey { try real.privateJSONWebKey() }
}
