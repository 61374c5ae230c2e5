import Foundation
import VestaAuthBackend
import VestaBytes

/// A secret for an authenticator app.
public final class TOTPSecret: Sendable {
  let message: TotpSecret

  init(_ message: TotpSecret) { self.message = message }

  /// The secret, for a user who types it.
  public func sharedSecretKey() -> String { message.sharedSecretKey }

  /// The secret as a link that authenticator apps read from a QR code.
  ///
  /// - Parameters:
  ///   - accountName: The name of the account in the authenticator app, such as the e-mail address.
  ///   - issuer: The name of the service in the authenticator app.
  /// - Returns: An `otpauth` link.
  public func generateQRCodeURL(withAccountName accountName: String, issuer: String) -> String {
    let issuer = Self.escaped(issuer)
    return "otpauth://totp/\(issuer):\(Self.escaped(accountName))?secret=\(message.sharedSecretKey)"
      + "&issuer=\(issuer)&algorithm=\(message.hashingAlgorithm)"
      + "&digits=\(message.verificationCodeLength)&period=\(message.periodSeconds)"
  }

  private static func escaped(_ text: String) -> String {
    PercentEncoding.alphanumeric.encode(text)
  }
}
