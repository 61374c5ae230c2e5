import VestaAuthBackend
import VestaServiceInterop

@testable import VestaAuthService

/// A backend over a good one, whose methods can be replaced one by one.
struct WrongBackend: AuthBackend {
  typealias Method<Request, Response> =
    @Sendable (World, Request, CallContext) async throws -> Response

  let world = World { $0.initialConfig.hidesEmails = false }

  var signsUp: Method<SignUpRequest, SignUpResponse> = { try await $0.engine.signUp($1, context: $2) }
  var signsIn: Method<PasswordSignInRequest, PasswordSignInResponse> = {
    try await $0.engine.signInWithPassword($1, context: $2)
  }
  var signsInByLink: Method<EmailLinkSignInRequest, EmailLinkSignInResponse> = {
    try await $0.engine.signInWithEmailLink($1, context: $2)
  }
  var sendsText: Method<SendVerificationCodeRequest, SendVerificationCodeResponse> = {
    try await $0.engine.sendVerificationCode($1, context: $2)
  }
  var signsInByPhone: Method<PhoneSignInRequest, PhoneSignInResponse> = {
    try await $0.engine.signInWithPhoneNumber($1, context: $2)
  }
  var looksUp: Method<LookupRequest, LookupResponse> = { try await $0.engine.lookup($1, context: $2) }
  var updates: Method<UpdateRequest, UpdateResponse> = { try await $0.engine.update($1, context: $2) }
  var deletes: Method<DeleteRequest, Void> = { try await $0.engine.delete($1, context: $2) }
  var sendsCode: Method<SendOobCodeRequest, SendOobCodeResponse> = {
    try await $0.engine.sendOobCode($1, context: $2)
  }
  var resets: Method<ResetPasswordRequest, ResetPasswordResponse> = {
    try await $0.engine.resetPassword($1, context: $2)
  }
  var createsURI: Method<CreateAuthURIRequest, CreateAuthURIResponse> = {
    try await $0.engine.createAuthURI($1, context: $2)
  }
  var refreshes: Method<RefreshRequest, RefreshResponse> = { try await $0.engine.refresh($1, context: $2) }
  var publishes: Method<Void, PublicKeysResponse> = { world, _, context in
    try await world.engine.publicKeys(context: context)
  }
  var certifies: Method<Void, CertificatesResponse> = { world, _, context in
    try await world.engine.certificates(context: context)
  }

  private func call<Request, Response>(
    _ method: Method<Request, Response>, _ request: Request, _ context: CallContext
  ) async throws(AuthServiceError) -> Response {
    do {
      return try await method(world, request, context)
    } catch {
      throw error as? AuthServiceError ?? AuthServiceError(.internalError)
    }
  }
}

// MARK: The methods that can be replaced

extension WrongBackend {
  func signUp(_ request: SignUpRequest, context: CallContext) async throws(AuthServiceError) -> SignUpResponse {
    try await call(signsUp, request, context)
  }
  func signInWithPassword(
    _ request: PasswordSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> PasswordSignInResponse { try await call(signsIn, request, context) }
  func signInWithEmailLink(
    _ request: EmailLinkSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> EmailLinkSignInResponse { try await call(signsInByLink, request, context) }
  func sendVerificationCode(
    _ request: SendVerificationCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> SendVerificationCodeResponse { try await call(sendsText, request, context) }
  func signInWithPhoneNumber(
    _ request: PhoneSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> PhoneSignInResponse { try await call(signsInByPhone, request, context) }
  func lookup(_ request: LookupRequest, context: CallContext) async throws(AuthServiceError) -> LookupResponse {
    try await call(looksUp, request, context)
  }
  func update(_ request: UpdateRequest, context: CallContext) async throws(AuthServiceError) -> UpdateResponse {
    try await call(updates, request, context)
  }
  func delete(_ request: DeleteRequest, context: CallContext) async throws(AuthServiceError) {
    try await call(deletes, request, context)
  }
  func sendOobCode(
    _ request: SendOobCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> SendOobCodeResponse { try await call(sendsCode, request, context) }
  func resetPassword(
    _ request: ResetPasswordRequest, context: CallContext
  ) async throws(AuthServiceError) -> ResetPasswordResponse { try await call(resets, request, context) }
  func createAuthURI(
    _ request: CreateAuthURIRequest, context: CallContext
  ) async throws(AuthServiceError) -> CreateAuthURIResponse { try await call(createsURI, request, context) }
  func refresh(
    _ request: RefreshRequest, context: CallContext
  ) async throws(AuthServiceError) -> RefreshResponse { try await call(refreshes, request, context) }
  func publicKeys(context: CallContext) async throws(AuthServiceError) -> PublicKeysResponse {
    try await call(publishes, (), context)
  }
  func certificates(context: CallContext) async throws(AuthServiceError) -> CertificatesResponse {
    try await call(certifies, (), context)
  }
}

// MARK: The others

extension WrongBackend {
  func signInWithCustomToken(
    _ request: CustomTokenSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> CustomTokenSignInResponse {
    try await world.engine.signInWithCustomToken(request, context: context)
  }
  func signInWithIdp(
    _ request: IdpSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> IdpSignInResponse {
    try await world.engine.signInWithIdp(request, context: context)
  }
  func revokeToken(_ request: RevokeTokenRequest, context: CallContext) async throws(AuthServiceError) {
    try await world.engine.revokeToken(request, context: context)
  }
  func startMfaEnrollment(
    _ request: StartMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> StartMfaEnrollmentResponse {
    try await world.engine.startMfaEnrollment(request, context: context)
  }
  func finalizeMfaEnrollment(
    _ request: FinalizeMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await world.engine.finalizeMfaEnrollment(request, context: context)
  }
  func withdrawMfaEnrollment(
    _ request: WithdrawMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await world.engine.withdrawMfaEnrollment(request, context: context)
  }
  func startMfaSignIn(
    _ request: StartMfaSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> StartMfaSignInResponse {
    try await world.engine.startMfaSignIn(request, context: context)
  }
  func finalizeMfaSignIn(
    _ request: FinalizeMfaSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await world.engine.finalizeMfaSignIn(request, context: context)
  }
  func passwordPolicy(context: CallContext) async throws(AuthServiceError) -> PasswordPolicy {
    try await world.engine.passwordPolicy(context: context)
  }
  func publicProjectConfig(context: CallContext) async throws(AuthServiceError) -> PublicProjectConfig {
    try await world.engine.publicProjectConfig(context: context)
  }
}
