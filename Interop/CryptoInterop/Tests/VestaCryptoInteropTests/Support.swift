import VestaCryptoInterop
import VestaTesting

extension SplitMix {
  mutating func bytes(upTo count: Int) -> [UInt8] {
    (0..<Int.random(in: 0...count, using: &self)).map { _ in .random(in: 0...255, using: &self) }
  }

  /// A few random edits: bytes changed, removed, doubled, the end cut off.
  mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    for _ in 0..<Int.random(in: 1...3, using: &self) {
      guard !result.isEmpty else { return [.random(in: 0...255, using: &self)] }
      let index = Int.random(in: 0..<result.count, using: &self)
      switch Int.random(in: 0..<5, using: &self) {
      case 0: result[index] = .random(in: 0...255, using: &self)
      case 1: result[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
      case 2: result.remove(at: index)
      case 3: result.insert(contentsOf: result[index..<min(result.count, index + 8)], at: index)
      default: result.removeLast(result.count - index)
      }
    }
    return result
  }
}

/// A key for tests of the token codec, with no cryptography at all: the "signature" is a checksum with a number in it.
struct FakeKey: SigningKey, VerificationKey {
  var algorithm = SignatureAlgorithm.rs256
  var keyID = "fake"
  var secret: UInt32 = 7

  var verificationKey: any VerificationKey { self }
  var description: String { "FakeKey" }
  var debugDescription: String { "FakeKey" }
  var customMirror: Mirror { Mirror(self, children: []) }

  func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
    var checksum = CRC32C(continuing: secret)
    checksum.update(message)
    return (0..<4).map { UInt8(truncatingIfNeeded: checksum.value >> (8 * $0)) }
  }

  func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
    (try? self.signature(for: message)) == signature
  }

  func pem() throws(CryptoError) -> String { throw CryptoError(.unsupported, "a fake") }
  func jsonWebKey() throws(CryptoError) -> JSONWebKey { throw CryptoError(.unsupported, "a fake") }
  func certificate(_ facts: CertificateFacts) throws(CryptoError) -> String { "" }
  func privatePEM() throws(CryptoError) -> String { throw CryptoError(.unsupported, "a fake") }
  func privateJSONWebKey() throws(CryptoError) -> JSONWebKey { throw CryptoError(.unsupported, "a fake") }
}

func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }
