import VestaAuthBackend
import VestaCryptoInterop
import VestaStoreInterop

extension AuthCall {
  /// A ticket that ends by itself after its lifetime, and before that with the sessions of its account.
  func newTicket(
    _ purpose: TicketRecord.Purpose, for user: UserRecord? = nil, lifetime: Duration
  ) -> TicketRecord {
    var ticket = TicketRecord(purpose, tenant: tenant, expiresAt: now + lifetime.milliseconds)
    if let user { ticket.bind(to: user) }
    return ticket
  }

  /// The ticket of a secret, expired or not; `nil` when there is none for this purpose in this scope.
  func ticket(_ secret: String, _ purpose: TicketRecord.Purpose) async throws -> TicketRecord? {
    // Nothing that was handed out is that long.
    guard secret.utf8.count <= 512 else { return nil }
    let ticket = try await reader.record(TicketRecord.self, Keys.ticket(try engine.hash(secret)))
    guard let ticket, ticket.purpose == purpose, ticket.tenant == tenant else { return nil }
    return ticket
  }

  func isExpired(_ ticket: TicketRecord) -> Bool { ticket.expiresAt <= now }

  /// The ticket of a code by e-mail, and what it is for.
  func oobTicket(_ code: String) async throws -> (TicketRecord, OobRequestType) {
    guard let ticket = try await ticket(code, .oobCode),
      let type = ticket.requestType.flatMap(OobRequestType.init)
    else { throw AuthServiceError(.invalidOobCode) }
    guard !isExpired(ticket) else { throw AuthServiceError(.expiredOobCode) }
    if let localID = ticket.localID, let user = try await user(localID) {
      guard ticket.isUsable(type, by: user, hash: try engine.hash(code)) else {
        throw AuthServiceError(.invalidOobCode)
      }
    }
    return (ticket, type)
  }
}

extension WriteCall {
  /// For how long expired tickets are kept, so that they can be distinguished from unknown ones.
  private static let memoryOfExpired: Int64 = 86_400_000

  /// Keeps a ticket under a new secret, and takes a few old ones away.
  ///
  /// - Parameters:
  ///   - ticket: The ticket.
  ///   - secretLength: How many characters the secret has.
  ///   - finish: Adds what depends on the secret.
  /// - Returns: The secret.
  func keep(
    _ ticket: TicketRecord, secretLength: Int,
    finish: (inout TicketRecord, _ secret: String) throws -> Void = { _, _ in }
  ) async throws -> String {
    let secret = try engine.secret(length: secretLength)
    var ticket = ticket
    try finish(&ticket, secret)
    let hash = try engine.hash(secret)
    try await transaction.put(ticket, Keys.ticket(hash))
    try await transaction.put([], for: Keys.ticketExpiry(ticket.expiresAt, hash))
    let expired = try await transaction.entries(
      in: Keys.expiredTickets(at: now - Self.memoryOfExpired), limit: options.tuning.sweptTickets)
    for entry in expired {
      try await transaction.delete(Keys.ticket(try Keys.hash(ofExpiry: entry.key)))
      try await transaction.delete(entry.key)
    }
    return secret
  }

  /// Takes a ticket away: it works no second time.
  func consume(_ secret: String, _ ticket: TicketRecord) async throws {
    let hash = try engine.hash(secret)
    try await transaction.delete(Keys.ticket(hash))
    try await transaction.delete(Keys.ticketExpiry(ticket.expiresAt, hash))
  }

  /// Counts a wrong code; too many end the ticket.
  func countFailure(_ secret: String, _ ticket: TicketRecord) async throws -> AuthServiceError {
    var ticket = ticket
    ticket.failures += 1
    if ticket.failures >= options.verificationAttempts {
      try await consume(secret, ticket)
    } else {
      try await transaction.put(ticket, Keys.ticket(try engine.hash(secret)))
    }
    return AuthServiceError(.invalidCode)
  }

  // MARK: Six digits

  /// Keeps a ticket for six digits, which go to a phone.
  func keepDigits(_ ticket: TicketRecord) async throws -> (sessionInfo: String, code: String) {
    let code = try ticket.phoneNumber.flatMap { options.testPhoneNumbers[$0] } ?? engine.sixDigits()
    let sessionInfo = try await keep(ticket, secretLength: 226) { ticket, secret in
      ticket.codeHash = try engine.hash(secret + code)
    }
    return (sessionInfo, code)
  }

  /// Uses up a ticket with its six digits.
  ///
  /// Wrong digits are counted in the store, and too many end the ticket: so a refusal is a change of the store too.
  func useDigits(
    _ sessionInfo: String, code: String, _ purpose: TicketRecord.Purpose
  ) async throws -> Result<TicketRecord, AuthServiceError> {
    guard let ticket = try await ticket(sessionInfo, purpose) else {
      return .failure(AuthServiceError(.invalidSessionInfo))
    }
    guard !isExpired(ticket) else { return .failure(AuthServiceError(.sessionExpired)) }
    let phone = ticket.phoneNumber ?? ""
    let isTaken = try await takeDigitGuess(phone, isFirst: ticket.failures == 0)
    let presented = try engine.hash(sessionInfo + String(code.prefix(64)))
    guard let expected = ticket.codeHash, crypto.constantTimeEquals(presented, expected) else {
      return .failure(try await countFailure(sessionInfo, ticket))
    }
    if isTaken { try await forgiveDigitGuess(phone) }
    try await consume(sessionInfo, ticket)
    return .success(ticket)
  }
}
