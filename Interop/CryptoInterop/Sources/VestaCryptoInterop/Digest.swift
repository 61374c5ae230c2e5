/// A digest (hash function).
public enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// MD5: for checksums and old formats only, it is broken.
  case md5
  /// SHA-1: for old formats only, it is broken.
  case sha1
  /// SHA-256.
  case sha256
  /// SHA-512.
  case sha512

  /// How many bytes a digest has.
  public var byteCount: Int {
    switch self {
    case .md5: 16
    case .sha1: 20
    case .sha256: 32
    case .sha512: 64
    }
  }
}

/// A digest that is fed piece by piece, as an upload needs it.
///
/// May be called from any thread; calls are served one after the other. The result does not depend on how the message
/// was cut into pieces.
public protocol DigestStream: Sendable {
  /// Adds bytes to the message.
  ///
  /// - Parameter bytes: The next bytes, possibly none.
  /// - Throws: `CryptoError` with `.invalidState` after `finish`.
  func update(_ bytes: RawSpan) throws(CryptoError)

  /// Ends the message.
  ///
  /// - Returns: The digest of all bytes.
  /// - Throws: `CryptoError` with `.invalidState` when it was called before.
  func finish() throws(CryptoError) -> [UInt8]
}

extension DigestStream {
  /// Adds an array of bytes to the message.
  ///
  /// - Parameter bytes: The next bytes.
  /// - Throws: `CryptoError` with `.invalidState` after `finish`.
  public func update(_ bytes: [UInt8]) throws(CryptoError) { try update(bytes.span.bytes) }
}
