import Foundation
import VestaAuthBackend

extension User {
  // MARK: The profile

  /// What is to be changed of the profile; nothing yet.
  public func createProfileChangeRequest() -> UserProfileChangeRequest { UserProfileChangeRequest(user: self) }

  /// Changes the password; all other sessions of the account end.
  ///
  /// - Parameter password: The new password.
  /// - Throws: ``AuthError``: `weakPassword`, `passwordDoesNotMeetRequirements`, `requiresRecentLogin`. The password is
  ///   unchanged.
  public func updatePassword(to password: String) async throws {
    guard !password.isEmpty else { throw AuthError(.weakPassword, "The password is empty.") }
    try await AuthActor.run { try await self.update { UpdateRequest(idToken: $0, password: password) } }
  }

  /// Changes the password; all other sessions of the account end.
  ///
  /// - Parameters:
  ///   - password: The new password.
  ///   - completion: Gets what ``updatePassword(to:)`` throws, on the callback queue.
  public func updatePassword(to password: String, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.updatePassword(to: password) }
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

  /// Changes the e-mail address at once, where the project allows that.
  ///
  /// - Parameters:
  ///   - email: The new address.
  ///   - completion: Gets what ``updateEmail(to:)`` throws, on the callback queue.
  public func updateEmail(to email: String, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.updateEmail(to: email) }
  }

  /// Changes the account and takes over how it is afterwards.
  @AuthActor
  func update(_ request: @escaping @Sendable (_ idToken: String) -> UpdateRequest) async throws {
    let response = try await authorized { idToken, backend, context throws(IdentityError) in
      try await backend.update(request(idToken), context: context)
    }
    try await finishChange(response.tokens)
  }

  /// Asks the backend what is known of the user.
  ///
  /// - Throws: ``AuthError``.
  public func reload() async throws { try await AuthActor.run { try await self.lookUp() } }

  /// Asks the backend what is known of the user.
  ///
  /// - Parameter completion: Gets what ``reload()`` throws, on the callback queue.
  public func reload(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.reload() }
  }

  // MARK: E-mails

  /// Sends an e-mail with a link that proves that the address is the user's.
  ///
  /// - Parameter actionCodeSettings: Where the link leads.
  /// - Throws: ``AuthError``.
  public func sendEmailVerification(with actionCodeSettings: ActionCodeSettings? = nil) async throws {
    let settings = OobLinkSettings(actionCodeSettings)
    try await sendCode { idToken in
      SendOobCodeRequest(requestType: .verifyEmail, idToken: idToken, settings: settings)
    }
  }

  /// Sends an e-mail with a link that proves that the address is the user's.
  ///
  /// - Parameters:
  ///   - actionCodeSettings: Where the link leads.
  ///   - completion: Gets what ``sendEmailVerification(with:)`` throws, on the callback queue.
  public func sendEmailVerification(
    with actionCodeSettings: ActionCodeSettings? = nil, completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) {
      try await self.sendEmailVerification(with: actionCodeSettings)
    }
  }

  /// Sends an e-mail to a new address, with a link that makes it the user's.
  ///
  /// - Parameters:
  ///   - newEmail: The new address.
  ///   - actionCodeSettings: Where the link leads.
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
    _ = try await performAuthorized { idToken, backend, context throws(IdentityError) in
      try await backend.sendOobCode(request(idToken), context: context)
    }
  }

  /// Sends an e-mail to a new address, with a link that makes it the user's.
  ///
  /// - Parameters:
  ///   - email: The new address.
  ///   - actionCodeSettings: Where the link leads.
  ///   - completion: Gets what the `async` form throws, on the callback queue.
  public func sendEmailVerification(
    beforeUpdatingEmail email: String, actionCodeSettings: ActionCodeSettings? = nil,
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    CompletionForm.start(on: callbackQueue, completion) {
      try await self.sendEmailVerification(beforeUpdatingEmail: email, actionCodeSettings: actionCodeSettings)
    }
  }

  // MARK: The end

  /// Deletes the account and signs the user out.
  ///
  /// - Throws: ``AuthError``: `requiresRecentLogin`. The account is still there.
  public func delete() async throws { try await AuthActor.run { try await self.performDelete() } }

  /// Deletes the account and signs the user out.
  ///
  /// - Parameter completion: Gets what ``delete()`` throws, on the callback queue.
  public func delete(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    CompletionForm.start(on: callbackQueue, completion) { try await self.delete() }
  }

  @AuthActor
  private func performDelete() async throws {
    try await authorized { idToken, backend, context throws(IdentityError) in
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
