import CVestaOpenSSL
public import VestaCryptoInterop

/// The `CryptoProvider` on OpenSSL's libcrypto (3.0 or later).
///
/// A value whose only state is the threads that hash passwords; make one for a program and share it. The
/// synchronous calls run on the caller's thread. Password hashing and key generation take milliseconds: they run on a
/// small set of threads, in the order of the calls, and wait without blocking a thread of the caller.
///
/// ```swift
/// let crypto = OpenSSLCrypto()
/// let hash = try await crypto.hashPassword("correct horse")
/// try await crypto.verifyPassword("correct horse", against: hash)  // true
/// ```
public struct OpenSSLCrypto: CryptoProvider {
  let workers: BoundedWorkers

  /// A provider with dedicated threads for slow work.
  ///
  /// - Parameter slowOperations: How many passwords may be hashed at the same time; each takes a core, and 16 MiB of
  ///   memory with the standard scheme. By default one less than there are cores, between 1 and 8.
  public init(slowOperations: Int? = nil) {
    workers = BoundedWorkers(limit: slowOperations ?? Self.slowOperations(cores: Platform.processorCount))
  }

  /// One core is left for everything else, if there is another.
  static func slowOperations(cores: Int) -> Int { min(8, max(1, cores - 1)) }

  /// The digest of a run of bytes.
  public func digest(_ algorithm: DigestAlgorithm, of bytes: RawSpan) throws(CryptoError) -> [UInt8] {
    let function = try FetchedDigest.of(algorithm)
    return try filled(algorithm.byteCount, "digest") { output in
      bytes.withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, output, nil, function.pointer, nil) }
    }
  }

  /// A digest that is fed piece by piece.
  public func makeDigestStream(_ algorithm: DigestAlgorithm) throws(CryptoError) -> any DigestStream {
    try OpenSSLDigestStream(algorithm)
  }

  /// The keyed hash (HMAC) of a message.
  public func hmac(_ algorithm: DigestAlgorithm, key: [UInt8], message: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard let keyLength = Int32(exactly: key.count) else {
      throw CryptoError(.invalidParameter, "HMAC: the key is too long")
    }
    let function = try FetchedDigest.of(algorithm)
    return try filled(algorithm.byteCount, "HMAC") { output in
      HMAC(function.pointer, key, keyLength, message, message.count, output, nil) == nil ? 0 : 1
    }
  }

  /// Bytes that cannot be predicted.
  public func randomBytes(count: Int) throws(CryptoError) -> [UInt8] {
    guard (0...16 << 20).contains(count) else {
      throw CryptoError(.invalidParameter, "random bytes: 0 to 16 Mi can be had at once")
    }
    return try filled(count, "random bytes") { RAND_bytes($0, Int32(count)) }
  }

  /// Compares two secrets in a time that depends on their lengths alone.
  public func constantTimeEquals(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    first.count == second.count && CRYPTO_memcmp(first, second, first.count) == 0
  }
}
