import VestaServiceInterop
import VestaCryptoInterop
import Foundation
import VestaAuthBackend
import VestaConcurrency

@testable import VestaAuth

/// A backend that does as the test says: small accounts in memory, errors and delays on request, every call recorded.
final class ScriptedIdentityBackend: AuthBackend {
  struct Account {
    var user: IdentityUser
    var password: String?
    var generation = 1
  }

  struct Call: Sendable {
    let name: String
    let request: any IdentityMessage
    let context: CallContext
    let wasOnWorkQueue: Bool
  }

  struct State {
    var accounts: [String: Account] = [:]
    var calls: [Call] = []
    var errors: [String: IdentityError] = [:]
    var held: Set<String> = []
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var lastNumber = 0
    var pending: [String: String] = [:]
    var codes: [String: ResetPasswordResponse] = [:]
    var arrivals: [(name: String, count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var idpResponse: IdpSignInResponse?
    var phoneInUse = false
    var lifetime: Int64 = 3600
    var tellsAccounts = false
    /// Whether a refresh answers with the token of before, as within the same second.
    var repeatsTokens = false
  }

  let state = Locked(State())

  // MARK: What a test says

  /// Makes a call fail from now on; `nil` ends that.
  func fail(_ name: String, with code: IdentityError.Code?) {
    state.withLock { $0.errors[name] = code.map { IdentityError($0) } }
  }

  func hold(_ name: String) { state.withLock { _ = $0.held.insert(name) } }

  func release(_ name: String) {
    let waiting = state.withLock { state in
      state.held.remove(name)
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.resume() }
  }

  /// Returns when a call has arrived that often.
  func arrival(of name: String, count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.calls.count(where: { $0.name == name }) >= count { return true }
        state.arrivals.append((name, count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  func count(of name: String) -> Int { state.withLock { $0.calls.count { $0.name == name } } }

  var calls: [Call] { state.withLock { $0.calls } }

  func last<Request: IdentityMessage>(_ type: Request.Type) -> Request? {
    calls.reversed().lazy.compactMap { $0.request as? Request }.first
  }

  /// Makes an account with a password, and perhaps second factors.
  @discardableResult
  func addAccount(_ email: String, password: String = "secret1", factors: [MfaEnrollment] = []) -> String {
    state.withLock { state in
      let uid = state.newID("user")
      var user = IdentityUser(localID: uid, email: email, hasPassword: true, createdAt: 1_700_000_000_000)
      user.mfaInfo = factors
      user.providerUserInfo = [ProviderUserInfo(providerID: "password", rawID: email, email: email)]
      state.accounts[uid] = Account(user: user, password: password)
      return uid
    }
  }

  func change(_ uid: String, _ body: (inout IdentityUser) -> Void) {
    state.withLock { state in
      guard var account = state.accounts[uid] else { return }
      body(&account.user)
      state.accounts[uid] = account
    }
  }

  // MARK: Serving

  private func serve<Response>(
    _ name: String, _ request: some IdentityMessage, _ context: CallContext,
    _ body: @Sendable (inout State) throws(IdentityError) -> Response
  ) async throws(IdentityError) -> Response {
    let call = Call(name: name, request: request, context: context, wasOnWorkQueue: AuthActor.queue.isCurrent)
    let (mustWait, arrived) = state.withLock { state in
      state.calls.append(call)
      let count = state.calls.count { $0.name == name }
      let arrived = state.arrivals.filter { $0.name == name && $0.count <= count }.map(\.continuation)
      state.arrivals.removeAll { $0.name == name && $0.count <= count }
      return (state.held.contains(name), arrived)
    }
    for continuation in arrived { continuation.resume() }
    if mustWait { await wait(for: name) }
    if Task.isCancelled { throw IdentityError(.cancelled) }
    return try state.withLock { state throws(IdentityError) in
      if let error = state.errors[name] { throw error }
      return try body(&state)
    }
  }

  private func wait(for name: String) async {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = state.withLock { state in
          if Task.isCancelled || !state.held.contains(name) { return true }
          state.waiting[number] = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
      continuation?.resume()
    }
  }

  // MARK: Signing in

  func signUp(
    _ request: SignUpRequest, context: CallContext
  ) async throws(IdentityError) -> SignUpResponse {
    try await serve("signUp", request, context) { state throws(IdentityError) in
      if let email = request.email, state.accounts.values.contains(where: { $0.user.email == email }) {
        throw IdentityError(.emailExists)
      }
      let uid =
        try request.idToken.map { token throws(IdentityError) in try state.uid(of: token) } ?? state.newID("user")
      var account = state.accounts[uid] ?? Account(user: IdentityUser(localID: uid, createdAt: 1_700_000_000_000))
      account.user.tenantID = context.tenantID
      if let email = request.email {
        (account.user.email, account.user.hasPassword, account.password) = (email, true, request.password)
        account.user.providerUserInfo.append(ProviderUserInfo(providerID: "password", rawID: email, email: email))
      }
      state.accounts[uid] = account
      return SignUpResponse(localID: uid, email: request.email, tokens: state.tokens(for: uid))
    }
  }

  func signInWithPassword(
    _ request: PasswordSignInRequest, context: CallContext
  ) async throws(IdentityError) -> PasswordSignInResponse {
    try await serve("signInWithPassword", request, context) { state throws(IdentityError) in
      guard let account = state.accounts.values.first(where: { $0.user.email == request.email }) else {
        throw IdentityError(.emailNotFound)
      }
      guard account.password == request.password else { throw IdentityError(.invalidPassword) }
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

  func signInWithCustomToken(
    _ request: CustomTokenSignInRequest, context: CallContext
  ) async throws(IdentityError) -> CustomTokenSignInResponse {
    try await serve("signInWithCustomToken", request, context) { state throws(IdentityError) in
      let uid = request.token
      let isNew = state.accounts[uid] == nil
      if isNew { state.accounts[uid] = Account(user: IdentityUser(localID: uid, customAuth: true)) }
      return CustomTokenSignInResponse(localID: uid, isNewUser: isNew, tokens: state.tokens(for: uid))
    }
  }

  func signInWithEmailLink(
    _ request: EmailLinkSignInRequest, context: CallContext
  ) async throws(IdentityError) -> EmailLinkSignInResponse {
    try await serve("signInWithEmailLink", request, context) { state throws(IdentityError) in
      guard request.oobCode == "good" else { throw IdentityError(.invalidOobCode) }
      let uid: String
      if let token = request.idToken {
        uid = try state.uid(of: token)
      } else {
        uid = state.accounts.values.first { $0.user.email == request.email }?.user.localID ?? state.newID("user")
      }
      var account = state.accounts[uid] ?? Account(user: IdentityUser(localID: uid))
      let isNew = state.accounts[uid] == nil
      (account.user.email, account.user.emailVerified, account.user.emailLinkSignIn) = (request.email, true, true)
      account.user.providerUserInfo = [ProviderUserInfo(providerID: "password", rawID: request.email)]
      state.accounts[uid] = account
      return EmailLinkSignInResponse(
        localID: uid, email: request.email, isNewUser: isNew, outcome: .signedIn(state.tokens(for: uid)))
    }
  }

  func signInWithIdp(
    _ request: IdpSignInRequest, context: CallContext
  ) async throws(IdentityError) -> IdpSignInResponse {
    try await serve("signInWithIdp", request, context) { state throws(IdentityError) in
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
      var account = state.accounts[uid] ?? Account(user: IdentityUser(localID: uid))
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

  func sendVerificationCode(
    _ request: SendVerificationCodeRequest, context: CallContext
  ) async throws(IdentityError) -> SendVerificationCodeResponse {
    try await serve("sendVerificationCode", request, context) { _ in
      SendVerificationCodeResponse(sessionInfo: request.phoneNumber)
    }
  }

  func signInWithPhoneNumber(
    _ request: PhoneSignInRequest, context: CallContext
  ) async throws(IdentityError) -> PhoneSignInResponse {
    try await serve("signInWithPhoneNumber", request, context) { state throws(IdentityError) in
      let number: String
      switch request.proof {
      case .code(let sessionInfo, let code):
        guard code == "123456" else { throw IdentityError(.invalidCode) }
        number = sessionInfo
      case .temporaryProof(let phoneNumber, _): number = phoneNumber
      }
      if state.phoneInUse, request.idToken != nil {
        return .numberInUse(phoneNumber: number, temporaryProof: "proof", expiresIn: 3600)
      }
      let found = state.accounts.values.first { $0.user.phoneNumber == number }?.user.localID
      let uid: String
      if let token = request.idToken { uid = try state.uid(of: token) } else { uid = found ?? state.newID("user") }
      var account = state.accounts[uid] ?? Account(user: IdentityUser(localID: uid))
      let isNew = state.accounts[uid] == nil
      account.user.phoneNumber = number
      account.user.providerUserInfo.append(
        ProviderUserInfo(providerID: "phone", rawID: number, phoneNumber: number))
      state.accounts[uid] = account
      return .signedIn(localID: uid, phoneNumber: number, isNewUser: isNew, tokens: state.tokens(for: uid))
    }
  }

  // MARK: The account of an ID token

  func lookup(
    _ request: LookupRequest, context: CallContext
  ) async throws(IdentityError) -> LookupResponse {
    try await serve("lookup", request, context) { state throws(IdentityError) in
      let uid = try state.uid(of: request.idToken)
      return LookupResponse(users: state.accounts[uid].map { [$0.user] } ?? [])
    }
  }

  func update(
    _ request: UpdateRequest, context: CallContext
  ) async throws(IdentityError) -> UpdateResponse {
    try await serve("update", request, context) { state throws(IdentityError) in
      if let code = request.oobCode {
        guard code == "good" else { throw IdentityError(.invalidOobCode) }
        return UpdateResponse(localID: "")
      }
      let uid = try state.uid(of: request.idToken ?? "")
      guard var account = state.accounts[uid] else { throw IdentityError(.userNotFound) }
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

  func delete(_ request: DeleteRequest, context: CallContext) async throws(IdentityError) {
    try await serve("delete", request, context) { state throws(IdentityError) in
      state.accounts[try state.uid(of: request.idToken)] = nil
    }
  }

  // MARK: Codes

  func sendOobCode(
    _ request: SendOobCodeRequest, context: CallContext
  ) async throws(IdentityError) -> SendOobCodeResponse {
    try await serve("sendOobCode", request, context) { _ in SendOobCodeResponse(email: request.email ?? "") }
  }

  func resetPassword(
    _ request: ResetPasswordRequest, context: CallContext
  ) async throws(IdentityError) -> ResetPasswordResponse {
    try await serve("resetPassword", request, context) { state throws(IdentityError) in
      guard let response = state.codes[request.oobCode] else { throw IdentityError(.invalidOobCode) }
      return response
    }
  }

  func createAuthURI(
    _ request: CreateAuthURIRequest, context: CallContext
  ) async throws(IdentityError) -> CreateAuthURIResponse {
    try await serve("createAuthURI", request, context) { _ in
      CreateAuthURIResponse(sessionID: "", signInMethods: ["password", "emailLink"])
    }
  }

  // MARK: Tokens

  func refresh(
    _ request: RefreshRequest, context: CallContext
  ) async throws(IdentityError) -> RefreshResponse {
    try await serve("refresh", request, context) { state throws(IdentityError) in
      let uid = String(request.refreshToken.dropFirst("refresh-".count))
      guard state.accounts[uid] != nil else { throw IdentityError(.userNotFound) }
      return RefreshResponse(tokens: state.tokens(for: uid), userID: uid, projectID: "1")
    }
  }

  func revokeToken(_ request: RevokeTokenRequest, context: CallContext) async throws(IdentityError) {
    try await serve("revokeToken", request, context) { _ in }
  }

  // MARK: Second factors

  func startMfaEnrollment(
    _ request: StartMfaEnrollmentRequest, context: CallContext
  ) async throws(IdentityError) -> StartMfaEnrollmentResponse {
    try await serve("startMfaEnrollment", request, context) { _ in
      switch request.factor {
      case .phone(let number, _): .phone(sessionInfo: number)
      case .totp: .totp(TotpSecret(sharedSecretKey: "SECRET", sessionInfo: "totp", finalizeEnrollmentTime: 0))
      }
    }
  }

  func finalizeMfaEnrollment(
    _ request: FinalizeMfaEnrollmentRequest, context: CallContext
  ) async throws(IdentityError) -> IdentityTokens {
    try await serve("finalizeMfaEnrollment", request, context) { state throws(IdentityError) in
      let uid = try state.uid(of: request.idToken)
      let factor: MfaEnrollment.Factor
      switch request.proof {
      case .phone(let number, let code):
        guard code == "123456" else { throw IdentityError(.invalidCode) }
        factor = .phone(number: number)
      case .totp(_, let code):
        guard code == "123456" else { throw IdentityError(.invalidCode) }
        factor = .totp
      }
      let enrollment = MfaEnrollment(
        mfaEnrollmentID: state.newID("factor"), factor: factor, displayName: request.displayName)
      state.accounts[uid]?.user.mfaInfo.append(enrollment)
      return state.tokens(for: uid)
    }
  }

  func withdrawMfaEnrollment(
    _ request: WithdrawMfaEnrollmentRequest, context: CallContext
  ) async throws(IdentityError) -> IdentityTokens {
    try await serve("withdrawMfaEnrollment", request, context) { state throws(IdentityError) in
      let uid = try state.uid(of: request.idToken)
      let factors = state.accounts[uid]?.user.mfaInfo ?? []
      guard factors.contains(where: { $0.mfaEnrollmentID == request.mfaEnrollmentID }) else {
        throw IdentityError(.mfaEnrollmentNotFound)
      }
      state.accounts[uid]?.user.mfaInfo.removeAll { $0.mfaEnrollmentID == request.mfaEnrollmentID }
      return state.tokens(for: uid)
    }
  }

  func startMfaSignIn(
    _ request: StartMfaSignInRequest, context: CallContext
  ) async throws(IdentityError) -> StartMfaSignInResponse {
    try await serve("startMfaSignIn", request, context) { _ in
      StartMfaSignInResponse(sessionInfo: request.mfaEnrollmentID)
    }
  }

  func finalizeMfaSignIn(
    _ request: FinalizeMfaSignInRequest, context: CallContext
  ) async throws(IdentityError) -> IdentityTokens {
    try await serve("finalizeMfaSignIn", request, context) { state throws(IdentityError) in
      guard let uid = state.pending[request.mfaPendingCredential] else {
        throw IdentityError(.invalidMfaPendingCredential)
      }
      switch request.proof {
      case .phone(_, "123456"), .totp(_, "123456"): return state.tokens(for: uid)
      default: throw IdentityError(.invalidCode)
      }
    }
  }

  // MARK: The project

  func passwordPolicy(context: CallContext) async throws(IdentityError) -> PasswordPolicy { PasswordPolicy() }

  func publicProjectConfig(context: CallContext) async throws(IdentityError) -> PublicProjectConfig {
    PublicProjectConfig(projectID: "demo", authorizedDomains: [])
  }

  func publicKeys(context: CallContext) async throws(IdentityError) -> PublicKeysResponse {
    PublicKeysResponse(jwks: Array("{}".utf8), maximumAge: 0)
  }
}

extension ScriptedIdentityBackend.State {
  mutating func newID(_ kind: String) -> String {
    lastNumber += 1
    return "\(kind)\(lastNumber)"
  }

  mutating func tokens(for uid: String) -> IdentityTokens {
    if !repeatsTokens { lastNumber += 1 }
    let claims = """
      {"sub":"\(uid)","iat":1700000000,"exp":1700003600,"auth_time":1699999999,"n":\(lastNumber),"admin":true,\
      "list":[1,2.5,null],"firebase":{"sign_in_provider":"password","sign_in_second_factor":"totp"}}
      """
    let header = Base64.url.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
    let token = "\(header).\(Base64.url.encode(Array(claims.utf8)))."
    return IdentityTokens(
      idToken: token, refreshToken: "refresh-\(uid)", expiresIn: lifetime,
      account: tellsAccounts ? accounts[uid]?.user : nil)
  }

  func uid(of token: String) throws(IdentityError) -> String {
    guard let uid = try? IDToken(token).uid else { throw IdentityError(.invalidIDToken) }
    guard accounts[uid] != nil else { throw IdentityError(.userNotFound) }
    return uid
  }
}
