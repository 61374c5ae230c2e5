// The cast of an error to its code: the runtime asks a type with this conformance when it casts an object to it.
extension AuthErrorCode: _ObjectiveCBridgeable {
  /// An error with the code.
  public func _bridgeToObjectiveC() -> AuthError { AuthError(self) }

  /// The code of an error.
  public static func _forceBridgeFromObjectiveC(_ error: AuthError, result: inout AuthErrorCode?) {
    result = error.code
  }

  /// The code of an error; every error has one.
  public static func _conditionallyBridgeFromObjectiveC(_ error: AuthError, result: inout AuthErrorCode?) -> Bool {
    result = error.code
    return true
  }

  /// The code of an error, and that of a failure without a code for `nil`.
  public static func _unconditionallyBridgeFromObjectiveC(_ error: AuthError?) -> AuthErrorCode {
    error?.code ?? .internalError
  }
}
