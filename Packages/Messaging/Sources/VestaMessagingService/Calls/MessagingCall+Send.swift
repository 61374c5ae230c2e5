import VestaBytes
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

/// The number and id of an accepted message.
struct Acceptance: Sendable {
  var number: Int64
  var messageID: String
}

extension MessagingCall {
  /// Accepts a message that was checked.
  ///
  /// - Parameter isValidateOnly: Whether to look up its target only.
  func send(_ message: PushMessage, isValidateOnly: Bool) async throws -> Acceptance {
    try await send(message, to: try await recipient(of: message), isValidateOnly: isValidateOnly)
  }

  /// The registration of a message to one, with its key.
  typealias Recipient = (RegistrationKey, RegistrationRecord)

  /// Accepts a message whose recipient was looked up.
  func send(_ message: PushMessage, to target: Recipient?, isValidateOnly: Bool) async throws -> Acceptance {
    if isValidateOnly { return Acceptance(number: 0, messageID: "fake_message_id") }
    var sequence = try await nextNumber()
    sequence.accepted += 1
    let number = sequence.number
    var record = MessageRecord()
    (record.json, record.sentTime) = (message.json, now)
    switch (message.target, target) {
    case (_, (let key, let registration)?):
      let settings = DeliverySettings(message, platform: registration.platform, now: Double(now) / 1_000_000)
      record.expiryTime = now + Int64(settings.timeToLive * 1_000_000)
      (record.installationID, record.senderID) = (key.installationID, key.senderID)
      if settings.timeToLive > 0 {
        try await enqueue(number, settings, record.expiryTime, key, registration, &sequence)
      }
    case (.topic(let topic), nil):
      (record.kind, record.expiryTime) = (.topic, now + Self.longestTimeToLive(message, now))
      try await transaction.put([], for: Keys.topic(topic, number))
    default:
      (record.kind, record.expiryTime) = (.condition, now + Self.longestTimeToLive(message, now))
      try await transaction.put([], for: Keys.condition(number))
    }
    try await put(sequence, Keys.sequence)
    try await put(record, Keys.message(number))
    // An immediate message stays long enough to reach the connections of every engine on this store.
    try await transaction.put([], for: Keys.expiry(max(record.expiryTime, now + 60_000_000), number))
    return Acceptance(number: number, messageID: Tokens.messageID(number, sentTime: now))
  }

  /// Looks up the registration of a message, without a change; `nil` for one to a topic or condition.
  func recipient(of message: PushMessage) async throws -> Recipient? {
    switch message.target {
    case .topic, .condition: return nil
    case .token(let token):
      let found = try await reader.registration(token: token, now: now, lifetime: lifetime)
      guard found.0.senderID == senderID else {
        throw MessagingServiceError(
          .permissionDenied, reason: .senderIDMismatch,
          "The token was registered for the sender \(found.0.senderID) and not for \(senderID).")
      }
      return found
    case .installation(let id):
      let key = RegistrationKey(installationID: id, senderID: senderID)
      guard Tokens.isInstallationID(id),
        let record = try await reader.record(RegistrationRecord.self, Keys.registration(key)),
        record.lastSeenTime + lifetime > now
      else { throw MessagingServiceError.unregistered }
      return (key, record)
    }
  }

  private func enqueue(
    _ number: Int64, _ settings: DeliverySettings, _ expiryTime: Int64, _ key: RegistrationKey,
    _ registration: RegistrationRecord, _ sequence: inout SequenceRecord
  ) async throws {
    var registration = registration
    if let collapseKey = settings.collapseKey {
      let row = Keys.collapse(key, collapseKey)
      if let earlier = try await reader.collapse(row),
        try await dequeue(earlier, key, &registration) != nil
      {
        sequence.collapsed += 1
      }
      try await put(CollapseRecord(number), row)
    }
    while registration.waiting >= Int64(options.maximumWaiting) {
      guard let oldest = try await reader.numbers(in: Keys.queue(key), limit: 1).first,
        let dropped = try await dequeue(oldest, key, &registration)
      else { break }
      if dropped.expiryTime > now { sequence.discarded += 1 } else { try await count { $0.expired += 1 } }
    }
    var queued = QueueRecord()
    (queued.isHighPriority, queued.expiryTime) = (settings.isHighPriority, expiryTime)
    queued.collapseKey = settings.collapseKey
    try await put(queued, Keys.queued(key, number))
    registration.waiting += 1
    try await put(registration, Keys.registration(key))
  }

  /// Returns the longest time to live of a message on any platform, in microseconds.
  private static func longestTimeToLive(_ message: PushMessage, _ now: Int64) -> Int64 {
    let times = ["android", "ios", "web"].map {
      DeliverySettings(message, platform: $0, now: Double(now) / 1_000_000).timeToLive
    }
    return Int64((times.max() ?? 0) * 1_000_000)
  }

  // MARK: Acknowledgement

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
    let sequence = try await reader.sequence()
    // Damaged counts begin again at zero: they must not keep anybody from acknowledging.
    let bytes = try await transaction.get(Keys.statistics)
    var record = bytes.flatMap { StoreRow.intact(StatisticsRecord.self, $0, Keys.statistics) } ?? StatisticsRecord()
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
