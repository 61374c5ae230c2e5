public import VestaServiceInterop
public import VestaAuthBackend
import VestaStoreInterop

extension AuthEngine {
  private static let temporaryProofLifetime: Int64 = 3600

  private static var noSecondFactorForPhones: IdentityError {
    IdentityError(
      .unsupportedFirstFactor,
      "A phone number cannot be set as a first factor on an SMS based MFA user.")
  }

  /// Sends a code to a phone.
  public func sendVerificationCode(
    _ request: SendVerificationCodeRequest, context: CallContext
  ) async throws(IdentityError) -> SendVerificationCodeResponse {
    try await answer {
      let (sessionInfo, code, number) = try await write { transaction in
        let scope = try await self.phoneScope(context, in: transaction)
        let number = try Checks.phoneNumber(request.phoneNumber)
        guard scope.signIn.allowsPhone else { throw IdentityError(.operationNotAllowed) }
        let owner = try await transaction.user(scope.tenant, phoneNumber: number)
        guard owner?.factors.isEmpty ?? true else { throw Self.noSecondFactorForPhones }
        try self.takeMessage(to: number, or: .tooManyAttempts)
        var ticket = self.newTicket(.phoneCode, scope: scope, lifetime: self.options.verificationCodeLifetime)
        ticket.phoneNumber = number
        let made = try await self.keepDigits(ticket, in: transaction)
        return (made.sessionInfo, made.code, number)
      }
      try await deliver(code, to: number, sessionInfo: sessionInfo, context)
      return SendVerificationCodeResponse(sessionInfo: sessionInfo)
    }
  }

  /// Hands six digits to the sender.
  func deliver(_ code: String, to number: String, sessionInfo: String, _ context: CallContext) async throws {
    guard options.testPhoneNumbers[number] == nil else { return }
    do {
      try await sender.send(
        TextMessage(
          phoneNumber: number, code: code, sessionInfo: sessionInfo, locale: context.locale,
          tenantID: context.tenantID))
    } catch {
      throw Self.unsent(error)
    }
  }

  private func phoneScope(_ context: CallContext, in reader: any StoreReader) async throws -> Scope {
    let scope = try await scope(context.tenantID, in: reader)
    guard scope.tenantID == nil else { throw IdentityError(.unsupportedTenantOperation) }
    return scope
  }

  // MARK: Signing in

  /// Signs in with the code that was sent to a phone, or links the number to the account of an ID token.
  public func signInWithPhoneNumber(
    _ request: PhoneSignInRequest, context: CallContext
  ) async throws(IdentityError) -> PhoneSignInResponse {
    try await answer {
      let proof = request.idToken == nil ? nil : try await proof(request.idToken, context: context)
      let signedIn = try await writeKeeping { transaction -> Result<PhoneSignIn, IdentityError> in
        let scope = try await self.phoneScope(context, in: transaction)
        if proof?.tenantID != nil { throw IdentityError(.unsupportedTenantOperation) }
        let caller = try await self.optionalCaller(proof, in: transaction)
        if let caller { try self.requireRecentSignInToLink(caller) }
        switch try await self.provenNumber(request.proof, scope: scope, in: transaction) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let number):
          return try await self.signIn(number, request.proof, caller, scope, in: transaction)
        }
      }
      return try await response(signedIn)
    }
  }

  private func provenNumber(
    _ proof: PhoneProof, scope: Scope, in transaction: any StoreTransaction
  ) async throws -> Result<String, IdentityError> {
    switch proof {
    case .temporaryProof(let number, let secret):
      let number = try Checks.present(number, or: .missingPhoneNumber)
      guard let ticket = try await ticket(secret, .temporaryProof, scope: scope, in: transaction),
        ticket.phoneNumber == number, !isExpired(ticket)
      else { throw IdentityError(.invalidTemporaryProof) }
      try await consume(secret, ticket, in: transaction)
      return .success(number)
    case .code(let sessionInfo, let code):
      let sessionInfo = try Checks.present(sessionInfo, or: .missingSessionInfo)
      let code = try Checks.present(code, or: .missingCode)
      return try await useDigits(sessionInfo, code: code, .phoneCode, scope: scope, in: transaction)
        .map { $0.phoneNumber ?? "" }
    }
  }

  private enum PhoneSignIn: Sendable {
    case session(Grant, isNew: Bool)
    case inUse(number: String, proof: String)
  }

  private func signIn(
    _ number: String, _ proof: PhoneProof, _ caller: Caller?, _ scope: Scope, in transaction: any StoreTransaction
  ) async throws -> Result<PhoneSignIn, IdentityError> {
    let owner = try await transaction.user(scope.tenant, phoneNumber: number)
    if let caller, let owner, owner.localID != caller.user.localID {
      guard case .code = proof else { return .failure(IdentityError(.phoneNumberExists)) }
      var ticket = newTicket(.temporaryProof, scope: scope, lifetime: Self.temporaryProofLifetime)
      ticket.phoneNumber = number
      return .success(.inUse(number: number, proof: try await keep(ticket, secretLength: 119, in: transaction)))
    }
    let old = caller?.user ?? owner
    if old?.disabled == true { return .failure(IdentityError(.userDisabled)) }
    if old?.factors.isEmpty == false { return .failure(Self.noSecondFactorForPhones) }
    var user = try old ?? newAccount(newLocalID())
    user.phoneNumber = number
    if let caller {
      let grant = try await link(user, to: caller, provider: "phone", in: transaction)
      return .success(.session(grant, isNew: false))
    }
    if let refusal = refusalWithoutFactor(of: old, scope) { return .failure(refusal) }
    let grant = try await signIn(user, replacing: old, provider: "phone", scope: scope, in: transaction)
    return .success(.session(grant, isNew: old == nil))
  }

  private func response(_ signIn: PhoneSignIn) async throws -> PhoneSignInResponse {
    switch signIn {
    case .session(let grant, let isNew):
      .signedIn(
        localID: grant.user.localID, phoneNumber: grant.user.phoneNumber ?? "", isNewUser: isNew,
        tokens: try await tokens(grant))
    case .inUse(let number, let proof):
      .numberInUse(phoneNumber: number, temporaryProof: proof, expiresIn: Self.temporaryProofLifetime)
    }
  }
}
