import VestaBytes
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

// The acknowledgements of a registration, and the statistics.
extension MessagingCall {
  /// The outcome of an acknowledgement.
  struct Acknowledgement: Sendable {
    var key: RegistrationKey
    /// The messages of the registration that were named, those acknowledged before included.
    var numbers: [Int64] = []
    /// The number of them that were acknowledged now.
    var count: Int64 = 0
    /// The number of these that had given way to others while they were under way.
    var recovered: Int64 = 0
  }

  /// Acknowledges deliveries; ids of other services and of messages for others are ignored.
  ///
  /// - Parameter delivered: How many deliveries to count along with them.
  func acknowledge(token: String, messageIDs: [String], delivered: Int64) async throws -> Acknowledgement {
    var (key, registration) = try await reader.registration(token: token, now: now, lifetime: lifetime)
    let ids = Dictionary(messageIDs.compactMap { id in Tokens.number(ofMessageID: id).map { ($0, id) } }) { $1 }
    let messages = try await reader.messages(ids.keys.sorted())
    var outcome = Acknowledgement(key: key)
    for (number, message) in messages.sorted(by: { $0.key < $1.key }) {
      // The numbers of another service, or of this one before its data were deleted, are not meant.
      guard Tokens.messageID(number, sentTime: message.sentTime) == ids[number] else { continue }
      switch message.kind {
      case .subscriptionChange: continue
      case .direct:
        guard message.registration == key else { continue }
        try await acknowledge(number, key, &registration, &outcome)
      case .topic, .condition:
        if try await noteAcknowledged(number, key, registration) { outcome.count += 1 }
      }
      outcome.numbers.append(number)
    }
    registration.lastSeenTime = max(registration.lastSeenTime, now)
    try await put(registration, Keys.registration(key))
    try await count { statistics in
      statistics.acknowledged += outcome.count
      statistics.delivered += delivered
      statistics.discarded -= outcome.recovered
    }
    return outcome
  }

  /// Acknowledges a message to the registration alone, which is in its queue or was dropped from it.
  private func acknowledge(
    _ number: Int64, _ key: RegistrationKey, _ registration: inout RegistrationRecord,
    _ outcome: inout Acknowledgement
  ) async throws {
    if try await dequeue(number, key, &registration) != nil {
      transaction.freesRoom()
      outcome.count += 1
      let time = now + options.acknowledgedRetention.microseconds
      try await transaction.put([], for: Keys.expiry(time, number))
    } else if try await transaction.get(Keys.dropped(key, number)) != nil {
      try await transaction.delete(Keys.dropped(key, number))
      outcome.count += 1
      outcome.recovered += 1
    }
  }

  /// Notes down the acknowledgement of a message for many; answers whether it is new.
  func noteAcknowledged(
    _ number: Int64, _ key: RegistrationKey, _ registration: RegistrationRecord
  ) async throws -> Bool {
    let (row, owed) = (Keys.acknowledged(key, number), Keys.owed(key, number))
    let values = try await transaction.get([row, owed])
    if values[1] != nil {
      try await transaction.delete(owed)
      return true
    }
    guard number > registration.cursor, values[0] == nil else { return false }
    try await transaction.put([], for: row)
    return true
  }

  /// Changes what is counted, if anything is.
  @discardableResult
  func count(_ change: (inout StatisticsRecord) -> Void) async throws -> DeliveryStatistics {
    let rows = try await transaction.get([Keys.sequence, Keys.statistics])
    let sequence = try await reader.sequence(in: rows[0])
    // Damaged counts begin again at zero: they must not prevent acknowledgements.
    var record = rows[1].flatMap { StoreRow.intact(StatisticsRecord.self, $0, Keys.statistics) } ?? StatisticsRecord()
    change(&record)
    try await put(record, Keys.statistics)
    var counts = DeliveryStatistics()
    (counts.accepted, counts.collapsed, counts.discarded) = (
      sequence.accepted, sequence.collapsed, max(0, sequence.discarded + record.discarded)
    )
    (counts.delivered, counts.acknowledged, counts.expired) = (record.delivered, record.acknowledged, record.expired)
    return counts
  }

  /// Notes down that a registration was connected, once a day.
  func touch(_ key: RegistrationKey) async throws {
    guard var registration = try await reader.record(RegistrationRecord.self, Keys.registration(key)),
      registration.lastSeenTime < now
    else { return }
    registration.lastSeenTime = now
    try await put(registration, Keys.registration(key))
  }
}
