import VestaCore

extension PhoneAuthProvider {
  /// Completion form of ``verifyPhoneNumber(_:uiDelegate:multiFactorSession:)``.
  @preconcurrency
  public func verifyPhoneNumber(
    _ phoneNumber: String, uiDelegate: (any AuthUIDelegate)? = nil, multiFactorSession: MultiFactorSession? = nil,
    completion: (@Sendable (String?, (any Error)?) -> Void)?
  ) {
    CompletionForm.start(on: auth.callbackQueue, completion) {
      try await self.verifyPhoneNumber(phoneNumber, multiFactorSession: multiFactorSession)
    }
  }

  /// Completion form of ``verifyPhoneNumber(with:uiDelegate:multiFactorSession:)``.
  @preconcurrency
  public func verifyPhoneNumber(
    with multiFactorInfo: PhoneMultiFactorInfo, uiDelegate: (any AuthUIDelegate)? = nil,
    multiFactorSession: MultiFactorSession?, completion: (@Sendable (String?, (any Error)?) -> Void)?
  ) {
    CompletionForm.start(on: auth.callbackQueue, completion) {
      try await self.verifyPhoneNumber(with: multiFactorInfo, multiFactorSession: multiFactorSession)
    }
  }
}
