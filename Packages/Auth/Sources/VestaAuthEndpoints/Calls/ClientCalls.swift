import VestaAuthBackend
import VestaAuthWire
import VestaBytes
import VestaServiceInterop

// The calls of clients, each a request, a method of the backend, and a response.

extension AuthExchange {
  /// A call in the table: reads the request, calls the backend, writes the response.
  private typealias Call = @Sendable (AuthExchange, any AuthBackend) async throws -> [UInt8]

  func respondToClient(_ call: AuthRoute.Call) async throws -> [UInt8] {
    guard let respond = Self.signIns[call] ?? Self.accounts[call] ?? Self.secondFactors[call] ?? Self.passkeys[call]
    else {
      // It is an owner's alone; the engine would say the same.
      throw AuthServiceError(.permissionDenied, "The call is for owners of the project.")
    }
    try checkPrivileges(call)
    return try await respond(self, try client)
  }

  /// Refuses members that only an owner may send: a client would believe that they have had an effect.
  private func checkPrivileges(_ call: AuthRoute.Call) throws {
    guard !isOwners else { return }
    func has(_ name: String, _ other: String) -> Bool {
      switch object[name] ?? object[other] {
      case nil, .null?, .bool(false)?: false
      default: true
      }
    }
    switch call {
    case .signUp where has("localId", "local_id"): throw AuthServiceError(.init("UNEXPECTED_PARAMETER"), "User ID")
    case .update where has("customAttributes", "custom_attributes"),
      .sendOobCode where has("returnOobLink", "return_oob_link"):
      throw AuthServiceError(.init("INSUFFICIENT_PERMISSION"))
    case .update where has("disableUser", "disable_user"): throw AuthServiceError(.operationNotAllowed)
    default: break
    }
  }

  private static let signIns: [AuthRoute.Call: Call] = [
    .signUp: {
      try SignUpResponseWire.json(of: try await $1.signUp(try $0.read(SignUpRequestWire.self), context: $0.context))
    },
    .signInWithPassword: {
      // An empty address is not missing: forms send what was typed, and clients have another error for a missing one.
      guard $0.object["email"] != "" else { throw AuthServiceError(.invalidEmail) }
      return try PasswordSignInResponseWire.json(
        of: try await $1.signInWithPassword(try $0.read(PasswordSignInRequestWire.self), context: $0.context))
    },
    .signInWithCustomToken: {
      try CustomTokenSignInResponseWire.json(
        of: try await $1.signInWithCustomToken(try $0.read(CustomTokenSignInRequestWire.self), context: $0.context))
    },
    .signInWithEmailLink: {
      try EmailLinkSignInResponseWire.json(
        of: try await $1.signInWithEmailLink(try $0.read(EmailLinkSignInRequestWire.self), context: $0.context))
    },
    .signInWithIdp: {
      var request = try $0.read(IdpSignInRequestWire.self)
      // The SDK for the web compares the users of the tokens that it gets, and ends the session of a user for whom it
      // is told that there is no account. The SDK of Apple's systems wants to be told.
      if $0.isFromWeb { request.autoCreate = true }
      return try IdpSignInResponseWire.json(of: try await $1.signInWithIdp(request, context: $0.context))
    },
    .sendVerificationCode: {
      try SendVerificationCodeResponseWire.json(
        of: try await $1.sendVerificationCode(try $0.read(SendVerificationCodeRequestWire.self), context: $0.context))
    },
    .signInWithPhoneNumber: {
      try PhoneSignInResponseWire.json(
        of: try await $1.signInWithPhoneNumber(try $0.read(PhoneSignInRequestWire.self), context: $0.context))
    },
  ]

  private static let accounts: [AuthRoute.Call: Call] = [
    .lookup: {
      try LookupResponseWire.json(of: try await $1.lookup(try $0.read(LookupRequestWire.self), context: $0.context))
    },
    .update: {
      try UpdateResponseWire.json(of: try await $1.update(try $0.read(UpdateRequestWire.self), context: $0.context))
    },
    .delete: {
      try await $1.delete(try $0.read(DeleteRequestWire.self), context: $0.context)
      return deleted
    },
    .sendOobCode: {
      try SendOobCodeResponseWire.json(
        of: try await $1.sendOobCode(try $0.read(SendOobCodeRequestWire.self), context: $0.context))
    },
    .resetPassword: {
      try ResetPasswordResponseWire.json(
        of: try await $1.resetPassword(try $0.read(ResetPasswordRequestWire.self), context: $0.context))
    },
    .createAuthURI: {
      try CreateAuthURIResponseWire.json(
        of: try await $1.createAuthURI(try $0.read(CreateAuthURIRequestWire.self), context: $0.context))
    },
    .revokeToken: {
      try await $1.revokeToken(try $0.read(RevokeTokenRequestWire.self), context: $0.context)
      return Array("{}".utf8)
    },
    .passwordPolicy: { try PasswordPolicyWire.json(of: try await $1.passwordPolicy(context: $0.context)).json() },
  ]

  private static let secondFactors: [AuthRoute.Call: Call] = [
    .startMfaEnrollment: {
      try StartMfaEnrollmentResponseWire.json(
        of: try await $1.startMfaEnrollment(try $0.read(StartMfaEnrollmentRequestWire.self), context: $0.context))
    },
    .finalizeMfaEnrollment: {
      try AuthTokensWire.json(
        of: try await $1.finalizeMfaEnrollment(
          try $0.read(FinalizeMfaEnrollmentRequestWire.self), context: $0.context))
    },
    .withdrawMfaEnrollment: {
      try AuthTokensWire.json(
        of: try await $1.withdrawMfaEnrollment(
          try $0.read(WithdrawMfaEnrollmentRequestWire.self), context: $0.context))
    },
    .startMfaSignIn: {
      try StartMfaSignInResponseWire.json(
        of: try await $1.startMfaSignIn(try $0.read(StartMfaSignInRequestWire.self), context: $0.context))
    },
    .finalizeMfaSignIn: {
      try AuthTokensWire.json(
        of: try await $1.finalizeMfaSignIn(try $0.read(FinalizeMfaSignInRequestWire.self), context: $0.context))
    },
  ]

  private static let passkeys: [AuthRoute.Call: Call] = [
    .startPasskeyEnrollment: {
      try PasskeyCreationOptionsWire.json(
        of: try await $1.startPasskeyEnrollment(
          try $0.read(StartPasskeyEnrollmentRequestWire.self), context: $0.context))
    },
    .finalizePasskeyEnrollment: {
      try FinalizePasskeyEnrollmentResponseWire.json(
        of: try await $1.finalizePasskeyEnrollment(
          try $0.read(FinalizePasskeyEnrollmentRequestWire.self), context: $0.context))
    },
    .startPasskeySignIn: {
      try PasskeyRequestOptionsWire.json(of: try await $1.startPasskeySignIn(context: $0.context))
    },
    .finalizePasskeySignIn: {
      try FinalizePasskeySignInResponseWire.json(
        of: try await $1.finalizePasskeySignIn(
          try $0.read(FinalizePasskeySignInRequestWire.self), context: $0.context))
    },
  ]

  /// The response of a deletion.
  static let deleted: [UInt8] = Array(#"{"kind":"identitytoolkit#DeleteAccountResponse"}"#.utf8)
}
