import VestaBytes
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

/// One call in one transaction: what it changes, and what it counts.
struct MessagingCall {
  let transaction: any StoreTransaction
  let options: MessagingServiceOptions
  let senderID: String
  /// The time of the call in microseconds since 1970.
  let now: Int64

  var reader: MessagingReader { MessagingReader(reader: transaction, usualSenderID: senderID) }
  var lifetime: Int64 { options.registrationLifetime.microseconds }

  func put<Record: FieldRecord>(_ record: Record, _ key: [UInt8]) async throws {
    try await transaction.put(record.fieldBytes(), for: key)
  }

  /// The row with the next number, which the caller writes.
  func nextNumber() async throws -> SequenceRecord {
    var sequence = try await reader.sequence(now: now)
    sequence.number += 1
    return sequence
  }

  // MARK: Registrations

  func register(_ request: RegisterRequest) async throws -> String {
    guard Tokens.isInstallationID(request.installationID) else {
      throw MessagingServiceError.invalid("installationID", "It has 1 to 200 letters, digits, - and _.")
    }
    let key = RegistrationKey(installationID: request.installationID, senderID: request.senderID ?? senderID)
    guard !key.senderID.isEmpty else { throw MessagingServiceError.invalid("senderID", "It must not be empty.") }
    let row = Keys.registration(key)
    let bytes = try await transaction.get(row)
    let existing = bytes.flatMap { StoreRow.intact(RegistrationRecord.self, $0, row) }
    if let existing, existing.lastSeenTime + lifetime > now { return try await renew(existing, key, request) }
    if let existing { try await remove(key, existing) }
    return try await store(try await newRecord(key, isDamaged: bytes != nil && existing == nil), key, request)
  }

  private func newRecord(_ key: RegistrationKey, isDamaged: Bool) async throws -> RegistrationRecord {
    var record = RegistrationRecord()
    record.createTime = now
    record.createdAfter = try await reader.lastNumber()
    if isDamaged { try await restore(&record, key) }
    record.cursor = record.createdAfter
    return record
  }

  /// Fills in what other rows know about a registration whose row is damaged: its topics and what waits for it stay.
  ///
  /// Up to where it had acknowledged messages to topics is lost: they may be delivered again, from its first
  /// subscription on.
  private func restore(_ record: inout RegistrationRecord, _ key: RegistrationKey) async throws {
    let topics = try await reader.subscriptions(key)
    record.topics = Int64(topics.count)
    record.waiting = Int64(try await reader.numbers(in: Keys.queue(key)).count)
    record.createdAfter = min(record.createdAfter, topics.values.min() ?? .max)
    // The connection of the old token ends.
    _ = try await noteChange(of: key)
  }

  /// Only who knows the current token keeps it: another caller of the same installation gets a new one.
  private func renew(
    _ existing: RegistrationRecord, _ key: RegistrationKey, _ request: RegisterRequest
  ) async throws -> String {
    let isCurrent = request.currentToken == existing.token
    if isCurrent, existing.tokenTime + options.tokenLifetime.microseconds > now {
      var record = existing
      (record.lastSeenTime, record.platform, record.appID) = (now, request.platform, request.appID)
      try await setAddress(request.pushAddress, of: key, &record)
      try await put(record, Keys.registration(key))
      // Written again, in case that the row was damaged.
      try await put(TokenRecord(key), Keys.token(existing.token))
      return existing.token
    }
    try await transaction.delete(Keys.token(existing.token))
    // The connection of the old token ends.
    _ = try await noteChange(of: key)
    return try await store(existing, key, request)
  }

  private func store(
    _ registration: RegistrationRecord, _ key: RegistrationKey, _ request: RegisterRequest
  ) async throws -> String {
    var record = registration
    record.token = Tokens.make(key.installationID)
    (record.platform, record.appID) = (request.platform, request.appID)
    (record.lastSeenTime, record.tokenTime) = (now, now)
    try await setAddress(request.pushAddress, of: key, &record)
    try await put(record, Keys.registration(key))
    try await put(TokenRecord(key), Keys.token(record.token))
    return record.token
  }

  private func setAddress(_ address: String?, of key: RegistrationKey, _ record: inout RegistrationRecord) async throws
  {
    guard record.pushAddress != address else { return }
    record.pushAddress = address
    for topic in try await reader.subscriptions(key).keys {
      if address == nil {
        try await transaction.delete(Keys.member(topic, key))
      } else {
        try await transaction.put([], for: Keys.member(topic, key))
      }
    }
  }

  func unregister(token: String) async throws {
    guard let key = try await reader.record(TokenRecord.self, Keys.token(token))?.key,
      let record = try await reader.record(RegistrationRecord.self, Keys.registration(key)), record.token == token
    else { return }
    try await remove(key, record)
  }

  /// Removes a registration, and has its connection end.
  func remove(_ key: RegistrationKey, _ record: RegistrationRecord) async throws {
    _ = try await noteChange(of: key)
    for topic in try await reader.subscriptions(key).keys { try await transaction.delete(Keys.member(topic, key)) }
    try await transaction.delete(Keys.token(record.token))
    try await transaction.delete(Keys.registration(key))
    for range in [Keys.subscriptions(key), Keys.queue(key), Keys.collapses(key), Keys.acknowledged(key)] {
      try await transaction.deleteRange(range)
    }
  }

  // MARK: Topics

  /// The most topics of one registration: each connection reads all of them.
  static let maximumTopics: Int64 = 2000

  func subscribe(token: String, toTopic topic: String) async throws {
    var (key, record) = try await reader.registration(token: token, now: now, lifetime: lifetime)
    let row = Keys.subscription(key, topic)
    guard try await transaction.get(row) == nil else { return }
    guard record.topics < Self.maximumTopics else {
      throw MessagingServiceError(
        .resourceExhausted, reason: .quotaExceeded,
        "TOO_MANY_TOPICS: A registration has at most \(Self.maximumTopics) topics. Unsubscribe from one first.")
    }
    record.topics += 1
    try await put(record, Keys.registration(key))
    let number = try await noteChange(of: key)
    try await put(SubscriptionRecord(since: number), row)
    if record.pushAddress != nil { try await transaction.put([], for: Keys.member(topic, key)) }
  }

  func unsubscribe(token: String, fromTopic topic: String) async throws {
    var (key, record) = try await reader.registration(token: token, now: now, lifetime: lifetime)
    guard try await transaction.get(Keys.subscription(key, topic)) != nil else { return }
    record.topics = max(0, record.topics - 1)
    try await put(record, Keys.registration(key))
    try await transaction.delete(Keys.subscription(key, topic))
    try await transaction.delete(Keys.member(topic, key))
    _ = try await noteChange(of: key)
  }

  /// Numbers a change of a registration like a message, so that connections learn of it in order.
  private func noteChange(of key: RegistrationKey) async throws -> Int64 {
    let sequence = try await nextNumber()
    try await put(sequence, Keys.sequence)
    let number = sequence.number
    var record = MessageRecord()
    (record.kind, record.sentTime, record.expiryTime) = (.subscriptionChange, now, now)
    (record.installationID, record.senderID) = (key.installationID, key.senderID)
    try await put(record, Keys.message(number))
    try await transaction.put([], for: Keys.expiry(now + 60_000_000, number))
    return number
  }
}
