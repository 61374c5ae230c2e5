import Foundation
import VestaAuthBackend

extension User {
  // MARK: The profile

  /// Returns a new change of the profile, without changes yet.
  public func createProfileChangeRequest() -> UserProfileChangeRequest { UserProfileChangeRequest(user: self) }

  /// Changes the password; all other sessions of the account end.
  ///
  /// - Parameter password: The new password.
  /// - Throws: ``AuthError``: `weakPassword`, `passwordDoesNotMeetRequirements`, `requiresRecentLogin`. The password is
  ///   unchanged.
  public func updatePassword(to password: String) async throws {
    guard !password.isEmpty else { throw AuthError.emptyNewPassword }
    try await AuthActor.run { try await self.update { UpdateRequest(idToken: $0, password: password) } }
  }

  /// Changes the e-mail address at once, where the project allows that.
  ///
  /// Firebase's SDK deprecates it for ``sendEmailVerification(beforeUpdatingEmail:actionCodeSettings:)``.
  ///
  /// - Parameter email: The new address.
  /// - Throws: ``AuthError``: `emailAlreadyInUse`, `invalidEmail`, `requiresRecentLogin`, `operationNotAllowed`.
  public func updateEmail(to email: String) async throws {
    guard !email.isEmpty else { throw AuthError(.missingEmail) }
    try await AuthActor.run { try await self.update { UpdateRequest(idToken: $0, email: email) } }
  }

  /// Changes the account and takes over how it is afterwards.
  @AuthActor
  func update(_ request: @escaping @Sendable (_ idToken: String) -> UpdateRequest) async throws {
    _ = try await change(bringing: \.tokens) { idToken, backend, context throws(AuthServiceError) in
      try await backend.update(request(idToken), context: context)
    }
    try await lookUp()
  }

  /// Reloads the user from the backend.
  ///
  /// - Throws: ``AuthError``.
  public func reload() async throws { try await AuthActor.run { try await self.lookUp() } }

  // MARK: E-mails

  /// Sends an e-mail with a link that proves that the address is the user's.
  ///
  /// - Parameter actionCodeSettings: The settings of the link.
  /// - Throws: ``AuthError``.
  public func sendEmailVerification(with actionCodeSettings: ActionCodeSettings? = nil) async throws {
    let settings = OobLinkSettings(actionCodeSettings)
    try await sendCode { idToken in
      SendOobCodeRequest(requestType: .verifyEmail, idToken: idToken, settings: settings)
    }
  }

  /// Sends an e-mail to a new address, with a link that makes it the user's.
  ///
  /// - Parameters:
  ///   - newEmail: The new address.
  ///   - actionCodeSettings: The settings of the link.
  /// - Throws: ``AuthError``.
  public func sendEmailVerification(
    beforeUpdatingEmail newEmail: String, actionCodeSettings: ActionCodeSettings? = nil
  ) async throws {
    let settings = OobLinkSettings(actionCodeSettings)
    try await sendCode { idToken in
      SendOobCodeRequest(requestType: .verifyAndChangeEmail, newEmail: newEmail, idToken: idToken, settings: settings)
    }
  }

  private func sendCode(_ request: @escaping @Sendable (_ idToken: String) -> SendOobCodeRequest) async throws {
    _ = try await performAuthorized { idToken, backend, context throws(AuthServiceError) in
      try await backend.sendOobCode(request(idToken), context: context)
    }
  }

  // MARK: The end

  /// Deletes the account and signs the user out.
  ///
  /// - Throws: ``AuthError``: `requiresRecentLogin`. The account is still there.
  public func delete() async throws { try await AuthActor.run { try await self.performDelete() } }

  @AuthActor
  private func performDelete() async throws {
    try await authorized { idToken, backend, context throws(AuthServiceError) in
      try await backend.delete(DeleteRequest(idToken: idToken), context: context)
    }
    let auth = try owner
    if auth.user === self { try auth.setCurrentUser(nil) }
  }
}

extension OobLinkSettings {
  init(_ settings: ActionCodeSettings?) {
    guard let values = settings?.snapshot else {
      self.init()
      return
    }
    self.init(
      continueURL: values.url?.absoluteString,
      canHandleCodeInApp: values.handleCodeInApp,
      iosBundleID: values.iOSBundleID,
      androidPackageName: values.androidPackageName,
      androidInstallApp: values.androidInstallIfNotAvailable,
      androidMinimumVersion: values.androidMinimumVersion,
      linkDomain: values.linkDomain
    )
  }
}
