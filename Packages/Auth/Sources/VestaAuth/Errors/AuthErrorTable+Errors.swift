import VestaAuthBackend

extension AuthErrorTable {
  /// The error of an operation that the backend has refused.
  static func error(for error: AuthServiceError) -> any Error {
    if error.code == .cancelled { return CancellationError() }
    guard let code = code(for: error.code.rawValue) else {
      // The sentences of stores have their own full stop.
      let text = error.wireMessage.hasSuffix(".") ? error.wireMessage : "\(error.wireMessage)."
      return AuthError(.internalError, "The backend answered \(text)", underlying: error)
    }
    // Where the code says nothing, the backend's text is the whole message.
    let message = error.detail.map { code == .internalError ? $0 : "\(code.message) (\($0))" }
    let reason = code == .weakPassword ? error.detail : nil
    return AuthError(code, message, underlying: error, details: AuthError.Details(failureReason: reason))
  }
}
