public import VestaAuthBackend
import VestaBytes
import VestaServiceInterop

/// Errors of the identity service as responses, and back.
///
/// The message is a code, or a code and a detail: `EMAIL_EXISTS`, or `WEAK_PASSWORD : Use more characters`.
public enum AuthErrorWire {
  /// The status and the body of an error.
  ///
  /// Errors of the accounts are 400 without a canonical status; a canonical code has its own status of HTTP.
  public static func response(of error: AuthServiceError) -> (status: Int, body: [UInt8]) {
    let canonical = canonical(error.code)
    let status = canonical?.httpStatus ?? (error.code == .notImplemented ? 501 : 400)
    let envelope = ErrorEnvelope(
      code: status, message: error.wireMessage, status: canonical?.name ?? (status == 501 ? "NOT_IMPLEMENTED" : nil),
      reason: "invalid")
    return (status, (try? envelope.object.json()) ?? [])
  }

  /// The error of a response that is not a success.
  ///
  /// - Parameters:
  ///   - status: The status of HTTP, which counts where the body says nothing.
  ///   - body: The body.
  public static func error(status: Int, body: [UInt8]) -> AuthServiceError {
    guard let envelope = ErrorEnvelope(json: body), !envelope.message.isEmpty else {
      return status >= 500 || status == 429
        ? AuthServiceError(status == 500 ? .internalError : .unavailable, "HTTP status \(status)")
        : AuthServiceError(.internalError, "HTTP status \(status)")
    }
    let error = AuthServiceError(wireMessage: envelope.message)
    if isCode(error.code.rawValue) { return error }
    // A sentence: the canonical status is the code, and the sentence its detail.
    let code = envelope.status ?? ServiceCode(httpStatus: status).name
    return AuthServiceError(AuthServiceError.Code(code), envelope.message)
  }

  private static func canonical(_ code: AuthServiceError.Code) -> ServiceCode? {
    // No error of accounts has one of these names.
    ServiceCode(name: code.rawValue)
  }

  /// Whether a string is a code: capital letters, digits and underscores.
  private static func isCode(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 &- 65 < 26 || $0 &- 48 < 10 || $0 == UInt8(ascii: "_") }
  }
}
