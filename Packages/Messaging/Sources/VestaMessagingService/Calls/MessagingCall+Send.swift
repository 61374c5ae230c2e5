import VestaBytes
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

/// What a message came to when it was accepted.
struct Acceptance: Sendable {
  var number: Int64
  var messageID: String
  var collapsed: Int64 = 0
  var discarded: Int64 = 0
}

extension MessagingCall {
  /// Accepts a message that was checked.
  ///
  /// - Parameter isValidateOnly: Whether to look up its target only.
  func send(_ message: PushMessage, isValidateOnly: Bool) async throws -> Acceptance {
    let target = try await recipient(of: message)
    if isValidateOnly { return Acceptance(number: 0, messageID: "fake_message_id") }
    let number = try await nextNumber()
    var acceptance = Acceptance(number: number, messageID: Tokens.messageID(number, sentTime: now))
    var record = MessageRecord()
    (record.json, record.sentTime) = (message.json, now)
    switch (message.target, target) {
    case (_, (let key, let registration)?):
      let settings = DeliverySettings(message, platform: registration.platform, now: Double(now) / 1_000_000)
      record.expiryTime = now + Int64(settings.timeToLive * 1_000_000)
      (record.installationID, record.senderID) = (key.installationID, key.senderID)
      if settings.timeToLive > 0 {
        try await enqueue(number, settings, record.expiryTime, key, registration, &acceptance)
      }
    case (.topic(let topic), nil):
      (record.kind, record.expiryTime) = (.topic, now + Self.longestTimeToLive(message, now))
      try await transaction.put([], for: Keys.topic(topic, number))
    default:
      (record.kind, record.expiryTime) = (.condition, now + Self.longestTimeToLive(message, now))
      try await transaction.put([], for: Keys.condition(number))
    }
    try await put(record, Keys.message(number))
    // A message for now or never stays long enough to reach the connections of every engine on this store.
    try await transaction.put([], for: Keys.expiry(max(record.expiryTime, now + 60_000_000), number))
    return acceptance
  }

  private func recipient(of message: PushMessage) async throws -> (RegistrationKey, RegistrationRecord)? {
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
    _ registration: RegistrationRecord, _ acceptance: inout Acceptance
  ) async throws {
    var registration = registration
    if let collapseKey = settings.collapseKey {
      let row = Keys.collapse(key, collapseKey)
      if let earlier = try await reader.record(SequenceRecord.self, row) {
        try await transaction.delete(Keys.queued(key, earlier.number))
        registration.waiting -= 1
        acceptance.collapsed += 1
      }
      try await put(SequenceRecord(number), row)
    }
    if registration.waiting >= Int64(options.maximumWaiting),
      let oldest = try await transaction.entries(in: Keys.queue(key), limit: 1).first
    {
      try await transaction.delete(oldest.key)
      registration.waiting -= 1
      acceptance.discarded += 1
    }
    var queued = QueueRecord()
    (queued.isHighPriority, queued.expiryTime) = (settings.isHighPriority, expiryTime)
    queued.collapseKey = settings.collapseKey
    try await put(queued, Keys.queued(key, number))
    registration.waiting += 1
    try await put(registration, Keys.registration(key))
  }

  /// How long a message waits at most on any platform, in microseconds.
  private static func longestTimeToLive(_ message: PushMessage, _ now: Int64) -> Int64 {
    let times = ["android", "ios", "web"].map {
      DeliverySettings(message, platform: $0, now: Double(now) / 1_000_000).timeToLive
    }
    return Int64((times.max() ?? 0) * 1_000_000)
  }

  // MARK: Acknowledgement

  /// Acknowledges deliveries; ids of other services and of messages for others are ignored.
  ///
  /// - Returns: The numbers of the messages that were acknowledged now.
  func acknowledge(token: String, messageIDs: [String]) async throws -> [Int64] {
    let (key, registration) = try await reader.registration(token: token, now: now, lifetime: lifetime)
    let numbers = Set(messageIDs.compactMap(Tokens.number(ofMessageID:))).sorted()
    let messages = try await reader.messages(numbers)
    var acknowledged: [Int64] = []
    for number in numbers {
      guard let message = messages[number] else { continue }
      switch message.kind {
      case .subscriptionChange: continue
      case .direct:
        guard message.registration == key else { continue }
        if try await dequeue(number, key) {
          let time = now + options.acknowledgedRetention.microseconds
          try await transaction.put([], for: Keys.expiry(time, number))
        }
      case .topic, .condition:
        if number > registration.cursor { try await transaction.put([], for: Keys.acknowledged(key, number)) }
      }
      acknowledged.append(number)
    }
    return acknowledged
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
