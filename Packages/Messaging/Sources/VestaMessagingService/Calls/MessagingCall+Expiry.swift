import VestaBytes
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

// The removal of rows whose time is over.
extension MessagingCall {
  /// Removes messages whose time is over, up to a limit.
  ///
  /// - Returns: How many rows of the index were removed.
  func sweep(limit: Int) async throws -> Int {
    let entries = try await transaction.entries(in: Keys.expiries(upTo: now), limit: limit)
    var expired: Int64 = 0
    transaction.freesRoom()
    for entry in entries {
      let number = try Keys.number(of: entry.key)
      try await transaction.delete(entry.key)
      guard let message = try await reader.messages([number])[number] else {
        try await transaction.delete(Keys.message(number))
        continue
      }
      if try await remove(message, number) { expired += 1 }
    }
    if expired > 0 { try await count { $0.expired += expired } }
    return entries.count
  }

  /// Removes the registrations, of some, that have not been seen for their lifetime.
  func sweep(_ keys: [RegistrationKey]) async throws {
    for key in keys {
      let row = Keys.registration(key)
      guard let bytes = try await transaction.get(row),
        let record = StoreRow.intact(RegistrationRecord.self, bytes, row),
        record.lastSeenTime + lifetime <= now
      else { continue }
      try await remove(key, record)
    }
  }

  /// Removes a message; answers whether it still waited for its registration.
  private func remove(_ message: MessageRecord, _ number: Int64) async throws -> Bool {
    try await transaction.delete(Keys.message(number))
    switch message.kind {
    case .subscriptionChange: return false
    case .condition:
      try await transaction.delete(Keys.condition(number))
      return false
    case .topic:
      if case .topic(let topic)? = try? PushMessage(json: message.json).target {
        try await transaction.delete(Keys.topic(topic, number))
      }
      return false
    case .direct:
      try await transaction.delete(Keys.dropped(message.registration, number))
      return try await expire(number, message.registration)
    }
  }

  private func expire(_ number: Int64, _ key: RegistrationKey) async throws -> Bool {
    let row = Keys.registration(key)
    let bytes = try await transaction.get(row)
    // A damaged row stays as it is until the installation registers again.
    var registration = bytes.flatMap { StoreRow.intact(RegistrationRecord.self, $0, row) } ?? RegistrationRecord()
    guard try await dequeue(number, key, &registration) != nil else { return false }
    if !registration.token.isEmpty { try await put(registration, Keys.registration(key)) }
    return true
  }

  /// Takes a message out of the queue of its registration, which the caller writes; `nil` when it was not there.
  func dequeue(
    _ number: Int64, _ key: RegistrationKey, _ registration: inout RegistrationRecord
  ) async throws -> QueueRecord? {
    let row = Keys.queued(key, number)
    guard let bytes = try await transaction.get(row) else { return nil }
    try await transaction.delete(row)
    registration.waiting = max(0, registration.waiting - 1)
    let queued = StoreRow.intact(QueueRecord.self, bytes, row) ?? QueueRecord()
    if let collapseKey = queued.collapseKey {
      let collapse = Keys.collapse(key, collapseKey)
      let current = try await reader.collapse(collapse)
      if current == number { try await transaction.delete(collapse) }
    }
    return queued
  }
}
