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
        if try await dequeue(number, key, &registration) != nil {
          outcome.count += 1
          let time = now + options.acknowledgedRetention.microseconds
          try await transaction.put([], for: Keys.expiry(time, number))
        }
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
    }
    return outcome
  }

  /// Notes down the acknowledgement of a message for many; answers whether it is new.
  private func noteAcknowledged(
    _ number: Int64, _ key: RegistrationKey, _ registration: RegistrationRecord
  ) async throws -> Bool {
    let row = Keys.acknowledged(key, number)
    guard number > registration.cursor, try await transaction.get(row) == nil else { return false }
    try await transaction.put([], for: row)
    return true
  }

  /// Changes what is counted, if anything is.
  @discardableResult
  func count(_ change: (inout StatisticsRecord) -> Void) async throws -> DeliveryStatistics {
    let rows = try await transaction.get([Keys.sequence, Keys.statistics])
    let sequence = try await reader.sequence(in: rows[0])
    // Damaged counts begin again at zero: they must not keep anybody from acknowledging.
    var record = rows[1].flatMap { StoreRow.intact(StatisticsRecord.self, $0, Keys.statistics) } ?? StatisticsRecord()
    change(&record)
    try await put(record, Keys.statistics)
    var counts = DeliveryStatistics()
    (counts.accepted, counts.collapsed, counts.discarded) = (sequence.accepted, sequence.collapsed, sequence.discarded)
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

  /// Notes down messages for many that are not for a registration any more, because others have replaced them.
  func forget(_ numbers: [Int64], for key: RegistrationKey) async throws {
    guard let registration = try await reader.record(RegistrationRecord.self, Keys.registration(key)) else { return }
    for number in numbers { _ = try await noteAcknowledged(number, key, registration) }
  }

  /// Notes down that a registration has acknowledged everything up to a message.
  func advance(_ key: RegistrationKey, to number: Int64) async throws {
    guard var registration = try await reader.record(RegistrationRecord.self, Keys.registration(key)),
      number > registration.cursor
    else { return }
    (registration.cursor, registration.lastSeenTime) = (number, max(registration.lastSeenTime, now))
    try await put(registration, Keys.registration(key))
    try await transaction.deleteRange(Keys.acknowledged(key, upTo: number))
  }
}
