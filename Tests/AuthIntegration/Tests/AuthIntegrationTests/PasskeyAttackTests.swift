import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaBytes
import VestaCrypto
import VestaCryptoInterop
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaAuthService

/// Passkeys whose numbers were chosen by an attacker, with real crypto.
@Suite struct PasskeyAttackTests {
  private let crypto = OpenSSLCrypto()
  private let party = PasskeyRelyingParty.localhost

  private func options() -> PasskeyCreationOptions {
    PasskeyCreationOptions(
      relyingPartyID: party.id, relyingPartyName: "", userID: [1], userName: "", displayName: "", challenge: [1, 2, 3])
  }

  private func refusal(_ key: VirtualAuthenticator.PublicKey) -> AuthServiceError.Code? {
    let registration = VirtualAuthenticator(publicKey: key) { _ in [] }.registration(for: options())
    do {
      _ = try PasskeyCheck(party: party, crypto: crypto).registration(registration)
      return nil
    } catch {
      return (error as? AuthServiceError)?.code ?? .internalError
    }
  }

  /// A point on the curve.
  private func point() async throws -> (x: [UInt8], y: [UInt8]) {
    let key = try await crypto.generateSigningKey(.es256).verificationKey.jsonWebKey()
    return (try #require(key[.x]), try #require(key[.y]))
  }

  @Test func `points that are not on the curve are refused by their name`() async throws {
    let (x, y) = try await point()
    #expect(refusal(.p256(x: x, y: y)) == nil)
    let zero = [UInt8](repeating: 0, count: 32)
    let prime = try Hex.decode("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    let wrong: [([UInt8], [UInt8])] = [
      (zero, zero), (x, x), (y, x), (x, zero), (zero, y), (prime, y), (x, prime),
      ([UInt8](repeating: 0xFF, count: 32), y),
      ([], []), (x, []), (Array(x.dropLast()), y), (x + [0], y), ([0] + x, y), (x + y, []), ([0], [0]),
      ([UInt8](repeating: 1, count: 60_000), y),
    ]
    for (x, y) in wrong {
      #expect(refusal(.p256(x: x, y: y)) == .invalidAuthenticatorResponse, "\(x.prefix(40)) \(y.prefix(40))")
    }
  }

  /// A number of that many bytes that the library takes for a modulus.
  private func modulus(bytes: Int) throws -> [UInt8] {
    var random = SplitMix(seed: 11)
    while true {
      var n = (0..<bytes).map { _ in UInt8.random(in: 0...255, using: &random) }
      n[0] |= 0x80
      n[bytes - 1] |= 1
      let key = try JSONWebKey(keyType: .rsa, algorithm: .rs256, parameters: [.n: n, .e: [1, 0, 1]])
      if (try? crypto.verificationKey(jsonWebKey: key)) != nil { return n }
    }
  }

  @Test func `keys of RSA that are weak or that take long are refused by their name`() throws {
    let n = try modulus(bytes: 256)
    #expect(refusal(.rsa(n: n, e: [1, 0, 1])) == nil)
    #expect(refusal(.rsa(n: try modulus(bytes: 512), e: [1, 0, 1])) == nil)
    let large = try modulus(bytes: 1_024)
    let even = Array(n.dropLast()) + [n[255] & 0xFE]
    let wrong: [([UInt8], [UInt8])] = [
      (n, [1]), (n, [0]), (n, []), (n, [2]), (n, [1, 0, 0]), (n, n), (n, [1, 0, 0, 0, 1]), ([], [1, 0, 1]),
      ([15], [3]), (Array(n.prefix(128)), [1, 0, 1]), (even, [1, 0, 1]), (large, [1, 0, 1]),
      ([UInt8](repeating: 0xFF, count: 60_000), [1, 0, 1]), ([UInt8](repeating: 0, count: 256), [1, 0, 1]),
    ]
    for (n, e) in wrong {
      #expect(refusal(.rsa(n: n, e: e)) == .invalidAuthenticatorResponse, "\(n.count) bytes, \(e.prefix(8))")
    }
  }
}
