public import VestaAuthBackend
import VestaBytes
public import VestaServiceInterop

extension ScriptedAuthBackend {
  // MARK: Signing in

  /// Serves `signUp` from the accounts of the script.
  public func signUp(
    _ request: SignUpRequest, context: CallContext
  ) async throws(AuthServiceError) -> SignUpResponse {
    try await serve("signUp", request, context) { state throws(AuthServiceError) in
      if let email = request.email, state.accounts.values.contains(where: { $0.user.email == email }) {
        throw AuthServiceError(.emailExists)
      }
      let uid =
        try request.idToken.map { token throws(AuthServiceError) in try state.uid(of: token) } ?? state.newID("user")
      var account = state.accounts[uid] ?? Account(user: AuthUser(localID: uid, createdAt: 1_700_000_000_000))
      account.user.tenantID = context.tenantID
      if let email = request.email {
        (account.user.email, account.user.hasPassword, account.password) = (email, true, request.password)
        account.user.providerUserInfo.append(ProviderUserInfo(providerID: "password", rawID: email, email: email))
      }
      state.accounts[uid] = account
      return SignUpResponse(localID: uid, email: request.email, tokens: state.tokens(for: uid))
    }
  }

  /// Serves `signInWithPassword` from the accounts of the script.
  public func signInWithPassword(
    _ request: PasswordSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> PasswordSignInResponse {
    try await serve("signInWithPassword", request, context) { state throws(AuthServiceError) in
      guard let account = state.accounts.values.first(where: { $0.user.email == request.email }) else {
        throw AuthServiceError(.emailNotFound)
      }
      guard account.password == request.password else { throw AuthServiceError(.invalidPassword) }
      let user = account.user
      let outcome: SignInOutcome
      if user.mfaInfo.isEmpty {
        outcome = .signedIn(state.tokens(for: user.localID))
      } else {
        let pending = state.newID("pending")
        state.pending[pending] = user.localID
        outcome = .secondFactorRequired(PendingSecondFactor(mfaPendingCredential: pending, factors: user.mfaInfo))
      }
      return PasswordSignInResponse(localID: user.localID, email: request.email, outcome: outcome)
    }
  }

  /// Serves `signInWithCustomToken` from the accounts of the script.
  public func signInWithCustomToken(
    _ request: CustomTokenSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> CustomTokenSignInResponse {
    try await serve("signInWithCustomToken", request, context) { state throws(AuthServiceError) in
      let uid = request.token
      let isNew = state.accounts[uid] == nil
      if isNew { state.accounts[uid] = Account(user: AuthUser(localID: uid, customAuth: true)) }
      return CustomTokenSignInResponse(localID: uid, isNewUser: isNew, tokens: state.tokens(for: uid))
    }
  }

  /// Serves `signInWithEmailLink` from the accounts of the script.
  public func signInWithEmailLink(
    _ request: EmailLinkSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> EmailLinkSignInResponse {
    try await serve("signInWithEmailLink", request, context) { state throws(AuthServiceError) in
      guard request.oobCode == "good" else { throw AuthServiceError(.invalidOobCode) }
      let uid: String
      if let token = request.idToken {
        uid = try state.uid(of: token)
      } else {
        uid = state.accounts.values.first { $0.user.email == request.email }?.user.localID ?? state.newID("user")
      }
      var account = state.accounts[uid] ?? Account(user: AuthUser(localID: uid))
      let isNew = state.accounts[uid] == nil
      (account.user.email, account.user.emailVerified, account.user.emailLinkSignIn) = (request.email, true, true)
      account.user.providerUserInfo = [ProviderUserInfo(providerID: "password", rawID: request.email)]
      state.accounts[uid] = account
      return EmailLinkSignInResponse(
        localID: uid, email: request.email, isNewUser: isNew, outcome: .signedIn(state.tokens(for: uid)))
    }
  }

  /// Serves `signInWithIdp` from the accounts of the script.
  public func signInWithIdp(
    _ request: IdpSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> IdpSignInResponse {
    try await serve("signInWithIdp", request, context) { state throws(AuthServiceError) in
      if let response = state.idpResponse { return response }
      let provider = request.credential.providerID
      let rawID = request.credential.idToken ?? request.credential.accessToken ?? ""
      let found = state.accounts.values.first { account in
        account.user.providerUserInfo.contains { $0.providerID == provider && $0.rawID == rawID }
      }
      let uid: String
      if let token = request.idToken {
        uid = try state.uid(of: token)
      } else {
        uid = found?.user.localID ?? state.newID("user")
      }
      let isNew = state.accounts[uid] == nil
      var account = state.accounts[uid] ?? Account(user: AuthUser(localID: uid))
      account.user.providerUserInfo.removeAll { $0.providerID == provider }
      account.user.providerUserInfo.append(
        ProviderUserInfo(providerID: provider, rawID: rawID, displayName: "Ada", photoURL: "https://example.com/ada"))
      state.accounts[uid] = account
      return IdpSignInResponse(
        providerID: provider, federatedID: rawID, rawID: rawID, localID: uid, screenName: "ada",
        rawUserInfo: #"{"id":"7","name":"Ada"}"#, isNewUser: isNew, oauthAccessToken: "access",
        outcome: .signedIn(state.tokens(for: uid)))
    }
  }

  /// Serves `sendVerificationCode` from the accounts of the script.
  public func sendVerificationCode(
    _ request: SendVerificationCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> SendVerificationCodeResponse {
    try await serve("sendVerificationCode", request, context) { _ in
      SendVerificationCodeResponse(sessionInfo: request.phoneNumber)
    }
  }

  /// Serves `signInWithPhoneNumber` from the accounts of the script.
  public func signInWithPhoneNumber(
    _ request: PhoneSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> PhoneSignInResponse {
    try await serve("signInWithPhoneNumber", request, context) { state throws(AuthServiceError) in
      let number: String
      switch request.proof {
      case .code(let sessionInfo, let code):
        guard code == "123456" else { throw AuthServiceError(.invalidCode) }
        number = sessionInfo
      case .temporaryProof(let phoneNumber, _): number = phoneNumber
      }
      if state.phoneInUse, request.idToken != nil {
        return .numberInUse(phoneNumber: number, temporaryProof: "proof", expiresIn: 3600)
      }
      let found = state.accounts.values.first { $0.user.phoneNumber == number }?.user.localID
      let uid: String
      if let token = request.idToken { uid = try state.uid(of: token) } else { uid = found ?? state.newID("user") }
      var account = state.accounts[uid] ?? Account(user: AuthUser(localID: uid))
      let isNew = state.accounts[uid] == nil
      account.user.phoneNumber = number
      account.user.providerUserInfo.append(
        ProviderUserInfo(providerID: "phone", rawID: number, phoneNumber: number))
      state.accounts[uid] = account
      return .signedIn(localID: uid, phoneNumber: number, isNewUser: isNew, tokens: state.tokens(for: uid))
    }
  }

  // MARK: The account of an ID token

  /// Serves `lookup` from the accounts of the script.
  public func lookup(
    _ request: LookupRequest, context: CallContext
  ) async throws(AuthServiceError) -> LookupResponse {
    try await serve("lookup", request, context) { state throws(AuthServiceError) in
      let uid = try state.uid(of: request.idToken)
      return LookupResponse(users: state.accounts[uid].map { [$0.user] } ?? [])
    }
  }

  /// Serves `update` from the accounts of the script.
  public func update(
    _ request: UpdateRequest, context: CallContext
  ) async throws(AuthServiceError) -> UpdateResponse {
    try await serve("update", request, context) { state throws(AuthServiceError) in
      if let code = request.oobCode {
        guard code == "good" else { throw AuthServiceError(.invalidOobCode) }
        return UpdateResponse(localID: "")
      }
      let uid = try state.uid(of: request.idToken ?? "")
      guard var account = state.accounts[uid] else { throw AuthServiceError(.userNotFound) }
      if let email = request.email { (account.user.email, account.user.emailVerified) = (email, false) }
      if let password = request.password { account.password = password }
      if let name = request.displayName { account.user.displayName = name }
      if let url = request.photoURL { account.user.photoURL = url }
      if request.deleteAttributes.contains(.displayName) { account.user.displayName = nil }
      if request.deleteAttributes.contains(.photoURL) { account.user.photoURL = nil }
      account.user.providerUserInfo.removeAll { request.deleteProviders.contains($0.providerID) }
      let isNewSession = request.password != nil || request.email != nil
      state.accounts[uid] = account
      return UpdateResponse(localID: uid, tokens: isNewSession ? state.tokens(for: uid) : nil)
    }
  }

  /// Serves `delete` from the accounts of the script.
  public func delete(_ request: DeleteRequest, context: CallContext) async throws(AuthServiceError) {
    try await serve("delete", request, context) { state throws(AuthServiceError) in
      state.accounts[try state.uid(of: request.idToken)] = nil
    }
  }

  // MARK: Codes

  /// Serves `sendOobCode` from the accounts of the script.
  public func sendOobCode(
    _ request: SendOobCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> SendOobCodeResponse {
    try await serve("sendOobCode", request, context) { _ in SendOobCodeResponse(email: request.email ?? "") }
  }

  /// Serves `resetPassword` from the accounts of the script.
  public func resetPassword(
    _ request: ResetPasswordRequest, context: CallContext
  ) async throws(AuthServiceError) -> ResetPasswordResponse {
    try await serve("resetPassword", request, context) { state throws(AuthServiceError) in
      guard let response = state.codes[request.oobCode] else { throw AuthServiceError(.invalidOobCode) }
      return response
    }
  }

  /// Serves `createAuthURI` from the accounts of the script.
  public func createAuthURI(
    _ request: CreateAuthURIRequest, context: CallContext
  ) async throws(AuthServiceError) -> CreateAuthURIResponse {
    try await serve("createAuthURI", request, context) { _ in
      CreateAuthURIResponse(sessionID: "", signInMethods: ["password", "emailLink"])
    }
  }

  // MARK: Tokens

  /// Serves `refresh` from the accounts of the script.
  public func refresh(
    _ request: RefreshRequest, context: CallContext
  ) async throws(AuthServiceError) -> RefreshResponse {
    try await serve("refresh", request, context) { state throws(AuthServiceError) in
      let uid = String(request.refreshToken.dropFirst("refresh-".count))
      guard state.accounts[uid] != nil else { throw AuthServiceError(.userNotFound) }
      return RefreshResponse(tokens: state.tokens(for: uid), userID: uid, projectID: "1")
    }
  }

  /// Serves `revokeToken` from the accounts of the script.
  public func revokeToken(_ request: RevokeTokenRequest, context: CallContext) async throws(AuthServiceError) {
    try await serve("revokeToken", request, context) { _ in }
  }

  // MARK: Second factors

  /// Serves `startMfaEnrollment` from the accounts of the script.
  public func startMfaEnrollment(
    _ request: StartMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> StartMfaEnrollmentResponse {
    try await serve("startMfaEnrollment", request, context) { _ in
      switch request.factor {
      case .phone(let number, _): .phone(sessionInfo: number)
      case .totp: .totp(TotpSecret(sharedSecretKey: "SECRET", sessionInfo: "totp", finalizeEnrollmentTime: 0))
      }
    }
  }

  /// Serves `finalizeMfaEnrollment` from the accounts of the script.
  public func finalizeMfaEnrollment(
    _ request: FinalizeMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await serve("finalizeMfaEnrollment", request, context) { state throws(AuthServiceError) in
      let uid = try state.uid(of: request.idToken)
      let factor: MfaEnrollment.Factor
      switch request.proof {
      case .phone(let number, let code):
        guard code == "123456" else { throw AuthServiceError(.invalidCode) }
        factor = .phone(number: number)
      case .totp(_, let code):
        guard code == "123456" else { throw AuthServiceError(.invalidCode) }
        factor = .totp
      }
      let enrollment = MfaEnrollment(
        mfaEnrollmentID: state.newID("factor"), factor: factor, displayName: request.displayName)
      state.accounts[uid]?.user.mfaInfo.append(enrollment)
      return state.tokens(for: uid)
    }
  }

  /// Serves `withdrawMfaEnrollment` from the accounts of the script.
  public func withdrawMfaEnrollment(
    _ request: WithdrawMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await serve("withdrawMfaEnrollment", request, context) { state throws(AuthServiceError) in
      let uid = try state.uid(of: request.idToken)
      let factors = state.accounts[uid]?.user.mfaInfo ?? []
      guard factors.contains(where: { $0.mfaEnrollmentID == request.mfaEnrollmentID }) else {
        throw AuthServiceError(.mfaEnrollmentNotFound)
      }
      state.accounts[uid]?.user.mfaInfo.removeAll { $0.mfaEnrollmentID == request.mfaEnrollmentID }
      return state.tokens(for: uid)
    }
  }

  /// Serves `startMfaSignIn` from the accounts of the script.
  public func startMfaSignIn(
    _ request: StartMfaSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> StartMfaSignInResponse {
    try await serve("startMfaSignIn", request, context) { _ in
      StartMfaSignInResponse(sessionInfo: request.mfaEnrollmentID)
    }
  }

  /// Serves `finalizeMfaSignIn` from the accounts of the script.
  public func finalizeMfaSignIn(
    _ request: FinalizeMfaSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await serve("finalizeMfaSignIn", request, context) { state throws(AuthServiceError) in
      guard let uid = state.pending[request.mfaPendingCredential] else {
        throw AuthServiceError(.invalidMfaPendingCredential)
      }
      switch request.proof {
      case .phone(_, "123456"), .totp(_, "123456"): return state.tokens(for: uid)
      default: throw AuthServiceError(.invalidCode)
      }
    }
  }

  // MARK: The project

  /// Serves `passwordPolicy` from the accounts of the script.
  public func passwordPolicy(context: CallContext) async throws(AuthServiceError) -> PasswordPolicy { PasswordPolicy() }

  /// Serves `publicProjectConfig` from the accounts of the script.
  public func publicProjectConfig(context: CallContext) async throws(AuthServiceError) -> PublicProjectConfig {
    PublicProjectConfig(projectID: "demo", authorizedDomains: [])
  }

  /// Serves `publicKeys` from the accounts of the script.
  public func publicKeys(context: CallContext) async throws(AuthServiceError) -> PublicKeysResponse {
    PublicKeysResponse(jwks: Array("{}".utf8), maximumAge: 0)
  }

  /// Serves `certificates`: none.
  public func certificates(context: CallContext) async throws(AuthServiceError) -> CertificatesResponse {
    CertificatesResponse(certificates: [:], maximumAge: 0)
  }
}

extension ScriptedAuthBackend.State {
  mutating func newID(_ kind: String) -> String {
    lastNumber += 1
    return "\(kind)\(lastNumber)"
  }

  mutating func tokens(for uid: String) -> AuthTokens {
    if !repeatsTokens { lastNumber += 1 }
    let claims = """
      {"sub":"\(uid)","iat":1700000000,"exp":1700003600,"auth_time":1699999999,"n":\(lastNumber),"admin":true,\
      "list":[1,2.5,null],"firebase":{"sign_in_provider":"password","sign_in_second_factor":"totp"}}
      """
    let header = Base64.url.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
    let token = "\(header).\(Base64.url.encode(Array(claims.utf8)))."
    owners[token] = uid
    return AuthTokens(
      idToken: token, refreshToken: "refresh-\(uid)", expiresIn: lifetime,
      account: tellsAccounts ? accounts[uid]?.user : nil)
  }

  func uid(of token: String) throws(AuthServiceError) -> String {
    guard let uid = owners[token] else { throw AuthServiceError(.invalidIDToken) }
    guard accounts[uid] != nil else { throw AuthServiceError(.userNotFound) }
    return uid
  }
}
