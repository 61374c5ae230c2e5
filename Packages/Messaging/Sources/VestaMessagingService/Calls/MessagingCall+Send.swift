import VestaBytes
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

/// The number and id of an accepted message.
struct Acceptance: Sendable {
  var number: Int64
  var messageID: String
  /// The messages for transports.
  var push: PushJob?
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
    var push: PushJob?
    switch (message.target, target) {
    case (_, (let key, let registration)?):
      let settings = DeliverySettings(message, platform: registration.platform, now: Double(now) / 1_000_000)
      record.expiryTime = now + Int64(settings.timeToLive * 1_000_000)
      (record.installationID, record.senderID) = (key.installationID, key.senderID)
      if settings.timeToLive > 0 {
        try await enqueue(number, settings, record.expiryTime, key, registration, &sequence)
      }
      if registration.pushAddress != nil, pushed.contains(registration.platform) {
        push = try await planPush(number, to: key, registration, isKept: settings.timeToLive > 0)
      }
    case (.topic(let topic), nil):
      (record.kind, record.expiryTime) = (.topic, now + Self.longestTimeToLive(message, now))
      try await transaction.put([], for: Keys.topic(topic, number))
      if !pushed.isEmpty, try await hasPushedMembers(topic) {
        push = try await planPush(number, to: nil, nil, isKept: true)
      }
    default:
      (record.kind, record.expiryTime) = (.condition, now + Self.longestTimeToLive(message, now))
      try await transaction.put([], for: Keys.condition(number))
    }
    try await put(sequence, Keys.sequence)
    try await put(record, Keys.message(number))
    // An immediate message stays long enough to reach the connections of every engine on this store.
    try await transaction.put(
      [], for: Keys.expiry(max(record.expiryTime, now + tuning.sweepPause.microseconds), number))
    return Acceptance(number: number, messageID: Tokens.messageID(number, sentTime: now), push: push)
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
      if dropped.expiryTime > now {
        sequence.discarded += 1
        // It may be under way: its acknowledgement still counts, and otherwise the registration is notified of it.
        try await transaction.put([], for: Keys.dropped(key, oldest))
      } else {
        try await count { $0.expired += 1 }
      }
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

  // MARK: Several messages

  /// Sends one message of several: neither a refused one nor one to a damaged registration stops the others.
  ///
  /// A failure after the look-up ends the transaction: a part of the message may have been written.
  func sendOne(
    _ message: Result<PushMessage, MessagingServiceError>, _ isValidateOnly: Bool
  ) async throws -> Result<Acceptance, MessagingServiceError> {
    let (checked, target): (PushMessage, Recipient?)
    do {
      checked = try message.get()
      target = try await recipient(of: checked)
    } catch let error as MessagingServiceError {
      return .failure(error)
    }
    return .success(try await send(checked, to: target, isValidateOnly: isValidateOnly))
  }
}
