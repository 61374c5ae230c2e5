import VestaAuthBackend
import VestaServiceInterop

extension Auth {
  // MARK: E-mail and password

  /// Signs in with an e-mail address and a password.
  ///
  /// - Parameters:
  ///   - email: The address.
  ///   - password: The password.
  /// - Returns: The user, who is now the current user.
  /// - Throws: ``AuthError``: `invalidCredential` (or `wrongPassword` and `userNotFound` where the project reveals
  ///   which), `userDisabled`, `tooManyRequests`, `secondFactorRequired`. On failure the current user is unchanged.
  @discardableResult
  public func signIn(withEmail email: String, password: String) async throws -> AuthDataResult {
    guard !password.isEmpty else { throw AuthError(.wrongPassword, "The password is empty.") }
    return try await signIn(with: EmailAuthProvider.credential(withEmail: email, password: password))
  }

  /// Creates an account with an e-mail address and a password, and signs in to it.
  ///
  /// - Parameters:
  ///   - email: The address.
  ///   - password: The password.
  /// - Returns: The user, who is now the current user.
  /// - Throws: ``AuthError``: `emailAlreadyInUse`, `invalidEmail`, `weakPassword`, `passwordDoesNotMeetRequirements`,
  ///   `operationNotAllowed`. On failure the current user is unchanged.
  @discardableResult
  public func createUser(withEmail email: String, password: String) async throws -> AuthDataResult {
    guard !email.isEmpty else { throw AuthError(.missingEmail) }
    guard !password.isEmpty else { throw AuthError.emptyNewPassword }
    return try await performSignIn { backend, context throws(AuthServiceError) in
      let response = try await backend.signUp(SignUpRequest(email: email, password: password), context: context)
      return FirstFactor(
        .signedIn(response.tokens), AdditionalUserInfo(providerID: EmailAuthProvider.id, isNewUser: true))
    }
  }

  // MARK: E-mail link

  /// Signs in with the link that was sent to an e-mail address; creates an account if there is none.
  ///
  /// - Parameters:
  ///   - email: The address.
  ///   - link: The link, see ``sendSignInLink(toEmail:actionCodeSettings:)``.
  /// - Returns: The user, who is now the current user.
  /// - Throws: ``AuthError``: `invalidActionCode`, `expiredActionCode`, `invalidEmail` when the link went elsewhere.
  @discardableResult
  public func signIn(withEmail email: String, link: String) async throws -> AuthDataResult {
    try await signIn(with: EmailAuthProvider.credential(withEmail: email, link: link))
  }

  /// Whether a link is one to sign in with.
  ///
  /// - Parameter link: Any string.
  /// - Returns: `true` when ``signIn(withEmail:link:)`` can try it.
  public func isSignIn(withEmailLink link: String) -> Bool { ActionCodeURL(link: link)?.isSignInLink ?? false }

  // MARK: Any credential

  /// Signs in with a credential; creates an account if there is none, unless it takes a password.
  ///
  /// - Parameter credential: The proof of the identity.
  /// - Returns: The user, who is now the current user.
  /// - Throws: ``AuthError``: `invalidCredential`, `userDisabled`, `secondFactorRequired` with the resolver that
  ///   continues the sign-in, `accountExistsWithDifferentCredential`. On failure the current user is unchanged.
  @discardableResult
  public func signIn(with credential: AuthCredential) async throws -> AuthDataResult {
    try await performSignIn { backend, context throws(AuthServiceError) in
      try await FirstFactor.present(credential, idToken: nil, to: backend, context: context)
    }
  }

  // MARK: Anonymously

  /// Signs in anonymously.
  ///
  /// A user who is signed in anonymously stays signed in, with the same id.
  ///
  /// - Returns: The user, who is now the current user.
  /// - Throws: ``AuthError``: `adminRestrictedOperation`: anonymous accounts are disabled in the project's settings.
  @discardableResult
  public func signInAnonymously() async throws -> AuthDataResult {
    try await AuthActor.run { try await self.performAnonymousSignIn() }
  }

  @AuthActor
  private func performAnonymousSignIn() async throws -> AuthDataResult {
    if let user = currentUserIfReadable(), user.record.isAnonymous {
      return AuthDataResult(user: user, additionalUserInfo: AdditionalUserInfo(providerID: "", isNewUser: false))
    }
    return try await performSignIn { backend, context throws(AuthServiceError) in
      let response = try await backend.signUp(SignUpRequest(), context: context)
      var signIn = FirstFactor(.signedIn(response.tokens), AdditionalUserInfo(providerID: "", isNewUser: true))
      signIn.isAnonymous = true
      return signIn
    }
  }

  // MARK: Custom token

  /// Signs in with a token that a server of the project has made; creates an account if there is none.
  ///
  /// - Parameter token: The token.
  /// - Returns: The user, who is now the current user.
  /// - Throws: ``AuthError``: `invalidCustomToken`, `customTokenMismatch`, `userDisabled`.
  @discardableResult
  public func signIn(withCustomToken token: String) async throws -> AuthDataResult {
    try await performSignIn { backend, context throws(AuthServiceError) in
      let response = try await backend.signInWithCustomToken(CustomTokenSignInRequest(token: token), context: context)
      return FirstFactor(
        .signedIn(response.tokens), AdditionalUserInfo(providerID: "", isNewUser: response.isNewUser))
    }
  }

  // MARK: Shared by all sign-ins

  private func performSignIn(
    _ operation:
      @escaping @Sendable (any AuthBackend, CallContext) async throws(AuthServiceError) ->
      FirstFactor
  ) async throws -> AuthDataResult {
    let (context, caller) = try await AuthActor.run { (try self.callContext(), self.caller) }
    return try await performSignIn(context, caller, operation)
  }

  /// Makes both calls, and the user the current one, without changing threads: that costs more than the look-up.
  @concurrent
  private func performSignIn(
    _ context: CallContext, _ caller: AuthCaller,
    _ operation: @Sendable (any AuthBackend, CallContext) async throws(AuthServiceError) -> FirstFactor
  ) async throws -> AuthDataResult {
    let (signIn, found) = try await caller.call(context: context) { backend, context throws(AuthServiceError) in
      let signIn = try await operation(backend, context)
      guard case .signedIn(let tokens) = signIn.outcome else { return (signIn, LookupResponse?.none) }
      return (signIn, try await Self.look(up: tokens, backend, context))
    }
    let tokens = try signIn.tokensOrError(auth: self, tenantID: context.tenantID)
    return try AuthActor.sync { try adopt(tokens, signIn, found) }
  }

  /// Makes the user of new tokens the current one.
  @AuthActor
  func finishSignIn(
    _ tokens: AuthTokens, _ signIn: FirstFactor, inTenant tenantID: String?
  ) async throws -> AuthDataResult {
    let found = try await call(inTenant: tenantID) { backend, context throws(AuthServiceError) in
      try await Self.look(up: tokens, backend, context)
    }
    return try adopt(tokens, signIn, found)
  }

  /// Requests the account of new tokens, unless the response had it.
  private static func look(
    up tokens: AuthTokens, _ backend: any AuthBackend, _ context: CallContext
  ) async throws(AuthServiceError) -> LookupResponse? {
    guard tokens.account == nil else { return nil }
    return try await backend.lookup(LookupRequest(idToken: tokens.idToken), context: context)
  }

  @AuthActor
  private func adopt(
    _ tokens: AuthTokens, _ signIn: FirstFactor, _ response: LookupResponse?
  ) throws -> AuthDataResult {
    let found = try tokens.account ?? Self.account(of: tokens, in: response)
    let record = SessionUser(found, wasAnonymous: signIn.isAnonymous)
    let user = User(auth: self, record: record, tokens: TokenSet(tokens, now: clock.date()))
    try setCurrentUser(user)
    return AuthDataResult(user: user, additionalUserInfo: signIn.info, credential: signIn.credential)
  }

  private static func account(of tokens: AuthTokens, in response: LookupResponse?) throws -> AuthUser {
    let uid = try IDToken(tokens.idToken).uid
    guard let found = response?.users.first(where: { $0.localID == uid }) else {
      throw AuthError(.internalError, "The backend does not describe the user who has signed in.")
    }
    return found
  }
}
