import CVestaOpenSSL
import VestaCryptoInterop

/// Takes the errors of a failure out of libcrypto's queue for this thread, so that nothing is left in it.
///
/// The text holds reasons and routine names only, no data.
func libraryFailure(_ what: String, code: CryptoError.Code = .libraryFailure) -> CryptoError {
  var reasons: [String] = []
  while true {
    let error = ERR_get_error()
    guard error != 0 else { break }
    if reasons.count < 4, let reason = ERR_reason_error_string(error) { reasons.append(String(cString: reason)) }
  }
  return CryptoError(code, reasons.isEmpty ? what : "\(what): \(reasons.joined(separator: "; "))")
}

/// An array that a C function fills.
///
/// - Parameters:
///   - count: The number of bytes.
///   - what: The name of the content, for the error.
///   - fill: Fills the bytes; returns 1 on success, as functions of libcrypto do.
func filled(
  _ count: Int, _ what: String, _ fill: (UnsafeMutablePointer<UInt8>?) -> Int32
) throws(CryptoError) -> [UInt8] {
  var status: Int32 = 0
  let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
    buffer.initialize(repeating: 0)
    status = fill(buffer.baseAddress)
    initialized = count
  }
  guard status == 1 else { throw libraryFailure("\(what) failed") }
  return bytes
}

/// A digest function, looked up once: the search by name costs more than a short digest.
// Sound as @unchecked Sendable: libcrypto never changes a fetched function, and these are never freed.
struct FetchedDigest: @unchecked Sendable {
  let pointer: OpaquePointer

  private static let md5 = FetchedDigest("MD5")
  private static let sha1 = FetchedDigest("SHA1")
  private static let sha256 = FetchedDigest("SHA256")
  private static let sha512 = FetchedDigest("SHA512")

  private init?(_ name: String) {
    guard let pointer = EVP_MD_fetch(nil, name, nil) else {
      ERR_clear_error()
      return nil
    }
    self.pointer = pointer
  }

  static func of(_ algorithm: DigestAlgorithm) throws(CryptoError) -> FetchedDigest {
    let function =
      switch algorithm {
      case .md5: md5
      case .sha1: sha1
      case .sha256: sha256
      case .sha512: sha512
      }
    guard let function else {
      throw CryptoError(.unsupported, "libcrypto on this system does not offer \(algorithm.rawValue)")
    }
    return function
  }
}

/// Bytes that are wiped before their memory is given back.
struct WipedBytes: ~Copyable {
  private let buffer: UnsafeMutableBufferPointer<UInt8>

  /// Zeros.
  init(count: Int) {
    buffer = .allocate(capacity: count)
    buffer.initialize(repeating: 0)
  }

  /// A copy of `bytes`, with room for more bytes after them.
  init(_ bytes: some Collection<UInt8>, zeros: Int = 0) {
    self.init(count: bytes.count + zeros)
    for (index, byte) in bytes.enumerated() { buffer[index] = byte }
  }

  deinit {
    OPENSSL_cleanse(buffer.baseAddress, buffer.count)
    buffer.deallocate()
  }

  var count: Int { buffer.count }

  // The pointer is good as long as the value lives; callers use it for one C call.
  var pointer: UnsafeMutablePointer<UInt8>? { buffer.baseAddress }

  /// The first bytes, at most `length` of them.
  func prefix(_ length: Int) -> UnsafeMutableBufferPointer<UInt8>.SubSequence { buffer.prefix(length) }

  /// A plain copy, where the bytes are the result and no longer secret.
  var copy: [UInt8] { Array(buffer) }
}
