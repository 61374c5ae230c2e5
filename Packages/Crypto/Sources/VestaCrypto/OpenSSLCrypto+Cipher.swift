import CVestaOpenSSL
public import VestaCryptoInterop

extension OpenSSLCrypto {
  private static let nonceLength = 12
  private static let tagLength = 16

  /// Encrypts and authenticates bytes (AES-256-GCM).
  public func seal(_ plaintext: [UInt8], key: SecretBytes, context: [UInt8]) throws(CryptoError) -> [UInt8] {
    let nonce = try randomBytes(count: Self.nonceLength)
    let run = try CipherRun(.seal, .gcm256, key: key, nonce: nonce, context: context)
    let ciphertext = try run.update(plaintext)
    guard run.finish() else { throw libraryFailure("sealing failed") }
    return nonce + ciphertext + (try run.tag(length: Self.tagLength))
  }

  /// Encrypts and authenticates bytes (AES-128-GCM) with a nonce of the caller.
  public func seal(
    _ plaintext: [UInt8], key: SecretBytes, nonce: [UInt8], context: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    guard nonce.count == Self.nonceLength else {
      throw CryptoError(.invalidParameter, "the nonce of AES-128-GCM has 12 bytes")
    }
    let run = try CipherRun(.seal, .gcm128, key: key, nonce: nonce, context: context)
    let ciphertext = try run.update(plaintext)
    guard run.finish() else { throw libraryFailure("sealing failed") }
    return ciphertext + (try run.tag(length: Self.tagLength))
  }

  /// Decrypts what `seal` has made, if not a bit of it was changed.
  public func open(_ sealed: [UInt8], key: SecretBytes, context: [UInt8]) throws(CryptoError) -> [UInt8] {
    try CipherRun.check(key, .gcm256)
    guard sealed.count >= Self.nonceLength + Self.tagLength else {
      throw CryptoError(.malformed, "sealed bytes have at least 28 bytes")
    }
    let nonce = Array(sealed.prefix(Self.nonceLength))
    let ciphertext = Array(sealed[Self.nonceLength..<(sealed.count - Self.tagLength)])
    let run = try CipherRun(.open, .gcm256, key: key, nonce: nonce, context: context)
    let plaintext = try run.update(ciphertext)
    try run.expectTag(Array(sealed.suffix(Self.tagLength)))
    // Nothing of the plaintext leaves before the tag has been compared.
    guard run.finish() else {
      ERR_clear_error()
      throw CryptoError(.notAuthentic, "the sealed bytes were changed, or sealed with another key or context")
    }
    return plaintext
  }
}

/// The ciphers, by libcrypto's names.
private enum CipherKind: String {
  case gcm128 = "AES-128-GCM"
  case gcm256 = "AES-256-GCM"

  var keyLength: Int { self == .gcm128 ? 16 : 32 }
}

/// One run of a cipher over one message.
private struct CipherRun: ~Copyable {
  enum Direction: Int32 { case open = 0, seal = 1 }

  private let context: OpaquePointer
  private let hasBegun: Bool

  static func check(_ key: SecretBytes, _ kind: CipherKind) throws(CryptoError) {
    guard key.bytes.count == kind.keyLength else {
      throw CryptoError(.invalidKey, "the key of \(kind.rawValue) has \(kind.keyLength) bytes")
    }
  }

  init(
    _ direction: Direction, _ kind: CipherKind, key: SecretBytes, nonce: [UInt8], context associated: [UInt8]
  ) throws(CryptoError) {
    try Self.check(key, kind)
    guard let cipher = FetchedCipher.of(kind) else {
      throw CryptoError(.unsupported, "libcrypto on this system does not offer \(kind.rawValue)")
    }
    guard let count = Int32(exactly: associated.count) else {
      throw CryptoError(.limitExceeded, "the context has at most 2 GiB")
    }
    guard let context = EVP_CIPHER_CTX_new() else { throw libraryFailure("out of memory") }
    self.context = context
    var written: Int32 = 0
    // The nonce has GCM's standard length of 12 bytes.
    hasBegun =
      EVP_CipherInit_ex2(context, cipher.pointer, key.bytes, nonce, direction.rawValue, nil) == 1
      && (count == 0 || EVP_CipherUpdate(context, nil, &written, associated, count) == 1)
  }

  deinit { EVP_CIPHER_CTX_free(context) }

  /// The other form of some bytes.
  func update(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard Int32(exactly: bytes.count) != nil else {
      throw CryptoError(.limitExceeded, "at most 2 GiB can be sealed at once")
    }
    guard hasBegun else { throw libraryFailure("the cipher could not be started") }
    if bytes.isEmpty { return [] }
    var written: Int32 = 0
    return try filled(bytes.count, "the cipher") { output in
      EVP_CipherUpdate(context, output, &written, bytes, Int32(bytes.count))
    }
  }

  /// Ends the message; when opening, whether the tag is right.
  func finish() -> Bool {
    var written: Int32 = 0
    var rest = [UInt8](repeating: 0, count: 16)
    return EVP_CipherFinal_ex(context, &rest, &written) == 1
  }

  func tag(length: Int) throws(CryptoError) -> [UInt8] {
    try filled(length, "the tag") { output in
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(length), output)
    }
  }

  func expectTag(_ tag: [UInt8]) throws(CryptoError) {
    var tag = tag
    guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1 else {
      throw libraryFailure("the tag could not be set")
    }
  }
}

/// A cipher, looked up once.
// Sound as @unchecked Sendable: libcrypto never changes a fetched cipher, and this one is never freed.
private struct FetchedCipher: @unchecked Sendable {
  let pointer: OpaquePointer

  private static let gcm128 = FetchedCipher(.gcm128)
  private static let gcm256 = FetchedCipher(.gcm256)

  static func of(_ kind: CipherKind) -> FetchedCipher? { kind == .gcm128 ? gcm128 : gcm256 }

  private init?(_ kind: CipherKind) {
    guard let pointer = EVP_CIPHER_fetch(nil, kind.rawValue, nil) else {
      ERR_clear_error()
      return nil
    }
    self.pointer = pointer
  }
}
