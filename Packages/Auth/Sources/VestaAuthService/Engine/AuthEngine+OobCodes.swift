public import VestaServiceInterop
public import VestaAuthBackend
import VestaStoreInterop
import VestaBytes
import VestaCore

/// A code that has been kept, and where it is to go.
struct OobMessage: Sendable {
  var requestType: OobRequestType
  var email: String
  var newEmail: String?
  var code: String
  var tenantID: String?

  /// The mailbox: that of the new address, where it is to be verified.
  var recipient: String { requestType == .verifyAndChangeEmail ? newEmail ?? email : email }
}

extension AuthEngine {
  // MARK: Sending

  /// Sends a code by e-mail.
  public func sendOobCode(
    _ request: SendOobCodeRequest, context: CallContext
  ) async throws(IdentityError) -> SendOobCodeResponse {
    try await answer {
      let made = try await makeOobCode(request, context, isPrivileged: false)
      if let message = made.message {
        if made.isHidden, !sender.isImmediate {
          outbox.post { try await self.deliver(message, settings: request.settings, context) }
        } else {
          try await deliver(message, settings: request.settings, context)
        }
      }
      return SendOobCodeResponse(email: made.email)
    }
  }

  /// Makes a code for a request; no message where the account is not there and that is hidden.
  func makeOobCode(
    _ request: SendOobCodeRequest, _ context: CallContext, isPrivileged: Bool
  ) async throws -> (email: String, message: OobMessage?, isHidden: Bool) {
    guard let type = request.requestType else { throw IdentityError(.missingRequestType) }
    let needsToken =
      type == .verifyAndChangeEmail || (type == .verifyEmail && !isPrivileged) || request.idToken != nil
    let missing = type == .verifyEmail ? IdentityError.Code.invalidIDToken : .missingIDToken
    if type == .verifyAndChangeEmail { _ = try Checks.present(request.newEmail, or: .missingNewEmail) }
    let proof = needsToken ? try await proof(request.idToken, context: context, missing: missing) : nil
    return try await write { transaction in
      let scope = try await self.scope(proof?.tenantID ?? context.tenantID, in: transaction)
      try self.checkContinueURL(request.settings.continueURL, scope)
      var ticket = self.newTicket(.oobCode, scope: scope, lifetime: self.options.oobCodeLifetimes[type] ?? 3600)
      ticket.requestType = type.rawValue
      let caller = try await self.optionalCaller(proof, in: transaction)
      try await self.address(&ticket, type, request, caller, scope, isPrivileged, in: transaction)
      let email = ticket.email ?? ""
      let limit = type == .passwordReset ? IdentityError.Code.resetPasswordExceedLimit : .tooManyAttempts
      try self.takeMessage(to: "\(type) \(email)", or: limit)
      // The ticket of nobody has no time to live: the next ones that are kept take it away.
      if ticket.localID == nil, type != .emailSignIn { ticket.expiresAt = 0 }
      let code = try await self.keep(ticket, secretLength: 54, in: transaction)
      // For an address without account there is a ticket too, which nobody gets: so the work is the same.
      guard ticket.localID != nil || type == .emailSignIn else { return (email, nil, true) }
      let message = OobMessage(
        requestType: type, email: email, newEmail: ticket.newEmail, code: code, tenantID: scope.tenantID)
      return (email, message, type == .passwordReset && scope.config.hidesEmails)
    }
  }

  func optionalCaller(_ proof: Proof?, in reader: any StoreReader) async throws -> Caller? {
    guard let proof else { return nil }
    return try await caller(proof, in: reader)
  }

  /// Says whose code it is.
  private func address(
    _ ticket: inout TicketRecord, _ type: OobRequestType, _ request: SendOobCodeRequest, _ caller: Caller?,
    _ scope: Scope, _ isPrivileged: Bool, in reader: any StoreReader
  ) async throws {
    switch type {
    case .emailSignIn:
      guard scope.signIn.allowsEmailLinks else { throw IdentityError(.operationNotAllowed) }
      ticket.email = try Checks.email(try Checks.present(request.email, or: .missingEmail))
    case .passwordReset:
      let email = try Checks.email(try Checks.present(request.email, or: .missingEmail))
      ticket.email = email
      if let user = try await reader.user(scope.tenant, email: email) { ticket.bind(to: user) }
      if ticket.localID == nil, isPrivileged || !scope.config.hidesEmails { throw IdentityError(.emailNotFound) }
    case .verifyEmail:
      guard let user = try await verifiedUser(request, caller, scope, in: reader) else {
        throw IdentityError(.userNotFound)
      }
      ticket.bind(to: user)
      ticket.email = try Checks.present(user.email, or: .missingEmail)
    case .verifyAndChangeEmail:
      guard let caller else { throw IdentityError(.missingIDToken) }
      let newEmail = try Checks.email(try Checks.present(request.newEmail, or: .missingNewEmail))
      if try await reader.text(Keys.email(scope.tenant, newEmail)) != nil { throw IdentityError(.emailExists) }
      try requireRecentSignIn(caller)
      ticket.bind(to: caller.user)
      ticket.email = caller.user.email ?? newEmail
      ticket.newEmail = newEmail
    default:
      throw IdentityError(.notImplemented, "Codes of the type \(type.rawValue) are made by the service itself.")
    }
  }

  private func verifiedUser(
    _ request: SendOobCodeRequest, _ caller: Caller?, _ scope: Scope, in reader: any StoreReader
  ) async throws -> UserRecord? {
    if let caller { return caller.user }
    return try await reader.user(
      scope.tenant, email: try Checks.email(try Checks.present(request.email, or: .missingEmail)))
  }

  private func checkContinueURL(_ text: String?, _ scope: Scope) throws {
    guard let text else { return }
    switch ContinueURL(text, appSchemes: options.continueURLSchemes) {
    case nil: throw IdentityError(.invalidContinueURI, ContinueURL.rule)
    case .app?: return
    case .web(let host)?:
      guard !options.isDevelopment else { return }
      guard scope.config.authorizedDomains.contains(where: { $0.lowercased() == host }) else {
        throw IdentityError(.unauthorizedDomain)
      }
    }
  }

  // MARK: Delivery

  /// Hands a message to the sender.
  func deliver(_ message: OobMessage, settings: OobLinkSettings, _ context: CallContext) async throws {
    let email = EmailMessage(
      recipient: message.recipient, requestType: message.requestType, email: message.email,
      newEmail: message.newEmail, code: message.code, link: link(message, settings: settings, context),
      locale: context.locale, tenantID: message.tenantID)
    do {
      try await sender.send(email)
    } catch {
      throw Self.unsent(error)
    }
  }

  /// Logs why a sender failed; the caller learns only that it did, as the cause may name mailboxes and servers.
  static func unsent(_ error: any Error) -> IdentityError {
    log.error("I-AUS000006", "The code sender failed. \(error)")
    return IdentityError(.unavailable, "The message could not be sent; the log of the service says why.")
  }

  /// The link of a message.
  func link(_ message: OobMessage, settings: OobLinkSettings, _ context: CallContext) -> String {
    var parameters = [
      ("mode", message.requestType.linkMode), ("lang", context.locale ?? "en"), ("oobCode", message.code),
      ("apiKey", context.apiKey ?? "none"),
    ]
    if let url = settings.continueURL { parameters.append(("continueUrl", url)) }
    if let tenantID = message.tenantID { parameters.append(("tenantId", tenantID)) }
    let query = parameters.map { "\($0)=\(PercentEncoding.unreserved.encode($1))" }.joined(separator: "&")
    return options.actionURL + (options.actionURL.contains("?") ? "&" : "?") + query
  }

  // MARK: Using

  /// Says what a code is for, or resets a password with it.
  public func resetPassword(
    _ request: ResetPasswordRequest, context: CallContext
  ) async throws(IdentityError) -> ResetPasswordResponse {
    try await answer {
      let code = try Checks.present(request.oobCode, or: .missingOobCode)
      let response = try await read { reader in
        let scope = try await self.scope(context.tenantID, in: reader)
        guard scope.signIn.allowsPasswords else { throw IdentityError(.passwordLoginDisabled) }
        let (ticket, type) = try await self.oobTicket(code, scope: scope, in: reader)
        if let password = request.newPassword {
          guard type == .passwordReset else { throw IdentityError(.invalidOobCode) }
          try scope.config.passwordPolicy.check(password)
        }
        return ResetPasswordResponse(
          requestType: type, email: type == .emailSignIn ? nil : ticket.email, newEmail: ticket.newEmail)
      }
      guard let password = request.newPassword else { return response }
      let hash = try await hashPassword(password)
      try await write { try await self.resetPassword(code, hash, context, in: $0) }
      return response
    }
  }

  private func resetPassword(
    _ code: String, _ hash: String, _ context: CallContext, in transaction: any StoreTransaction
  ) async throws {
    let scope = try await scope(context.tenantID, in: transaction)
    let (ticket, _) = try await oobTicket(code, scope: scope, in: transaction)
    guard let localID = ticket.localID, let old = try await transaction.user(scope.tenant, localID) else {
      throw IdentityError(.invalidOobCode)
    }
    guard !old.disabled else { throw IdentityError(.userDisabled) }
    var user = old
    if old.emailVerified {
      // Whoever linked a provider, or knew the old password, is to prove himself again.
      user.providers = []
      user.revokeTokens(now: now)
    } else {
      user.ownershipWasProven(now: now)
    }
    user.setPassword(hash, now: now)
    try await consume(code, ticket, in: transaction)
    try await transaction.save(user, replacing: old, tenant: scope.tenant)
    try await transaction.forgetOldSessions(of: user, tenant: scope.tenant)
  }

  /// The ticket of a code, and what it is for.
  func oobTicket(
    _ code: String, scope: Scope, in reader: any StoreReader
  ) async throws -> (TicketRecord, OobRequestType) {
    guard let ticket = try await ticket(code, .oobCode, scope: scope, in: reader),
      let type = ticket.requestType.flatMap(OobRequestType.init)
    else { throw IdentityError(.invalidOobCode) }
    guard !isExpired(ticket) else { throw IdentityError(.expiredOobCode) }
    if let localID = ticket.localID, let user = try await reader.user(scope.tenant, localID) {
      guard ticket.isUsable(type, by: user, hash: try hash(code)) else { throw IdentityError(.invalidOobCode) }
    }
    return (ticket, type)
  }

  // MARK: Ways to sign in

  /// Says which ways to sign in an e-mail address has; nothing where the project hides that.
  public func createAuthURI(
    _ request: CreateAuthURIRequest, context: CallContext
  ) async throws(IdentityError) -> CreateAuthURIResponse {
    try await answer {
      let sessionID = try request.sessionID ?? secret(length: 27)
      return try await read { reader in
        let scope = try await self.scope(context.tenantID, in: reader)
        let identifier = try Checks.present(request.identifier, or: .missingIdentifier)
        let email = try Checks.email(identifier, or: .invalidIdentifier)
        let continueURI = try Checks.present(request.continueURI, or: .missingContinueURI)
        guard ContinueURL(continueURI, appSchemes: self.options.continueURLSchemes) != nil else {
          throw IdentityError(.invalidContinueURI, ContinueURL.rule)
        }
        guard !scope.config.hidesEmails else { return CreateAuthURIResponse(sessionID: sessionID) }
        return try await self.methods(of: email, sessionID: sessionID, scope, in: reader)
      }
    }
  }

  private func methods(
    of email: String, sessionID: String, _ scope: Scope, in reader: any StoreReader
  ) async throws -> CreateAuthURIResponse {
    var providers: [String] = []
    var methods: [String] = []
    if let user = try await reader.user(scope.tenant, email: email) {
      providers = user.providerInfo.map(\.providerID).filter { $0 != "phone" }
      methods = providers.filter { $0 != "password" }
      if user.passwordHash != nil { methods.append("password") }
      if user.emailLinkSignIn { methods.append("emailLink") }
    }
    let range = Keys.providerEmails(scope.tenant, email)
    for entry in try await reader.entries(in: range, limit: 100) {
      var key = KeyDecoder(entry.key, from: range.lower.count)
      guard let localID = try? key.string(), let user = try await reader.user(scope.tenant, localID) else { continue }
      for provider in user.providers where provider.email == email && !providers.contains(provider.providerID) {
        providers.append(provider.providerID)
        methods.append(provider.providerID)
      }
    }
    return CreateAuthURIResponse(
      sessionID: sessionID, isRegistered: !providers.isEmpty, allProviders: providers, signInMethods: methods)
  }
}

private let log = Logger(service: "VestaAuthService")
