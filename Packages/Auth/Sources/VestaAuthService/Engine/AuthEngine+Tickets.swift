import VestaCryptoInterop
import VestaAuthBackend
import VestaStoreInterop

extension AuthEngine {
  /// For how long expired tickets are kept, so that they can be told from unknown ones.
  private static let memoryOfExpired: Int64 = 86_400_000

  /// A ticket that ends by itself after its lifetime, and before that with the sessions of its account.
  func newTicket(
    _ purpose: TicketRecord.Purpose, for user: UserRecord? = nil, scope: Scope, lifetime: Int64
  ) -> TicketRecord {
    var ticket = TicketRecord(purpose, tenant: scope.tenant, expiresAt: now + lifetime * 1000)
    if let user { ticket.bind(to: user) }
    return ticket
  }

  /// Keeps a ticket under a new secret, and takes a few old ones away.
  ///
  /// - Parameters:
  ///   - ticket: The ticket.
  ///   - secretLength: How many characters the secret has.
  ///   - transaction: Where to write.
  ///   - finish: Adds what depends on the secret.
  /// - Returns: The secret.
  func keep(
    _ ticket: TicketRecord, secretLength: Int, in transaction: any StoreTransaction,
    finish: (inout TicketRecord, _ secret: String) throws -> Void = { _, _ in }
  ) async throws -> String {
    let secret = try secret(length: secretLength)
    var ticket = ticket
    try finish(&ticket, secret)
    let hash = try hash(secret)
    try await transaction.put(ticket, Keys.ticket(hash))
    try await transaction.put([], for: Keys.ticketExpiry(ticket.expiresAt, hash))
    let expired = try await transaction.entries(
      in: Keys.expiredTickets(at: now - Self.memoryOfExpired), limit: 8)
    for entry in expired {
      try await transaction.delete(Keys.ticket(try Keys.hash(ofExpiry: entry.key)))
      try await transaction.delete(entry.key)
    }
    return secret
  }

  /// The ticket of a secret, expired or not; `nil` when there is none for this purpose in this scope.
  func ticket(
    _ secret: String, _ purpose: TicketRecord.Purpose, scope: Scope, in reader: any StoreReader
  ) async throws -> TicketRecord? {
    // Nothing that was handed out is that long.
    guard secret.utf8.count <= 512 else { return nil }
    let ticket = try await reader.record(TicketRecord.self, Keys.ticket(try hash(secret)))
    guard let ticket, ticket.purpose == purpose, ticket.tenant == scope.tenant else { return nil }
    return ticket
  }

  func isExpired(_ ticket: TicketRecord) -> Bool { ticket.expiresAt <= now }

  /// Takes a ticket away: it works no second time.
  func consume(_ secret: String, _ ticket: TicketRecord, in transaction: any StoreTransaction) async throws {
    let hash = try hash(secret)
    try await transaction.delete(Keys.ticket(hash))
    try await transaction.delete(Keys.ticketExpiry(ticket.expiresAt, hash))
  }

  // MARK: Six digits

  /// Keeps a ticket for six digits, which go to a phone.
  func keepDigits(
    _ ticket: TicketRecord, in transaction: any StoreTransaction
  ) async throws -> (sessionInfo: String, code: String) {
    let code = try ticket.phoneNumber.flatMap { options.testPhoneNumbers[$0] } ?? sixDigits()
    let sessionInfo = try await keep(ticket, secretLength: 226, in: transaction) { ticket, secret in
      ticket.codeHash = try hash(secret + code)
    }
    return (sessionInfo, code)
  }

  /// Uses up a ticket with its six digits.
  ///
  /// Wrong digits are counted in the store, and too many end the ticket: so a refusal leaves something behind.
  func useDigits(
    _ sessionInfo: String, code: String, _ purpose: TicketRecord.Purpose, scope: Scope,
    in transaction: any StoreTransaction
  ) async throws -> Result<TicketRecord, IdentityError> {
    guard var ticket = try await ticket(sessionInfo, purpose, scope: scope, in: transaction) else {
      return .failure(IdentityError(.invalidSessionInfo))
    }
    guard !isExpired(ticket) else { return .failure(IdentityError(.sessionExpired)) }
    try takeDigitGuess(ticket.phoneNumber ?? "", scope: scope)
    let presented = try hash(sessionInfo + String(code.prefix(64)))
    guard let expected = ticket.codeHash, crypto.constantTimeEquals(presented, expected) else {
      ticket.failures += 1
      if ticket.failures >= options.verificationAttempts {
        try await consume(sessionInfo, ticket, in: transaction)
      } else {
        try await transaction.put(ticket, Keys.ticket(try hash(sessionInfo)))
      }
      return .failure(IdentityError(.invalidCode))
    }
    forgiveDigitGuess(ticket.phoneNumber ?? "", scope: scope)
    try await consume(sessionInfo, ticket, in: transaction)
    return .success(ticket)
  }

  private func sixDigits() throws -> String {
    while true {
      let word = try crypto.randomBytes(count: 4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      // The last incomplete million is dropped: with it some codes would come more often than others.
      guard word < 4_294_000_000 else { continue }
      let text = String(word % 1_000_000)
      return String(repeating: "0", count: 6 - text.utf8.count) + text
    }
  }
}
