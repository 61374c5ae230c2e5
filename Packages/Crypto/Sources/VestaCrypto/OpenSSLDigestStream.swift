import CVestaOpenSSL
import VestaConcurrency
import VestaCryptoInterop

/// A digest context guarded by a lock, so that an upload may move between threads.
final class OpenSSLDigestStream: DigestStream {
  /// A digest context of libcrypto.
  // Sound as @unchecked Sendable: used under the lock, or by the one caller that has taken it out.
  private struct Context: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  /// The context until the stream is finished; freed by `finish` or with the stream.
  private let context: Locked<Context?>
  private let byteCount: Int

  init(_ algorithm: DigestAlgorithm) throws(CryptoError) {
    let function = try FetchedDigest.of(algorithm)
    guard let pointer = EVP_MD_CTX_new() else { throw libraryFailure("out of memory") }
    guard EVP_DigestInit_ex2(pointer, function.pointer, nil) == 1 else {
      EVP_MD_CTX_free(pointer)
      throw libraryFailure("a digest could not be started")
    }
    context = Locked(Context(pointer: pointer))
    byteCount = algorithm.byteCount
  }

  deinit { EVP_MD_CTX_free(takeContext()?.pointer) }

  func update(_ bytes: RawSpan) throws(CryptoError) {
    let status: Int32? = bytes.withUnsafeBytes { buffer in
      context.withLock { context in
        context.map { EVP_DigestUpdate($0.pointer, buffer.baseAddress, buffer.count) }
      }
    }
    guard let status else { throw Self.finished }
    guard status == 1 else { throw libraryFailure("a digest could not be continued") }
  }

  func finish() throws(CryptoError) -> [UInt8] {
    guard let ending = takeContext() else { throw Self.finished }
    defer { EVP_MD_CTX_free(ending.pointer) }
    return try filled(byteCount, "digest") { EVP_DigestFinal_ex(ending.pointer, $0, nil) }
  }

  private func takeContext() -> Context? {
    context.withLock { context in
      defer { context = nil }
      return context
    }
  }

  private static var finished: CryptoError { CryptoError(.invalidState, "the digest stream is finished") }
}
