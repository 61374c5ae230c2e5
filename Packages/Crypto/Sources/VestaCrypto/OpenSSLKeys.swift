import CVestaOpenSSL
import VestaCryptoInterop

/// A public key in libcrypto's hands.
final class OpenSSLVerificationKey: VerificationKey {
  let keyID: String
  private let handle: KeyHandle

  init(_ handle: KeyHandle, keyID: String) {
    self.handle = handle
    self.keyID = keyID
  }

  var algorithm: SignatureAlgorithm { handle.algorithm }

  func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
    switch algorithm {
    case .rs256: handle.verify(signature, message)
    case .es256: ECDSASignature.der(fromJoined: signature).map { handle.verify($0, message) } ?? false
    }
  }

  func pem() throws(CryptoError) -> String { try handle.publicPEM() }

  func jsonWebKey() throws(CryptoError) -> JSONWebKey {
    try handle.jsonWebKey(keyID: keyID, withPrivate: false)
  }
}

/// A private key in libcrypto's hands.
final class OpenSSLSigningKey: SigningKey {
  let keyID: String
  private let handle: KeyHandle

  init(_ handle: KeyHandle, keyID: String) {
    self.handle = handle
    self.keyID = keyID
  }

  var algorithm: SignatureAlgorithm { handle.algorithm }

  /// Shares the handle: the public key cannot do more with it than its methods do.
  var verificationKey: any VerificationKey { OpenSSLVerificationKey(handle, keyID: keyID) }

  func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
    let signature = try handle.sign(message)
    return algorithm == .es256 ? try ECDSASignature.joined(fromDER: signature) : signature
  }

  func privatePEM() throws(CryptoError) -> String { try handle.privatePEM() }

  func privateJSONWebKey() throws(CryptoError) -> JSONWebKey {
    try handle.jsonWebKey(keyID: keyID, withPrivate: true)
  }

  func certificate(_ facts: CertificateFacts) throws(CryptoError) -> String { try handle.certificate(facts) }
}

// The public facts about a key: its purpose and its id.
extension OpenSSLVerificationKey {
  var description: String { "VerificationKey(\(algorithm.rawValue), kid: \(keyID))" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}

extension OpenSSLSigningKey {
  var description: String { "SigningKey(\(algorithm.rawValue), kid: \(keyID))" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}
