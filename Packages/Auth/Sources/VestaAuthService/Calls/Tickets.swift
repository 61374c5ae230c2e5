import VestaAuthBackend
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
    let ticket = try await reader.record(TicketRecord.self, Keys.ticket(try core.secrets.hash(secret)))
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
      guard ticket.isUsable(type, by: user, hash: try core.secrets.hash(code)) else {
        throw AuthServiceError(.invalidOobCode)
      }
    }
    return (ticket, type)
  }
}

extension AuthWriteCall {
  /// The tickets, as far as this call changes them.
  var tickets: TicketBook { TicketBook(call: self) }
}
