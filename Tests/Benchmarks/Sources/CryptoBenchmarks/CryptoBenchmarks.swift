public import BenchmarkKit
import CVestaOpenSSL
import VestaCrypto
import VestaCryptoInterop

/// The cost of the crypto plug-in, compared with calls of libcrypto as from C with everything set up beforehand.
public func cryptoBenchmarks() -> [Benchmark] {
  [
    signing(.rs256, bar: 1.1), verifying(.rs256, bar: 1.4), signing(.es256, bar: 1.4), verifying(.es256, bar: 1.2),
    digest(64, bar: .ratio(atMost: 2)), digest(1 << 20, bar: .ratio(atMost: 1.05)), keyedHash, checksum(64),
    checksum(1 << 20), scrypt, token,
  ]
}

private let crypto = OpenSSLCrypto()
private let message = [UInt8](repeating: 0x61, count: 700)

// MARK: - Signatures

private func signing(_ algorithm: SignatureAlgorithm, bar: Double) -> Benchmark {
  let count = algorithm == .rs256 ? 300 : 3000
  let pair = Pair(algorithm)
  return Benchmark(
    name: "\(algorithm.rawValue.lowercased())-sign", unit: .microseconds, bar: .ratio(atMost: bar),
    ours: ("signature(for:)", { sum(count) { (try? pair.ours.signature(for: message).count) ?? 0 } }),
    other: ("EVP_PKEY_sign", { sum(count) { pair.raw.sign() } }))
}

private func verifying(_ algorithm: SignatureAlgorithm, bar: Double) -> Benchmark {
  let pair = Pair(algorithm)
  let key = pair.ours.verificationKey
  let signature = (try? pair.ours.signature(for: message)) ?? []
  precondition(key.isValidSignature(signature, for: message))
  _ = pair.raw.sign()
  return Benchmark(
    name: "\(algorithm.rawValue.lowercased())-verify", unit: .microseconds, bar: .ratio(atMost: bar),
    ours: ("isValidSignature", { sum(3000) { key.isValidSignature(signature, for: message) ? 1 : 0 } }),
    other: ("EVP_PKEY_verify", { sum(3000) { pair.raw.verify() } }))
}

private var token: Benchmark {
  let key = Pair(.es256).ours
  let text = (try? JWT.sign(["iss": "me", "aud": "you", "sub": "somebody", "exp": 2000], with: key)) ?? ""
  let verifier = JWTVerifier(issuers: ["me"], audiences: ["you"])
  let parts = text.split(separator: ".")
  let input = Array(parts.dropLast().joined(separator: ".").utf8)
  let signature = (try? Base64.url.decode(parts.last ?? "")) ?? []
  let publicKey = key.verificationKey
  return Benchmark(
    name: "jwt-verify", unit: .microseconds, bar: .ratio(atMost: 1.3),
    ours: (
      "JWTVerifier, ES256",
      { sum(3000) { (try? verifier.verify(text, at: 1500, keys: [publicKey]).claims.members.count) ?? 0 } }
    ),
    other: ("its signature alone", { sum(3000) { publicKey.isValidSignature(signature, for: input) ? 1 : 0 } }))
}

// MARK: - Digests

private func digest(_ size: Int, bar: Benchmark.Bar) -> Benchmark {
  let bytes = [UInt8](repeating: 7, count: size)
  let count = max(100, 1_000_000 / size)
  let raw = RawDigest()
  return Benchmark(
    name: "sha256-\(size)", bar: bar,
    ours: ("digest(.sha256)", { sum(count) { (try? crypto.digest(.sha256, of: bytes).count) ?? 0 } }),
    other: ("EVP_Digest* in one context", { sum(count) { raw.digest(bytes) } }))
}

private var keyedHash: Benchmark {
  let key = [UInt8](repeating: 1, count: 32)
  return Benchmark(
    name: "hmac-sha256-700", bar: .none,
    ours: ("hmac", { sum(10_000) { (try? crypto.hmac(.sha256, key: key, message: message).count) ?? 0 } }),
    other: (
      "HMAC of libcrypto",
      { sum(10_000) { HMAC(EVP_sha256(), key, 32, message, message.count, nil, nil) == nil ? 0 : 1 } }
    ))
}

private func checksum(_ size: Int) -> Benchmark {
  let bytes = [UInt8](repeating: 7, count: size)
  let count = max(100, 10_000_000 / size)
  return Benchmark(
    name: "crc32c-\(size)", bar: .ratio(atMost: 0.5),
    ours: ("crc32c", { sum(count) { Int(crypto.crc32c(bytes)) } }),
    other: ("a table of 256", { sum(count) { Int(TableChecksum.value(of: bytes)) } }))
}

/// The checksum as a textbook has it, one byte at a time: what an engine without special instructions would pay.
private enum TableChecksum {
  static func value(of bytes: [UInt8]) -> UInt32 {
    var crc = UInt32.max
    for byte in bytes {
      let index = Int((crc ^ UInt32(byte)) & 0xFF)
      crc = table[index] ^ (crc >> 8)
    }
    return ~crc
  }

  private static let table: [UInt32] = (0..<256).map { byte in
    var crc = UInt32(byte)
    for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0x82F6_3B78 : crc >> 1 }
    return crc
  }
}

// MARK: - Passwords

private var scrypt: Benchmark {
  Benchmark(
    name: "scrypt-2^14", unit: .microseconds, bar: .ratio(atMost: 1.1),
    ours: (
      "hashPassword",
      { await measure(10) { for _ in 0..<$0 { keep(try? await crypto.hashPassword("correct horse")) } } }
    ),
    other: (
      "EVP_PBE_scrypt",
      {
        sum(10) {
          var key = [UInt8](repeating: 0, count: 32)
          return Int(EVP_PBE_scrypt("correct horse", 13, message, 16, 1 << 14, 8, 1, 64 << 20, &key, 32))
        }
      }
    ))
}

// MARK: - libcrypto as from C

/// One key for both sides.
private struct Pair: Sendable {
  let ours: any SigningKey
  let raw: RawKey

  init(_ algorithm: SignatureAlgorithm) {
    guard let key = Self.generatedKey(algorithm), let pem = try? Self.pem(key),
      let ours = try? crypto.signingKey(pem: pem, algorithm: algorithm, keyID: "bench")
    else { preconditionFailure("libcrypto makes no \(algorithm.rawValue) key") }
    self.ours = ours
    raw = RawKey(key)
  }

  private static func generatedKey(_ algorithm: SignatureAlgorithm) -> OpaquePointer? {
    var key: OpaquePointer?
    let context = EVP_PKEY_CTX_new_from_name(nil, algorithm == .rs256 ? "RSA" : "EC", nil)
    defer { EVP_PKEY_CTX_free(context) }
    EVP_PKEY_keygen_init(context)
    if algorithm == .es256 { EVP_PKEY_CTX_set_group_name(context, "P-256") }
    EVP_PKEY_generate(context, &key)
    return key
  }

  private static func pem(_ key: OpaquePointer) throws -> String {
    let info = EVP_PKEY2PKCS8(key)
    defer { PKCS8_PRIV_KEY_INFO_free(info) }
    var bytes: UnsafeMutablePointer<UInt8>?
    let length = i2d_PKCS8_PRIV_KEY_INFO(info, &bytes)
    defer { CRYPTO_free(bytes, "", 0) }
    return PEM(label: "PRIVATE KEY", bytes: Array(UnsafeBufferPointer(start: bytes, count: Int(length)))).text
  }
}

/// Contexts that are set up once and sign a digest that is there already, as `openssl speed` does it.
// Sound as @unchecked Sendable: benchmarks run one after the other.
private final class RawKey: @unchecked Sendable {
  private let signer: OpaquePointer?
  private let verifier: OpaquePointer?
  private let digest = [UInt8](repeating: 5, count: 32)
  private var signature = [UInt8](repeating: 0, count: 512)
  private var length = 0

  init(_ key: OpaquePointer) {
    signer = EVP_PKEY_CTX_new_from_pkey(nil, key, nil)
    verifier = EVP_PKEY_CTX_new_from_pkey(nil, key, nil)
    EVP_PKEY_sign_init(signer)
    EVP_PKEY_verify_init(verifier)
    for context in [signer, verifier] { EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) }
  }

  func sign() -> Int {
    length = signature.count
    return Int(EVP_PKEY_sign(signer, &signature, &length, digest, digest.count))
  }

  func verify() -> Int { Int(EVP_PKEY_verify(verifier, signature, length, digest, digest.count)) }
}

/// One context for all digests.
// Sound as @unchecked Sendable: benchmarks run one after the other.
private final class RawDigest: @unchecked Sendable {
  private let context = EVP_MD_CTX_new()
  private let function = EVP_MD_fetch(nil, "SHA256", nil)
  private var result = [UInt8](repeating: 0, count: 32)

  func digest(_ bytes: [UInt8]) -> Int {
    EVP_DigestInit_ex2(context, function, nil)
    EVP_DigestUpdate(context, bytes, bytes.count)
    return Int(EVP_DigestFinal_ex(context, &result, nil))
  }
}
