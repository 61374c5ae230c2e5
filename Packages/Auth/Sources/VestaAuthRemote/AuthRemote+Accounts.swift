public import VestaAuthBackend
import VestaAuthWire
import VestaBytes
public import VestaServiceInterop

// The account of an ID token, codes by e-mail, and what clients may know of the project.
extension AuthRemote {
  /// The account of an ID token.
  public func lookup(_ request: LookupRequest, context: CallContext) async throws(AuthServiceError) -> LookupResponse {
    try await caller.send(
      .lookup, context, { try LookupRequestWire.json(of: request).stating("idToken", request.idToken) },
      { try LookupResponseWire.message(json: $0, ignoresUnknownNames: true) })
  }

  /// Changes the account of an ID token, or does what an out-of-band code was sent for.
  public func update(_ request: UpdateRequest, context: CallContext) async throws(AuthServiceError) -> UpdateResponse {
    // A code is used up, and a new password ends the session that would repeat the call.
    let isRepeatable = request.oobCode == nil && request.password == nil
    return try await caller.send(
      .update, context, isRepeatable: isRepeatable,
      {
        try UpdateRequestWire.json(of: request).stating("idToken", request.oobCode == nil ? request.idToken ?? "" : nil)
      },
      { try UpdateResponseWire.value(json: $0, ignoresUnknownNames: true) })
  }

  /// Deletes the account of an ID token.
  public func delete(_ request: DeleteRequest, context: CallContext) async throws(AuthServiceError) {
    try await caller.send(
      .delete, context, isRepeatable: false,
      { try DeleteRequestWire.json(of: request).stating("idToken", request.idToken) }, { _ in })
  }

  /// Sends a code by e-mail.
  public func sendOobCode(
    _ request: SendOobCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> SendOobCodeResponse {
    try await caller.send(
      .sendOobCode, context, isRepeatable: false, { try SendOobCodeRequestWire.json(of: request) },
      { try SendOobCodeResponseWire.message(json: $0, ignoresUnknownNames: true) })
  }

  /// Says what a code is for, or resets a password with it.
  public func resetPassword(
    _ request: ResetPasswordRequest, context: CallContext
  ) async throws(AuthServiceError) -> ResetPasswordResponse {
    try await caller.send(
      .resetPassword, context, isRepeatable: request.newPassword == nil,
      { try ResetPasswordRequestWire.json(of: request) },
      { try ResetPasswordResponseWire.value(json: $0, ignoresUnknownNames: true) })
  }

  /// Returns the sign-in methods of an e-mail address.
  public func createAuthURI(
    _ request: CreateAuthURIRequest, context: CallContext
  ) async throws(AuthServiceError) -> CreateAuthURIResponse {
    try await caller.send(
      .createAuthURI, context, { try CreateAuthURIRequestWire.json(of: request) },
      { try CreateAuthURIResponseWire.message(json: $0, ignoresUnknownNames: true) })
  }

  /// Revokes a token of an identity provider that the account of an ID token uses.
  public func revokeToken(_ request: RevokeTokenRequest, context: CallContext) async throws(AuthServiceError) {
    try await caller.send(.revokeToken, context, { try RevokeTokenRequestWire.json(of: request) }, { _ in })
  }

  // MARK: The project

  /// The password policy.
  public func passwordPolicy(context: CallContext) async throws(AuthServiceError) -> PasswordPolicy {
    try await caller.passwordPolicy(context)
  }

  /// Returns the part of the project's settings that clients may read.
  public func publicProjectConfig(context: CallContext) async throws(AuthServiceError) -> PublicProjectConfig {
    try await caller.send(.publicConfig, context) { PublicProjectConfigWire.config($0) }
  }
}

extension [UInt8] {
  /// An object with a member that says "" where a message leaves it out: without it, the call would be another one.
  func stating(_ name: String, _ text: String?) throws(BytesError) -> [UInt8] {
    guard let text, text.isEmpty else { return self }
    var object = try JSONObject(json: self)
    object[name] = .string(text)
    return try object.json()
  }
}
