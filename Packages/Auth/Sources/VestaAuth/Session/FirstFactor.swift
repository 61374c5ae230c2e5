import VestaAuthBackend
import VestaServiceInterop

/// The backend's answer to a credential: a session, a demand for a second factor, or a refusal that names a way out.
struct FirstFactor: Sendable {
  /// The outcome.
  enum Outcome: Sendable {
    case signedIn(AuthTokens)
    case secondFactorRequired(PendingSecondFactor)
    case refused(AuthError)
  }

  let outcome: Outcome
  let info: AdditionalUserInfo?
  let credential: OAuthCredential?
  var isAnonymous = false

  init(_ outcome: Outcome, _ info: AdditionalUserInfo?, credential: OAuthCredential? = nil) {
    self.outcome = outcome
    self.info = info
    self.credential = credential
  }

  /// The tokens, where there are any yet.
  var tokens: AuthTokens? {
    guard case .signedIn(let tokens) = outcome else { return nil }
    return tokens
  }

  /// The tokens; throws where there are none yet.
  ///
  /// - Parameters:
  ///   - auth: The `Auth` in which a second factor continues.
  ///   - tenantID: The tenant of the sign-in, in which a second factor continues.
  ///   - user: The user who signs in again; `nil` for a sign-in.
  func tokensOrError(auth: Auth, tenantID: String?, user: User? = nil) throws -> AuthTokens {
    switch outcome {
    case .signedIn(let tokens): return tokens
    case .refused(let error): throw error
    case .secondFactorRequired(let pending):
      let resolver = MultiFactorResolver(
        auth: auth, tenantID: tenantID, pending: pending, firstFactor: self, user: user)
      throw AuthError(.secondFactorRequired, details: AuthError.Details(resolver: resolver))
    }
  }

  // MARK: Presenting a credential

  /// Presents a credential to the backend, to sign in, or to add it to the account of an ID token.
  static func present(
    _ credential: AuthCredential, idToken: String?, to backend: any AuthBackend, context: CallContext
  ) async throws(AuthServiceError) -> FirstFactor {
    switch credential {
    case let credential as PasswordCredential:
      try await present(credential, idToken: idToken, to: backend, context: context)
    case let credential as EmailLinkCredential:
      try await present(credential, idToken: idToken, to: backend, context: context)
    case let credential as OAuthCredential:
      try await present(credential, idToken: idToken, to: backend, context: context)
    case let credential as PhoneAuthCredential:
      try await present(credential, idToken: idToken, to: backend, context: context)
    default:
      FirstFactor(
        .refused(AuthError(.invalidCredential, "The credential was not made by one of Auth's providers.")), nil)
    }
  }

  private static func present(
    _ credential: PasswordCredential, idToken: String?, to backend: any AuthBackend, context: CallContext
  ) async throws(AuthServiceError) -> FirstFactor {
    let info = AdditionalUserInfo(providerID: credential.provider, isNewUser: false)
    if let idToken {
      let request = SignUpRequest(email: credential.email, password: credential.password, idToken: idToken)
      return FirstFactor(.signedIn(try await backend.signUp(request, context: context).tokens), info)
    }
    let request = PasswordSignInRequest(email: credential.email, password: credential.password)
    return FirstFactor(Outcome(try await backend.signInWithPassword(request, context: context).outcome), info)
  }

  private static func present(
    _ credential: EmailLinkCredential, idToken: String?, to backend: any AuthBackend, context: CallContext
  ) async throws(AuthServiceError) -> FirstFactor {
    guard let url = ActionCodeURL(link: credential.link), url.isSignInLink, let code = url.code else {
      return FirstFactor(.refused(AuthError(.invalidActionCode, "The link is not one to sign in with.")), nil)
    }
    let request = EmailLinkSignInRequest(email: credential.email, oobCode: code, idToken: idToken)
    let response = try await backend.signInWithEmailLink(request, context: context)
    let info = AdditionalUserInfo(providerID: credential.provider, isNewUser: response.isNewUser)
    return FirstFactor(Outcome(response.outcome), info)
  }

  private static func present(
    _ credential: OAuthCredential, idToken: String?, to backend: any AuthBackend, context: CallContext
  ) async throws(AuthServiceError) -> FirstFactor {
    let request = IdpSignInRequest(credential: credential.message, idToken: idToken)
    let response = try await backend.signInWithIdp(request, context: context)
    let issued = OAuthCredential(response) ?? credential
    let info = AdditionalUserInfo(response)
    if let error = refusal(in: response, credential: issued) { return FirstFactor(.refused(error), info) }
    guard let outcome = response.outcome else {
      throw AuthServiceError(.internalError, "a provider's sign-in without an outcome")
    }
    return FirstFactor(Outcome(outcome), info, credential: issued)
  }

  private static func refusal(in response: IdpSignInResponse, credential: OAuthCredential) -> AuthError? {
    let error: AuthError
    if response.needsConfirmation {
      error = AuthError(.accountExistsWithDifferentCredential)
    } else if let message = response.errorMessage {
      let cause = AuthServiceError(wireMessage: message)
      error = AuthErrorTable.error(for: cause) as? AuthError ?? AuthError(.internalError, underlying: cause)
    } else {
      return nil
    }
    return error.with {
      $0.email = response.email
      $0.updatedCredential = credential
    }
  }

  private static func present(
    _ credential: PhoneAuthCredential, idToken: String?, to backend: any AuthBackend, context: CallContext
  ) async throws(AuthServiceError) -> FirstFactor {
    let request = PhoneSignInRequest(proof: credential.proof, idToken: idToken)
    switch try await backend.signInWithPhoneNumber(request, context: context) {
    case .signedIn(_, _, let isNewUser, let tokens):
      return FirstFactor(.signedIn(tokens), AdditionalUserInfo(providerID: credential.provider, isNewUser: isNewUser))
    case .numberInUse(let number, let proof, _):
      let error = AuthError(.credentialAlreadyInUse, "Another account has the phone number.")
      let credential = PhoneAuthCredential(.temporaryProof(phoneNumber: number, proof: proof))
      return FirstFactor(.refused(error.with { $0.updatedCredential = credential }), nil)
    }
  }
}

extension FirstFactor.Outcome {
  init(_ outcome: SignInOutcome) {
    switch outcome {
    case .signedIn(let tokens): self = .signedIn(tokens)
    case .secondFactorRequired(let pending): self = .secondFactorRequired(pending)
    }
  }
}
