import VestaBytes
public import VestaCryptoInterop

/// The encryption of a message for a browser (RFC 8291), as one record of the coding `aes128gcm` (RFC 8188).
///
/// The push service sees only the salt, the size of records and the public key of the sender.
///
/// ```swift
/// let body = try WebPushCipher(crypto: crypto).encrypt(payload, for: point, authentication: secret)
/// ```
public struct WebPushCipher: Sendable {
  /// The most bytes of a payload: a push service need accept no body beyond 4096 bytes.
  public static let maximumPayload = 3_993

  private static let recordSize: UInt32 = 4_096

  private let crypto: any CryptoProvider

  /// A cipher.
  public init(crypto: any CryptoProvider) { self.crypto = crypto }

  /// Encrypts a payload with a new key and a new salt.
  ///
  /// - Parameters:
  ///   - payload: At most ``maximumPayload`` bytes.
  ///   - point: The public key of the browser, as an uncompressed point.
  ///   - authentication: The secret of the subscription, 16 bytes.
  /// - Returns: The body of the request.
  /// - Throws: `CryptoError` with `.limitExceeded` for a longer payload, `.invalidKey` for a point that is not on the
  ///   curve.
  public func encrypt(
    _ payload: [UInt8], for point: [UInt8], authentication: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    try encrypt(
      payload, for: point, authentication: authentication, key: try crypto.agreementKey(),
      salt: try crypto.randomBytes(count: 16))
  }

  /// Encrypts a payload with a given key and salt, which no other message may have.
  func encrypt(
    _ payload: [UInt8], for point: [UInt8], authentication: [UInt8], key: any AgreementKey, salt: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    guard payload.count <= Self.maximumPayload else {
      throw CryptoError(.limitExceeded, "a payload has at most \(Self.maximumPayload) bytes, not \(payload.count)")
    }
    let input = try crypto.deriveKey(
      from: try key.sharedSecret(with: point), salt: authentication,
      info: Array("WebPush: info\0".utf8) + point + key.publicPoint, count: 32)
    let contentKey = try crypto.deriveKey(
      from: input, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8), count: 16)
    let nonce = try crypto.deriveKey(
      from: input, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), count: 12)
    let size = (0..<4).map { UInt8(truncatingIfNeeded: Self.recordSize >> (24 - 8 * UInt32($0))) }
    let header = salt + size + [UInt8(key.publicPoint.count)] + key.publicPoint
    // 2 ends the last record; no padding follows.
    return header + (try crypto.seal(payload + [2], key: contentKey, nonce: nonce.bytes, context: []))
  }
}
