import VestaAuthBackend
import VestaCryptoInterop
import VestaStoreInterop

/// The tickets of a call that writes: keeping one under a new secret, counting failures, and using one up.
struct TicketBook {
  let call: AuthWriteCall

  private var secrets: Secrets { call.core.secrets }
  private var options: AuthServiceOptions { call.options }
  private var transaction: any StoreTransaction { call.transaction }

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
    let secret = try secrets.secret(length: secretLength)
    var ticket = ticket
    try finish(&ticket, secret)
    let hash = try secrets.hash(secret)
    try await transaction.put(ticket, Keys.ticket(hash))
    try await transaction.put([], for: expiryRow(of: ticket, hash))
    let expired = try await transaction.entries(
      in: Keys.expiredTickets(at: call.now - Self.memoryOfExpired), limit: options.tuning.sweptTickets)
    for entry in expired {
      try await transaction.delete(Keys.ticket(try Keys.hash(ofExpiry: entry.key)))
      try await transaction.delete(entry.key)
    }
    return secret
  }

  /// Takes a ticket away: it works no second time.
  func consume(_ secret: String, _ ticket: TicketRecord) async throws {
    let hash = try secrets.hash(secret)
    try await transaction.delete(Keys.ticket(hash))
    try await transaction.delete(expiryRow(of: ticket, hash))
  }

  /// The row by which a ticket is found when it has expired.
  ///
  /// Every caller can start a sign-in with a passkey, so challenges without an answer are deleted as soon as they
  /// expire: their rows are dated back by the time for which others are remembered.
  private func expiryRow(of ticket: TicketRecord, _ hash: [UInt8]) -> [UInt8] {
    let isChallenge = ticket.purpose == .passkeyEnrollment || ticket.purpose == .passkeySignIn
    return Keys.ticketExpiry(ticket.expiresAt - (isChallenge ? Self.memoryOfExpired : 0), hash)
  }

  /// Counts a wrong code; too many end the ticket.
  func countFailure(_ secret: String, _ ticket: TicketRecord) async throws -> AuthServiceError {
    var ticket = ticket
    ticket.failures += 1
    if ticket.failures >= options.verificationAttempts {
      try await consume(secret, ticket)
    } else {
      try await transaction.put(ticket, Keys.ticket(try secrets.hash(secret)))
    }
    return AuthServiceError(.invalidCode)
  }

  // MARK: Six digits

  /// Keeps a ticket for six digits, which go to a phone.
  func keepDigits(_ ticket: TicketRecord) async throws -> (sessionInfo: String, code: String) {
    let code = try ticket.phoneNumber.flatMap { options.testPhoneNumbers[$0] } ?? secrets.sixDigits()
    let sessionInfo = try await keep(ticket, secretLength: 226) { ticket, secret in
      ticket.codeHash = try secrets.hash(secret + code)
    }
    return (sessionInfo, code)
  }

  /// Uses up a ticket with its six digits.
  ///
  /// Wrong digits are counted in the store, and too many end the ticket: so a refusal is a change of the store too.
  func useDigits(
    _ sessionInfo: String, code: String, _ purpose: TicketRecord.Purpose
  ) async throws -> Result<TicketRecord, AuthServiceError> {
    guard let ticket = try await call.ticket(sessionInfo, purpose) else {
      return .failure(AuthServiceError(.invalidSessionInfo))
    }
    guard !call.isExpired(ticket) else { return .failure(AuthServiceError(.sessionExpired)) }
    let phone = ticket.phoneNumber ?? ""
    let isTaken = try await call.guesses.takeDigitGuess(phone, isFirst: ticket.failures == 0)
    let presented = try secrets.hash(sessionInfo + String(code.prefix(64)))
    guard let expected = ticket.codeHash, call.crypto.constantTimeEquals(presented, expected) else {
      return .failure(try await countFailure(sessionInfo, ticket))
    }
    if isTaken { try await call.guesses.forgiveDigitGuess(phone) }
    try await consume(sessionInfo, ticket)
    return .success(ticket)
  }
}
