public import VestaAuthBackend
import VestaBytes

/// An authenticator without hardware, with one passkey: it makes the bytes that a phone or a security key makes.
///
/// Every member can be changed, to see what a service refuses.
public struct VirtualAuthenticator: Sendable {
  /// The public key of a passkey.
  public enum PublicKey: Sendable {
    /// A point on P-256.
    case p256(x: [UInt8], y: [UInt8])
    /// The modulus and the exponent of RSA.
    case rsa(n: [UInt8], e: [UInt8])
  }

  /// The id of the passkey.
  public var credentialID: [UInt8] = Array(1...32)

  /// The page that asks.
  public var origin = "https://localhost"

  /// The domain that the passkey is for; `nil` for that of the options.
  public var relyingPartyID: String?

  /// How often the passkey has signed.
  public var signCount: UInt32 = 0

  /// Whether a person was there.
  public var isUserPresent = true

  /// Whether the page that asks is within a page of another origin.
  public var isCrossOrigin = false

  /// The bytes that a client has signed for a challenge.
  public var signedChallenge: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  private let publicKey: PublicKey
  private let sign: @Sendable ([UInt8]) throws -> [UInt8]

  /// An authenticator with a key.
  ///
  /// - Parameters:
  ///   - publicKey: The public half.
  ///   - sign: Signs with the private half, in the form of RFC 7518.
  public init(publicKey: PublicKey, sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]) {
    self.publicKey = publicKey
    self.sign = sign
  }

  /// The id of the passkey as clients write it.
  public var id: String { Base64.url.encode(credentialID) }

  /// Makes the passkey.
  public func registration(
    for options: PasskeyCreationOptions
  ) -> FinalizePasskeyEnrollmentRequest.Registration {
    let key = [UInt8](repeating: 0, count: 16) + big(credentialID.count, 2) + credentialID + coseKey
    let data = authenticatorData(options.relyingPartyID, flags: 0x40) + key
    let attestation = [0xA3] + text("fmt") + text("none") + text("attStmt") + [0xA0] + text("authData") + bytes(data)
    return FinalizePasskeyEnrollmentRequest.Registration(
      credentialID: id, clientData: clientData("webauthn.create", options.challenge), attestationObject: attestation)
  }

  /// Signs in.
  ///
  /// - Parameters:
  ///   - options: The options.
  ///   - userHandle: The account that the authenticator keeps with the passkey; `nil` for none.
  public func assertion(
    for options: PasskeyRequestOptions, userHandle: [UInt8]? = nil
  ) throws -> FinalizePasskeySignInRequest.Assertion {
    let seen = clientData("webauthn.get", options.challenge)
    let data = authenticatorData(options.relyingPartyID, flags: 0)
    return FinalizePasskeySignInRequest.Assertion(
      credentialID: id, clientData: seen, authenticatorData: data, signature: try signature(data + SHA256.digest(seen)),
      userHandle: userHandle)
  }

  private func clientData(_ type: String, _ challenge: [UInt8]) -> [UInt8] {
    let challenge = Base64.url.encode(signedChallenge(challenge))
    return Array(
      #"{"type":"\#(type)","challenge":"\#(challenge)","origin":"\#(origin)","crossOrigin":\#(isCrossOrigin)}"#.utf8)
  }

  private func authenticatorData(_ party: String, flags: UInt8) -> [UInt8] {
    SHA256.digest(Array((relyingPartyID ?? party).utf8)) + [flags | (isUserPresent ? 1 : 0)] + big(Int(signCount), 4)
  }

  /// The signature as authenticators write it: that of P-256 as two numbers of ASN.1.
  private func signature(_ message: [UInt8]) throws -> [UInt8] {
    let signature = try sign(message)
    guard case .p256 = publicKey, signature.count == 64 else { return signature }
    let numbers = [signature.prefix(32), signature.suffix(32)].flatMap { half -> [UInt8] in
      var number = Array(half.drop { $0 == 0 })
      if number.first.map({ $0 >= 0x80 }) ?? true { number.insert(0, at: 0) }
      return [0x02, UInt8(number.count)] + number
    }
    return [0x30, UInt8(numbers.count)] + numbers
  }

  /// The key as COSE writes it.
  private var coseKey: [UInt8] {
    switch publicKey {
    case .p256(let x, let y): [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21] + bytes(x) + [0x22] + bytes(y)
    case .rsa(let n, let e): [0xA4, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00, 0x20] + bytes(n) + [0x21] + bytes(e)
    }
  }

  private func big(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private func text(_ text: String) -> [UInt8] { [0x60 | UInt8(text.utf8.count)] + text.utf8 }

  private func bytes(_ bytes: [UInt8]) -> [UInt8] { [0x59] + big(bytes.count, 2) + bytes }
}
