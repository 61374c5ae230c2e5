import VestaBytes
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

/// One call in one transaction: its changes, and its counts.
struct MessagingCall {
  let transaction: any StoreTransaction
  let options: MessagingServiceOptions
  let senderID: String
  /// The time of the call in microseconds since 1970.
  let now: Int64
  /// The platforms that transports reach.
  var pushed: Set<String> = []

  var reader: MessagingReader { MessagingReader(reader: transaction, usualSenderID: senderID) }
  var lifetime: Int64 { options.registrationLifetime.microseconds }
  var tuning: MessagingServiceTuning { options.tuning }

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
    try checkLengths(request)
    let row = Keys.registration(key)
    let bytes = try await transaction.get(row)
    let existing = bytes.flatMap { StoreRow.intact(RegistrationRecord.self, $0, row) }
    if let existing, existing.lastSeenTime + lifetime > now { return try await renew(existing, key, request) }
    if let existing { try await remove(key, existing) }
    return try await store(try await newRecord(key, isDamaged: bytes != nil && existing == nil), key, request)
  }

  /// Each message to a registration reads and writes its row: a client must not make it large.
  private func checkLengths(_ request: RegisterRequest) throws {
    for (name, text, limit) in [
      ("senderID", request.senderID, tuning.longestName), ("platform", request.platform, tuning.longestName),
      ("appID", request.appID, tuning.longestName), ("pushAddress", request.pushAddress?.text, tuning.longestAddress),
    ] {
      guard let text, text.utf8.count > limit else { continue }
      throw MessagingServiceError.invalid(name, "It has \(limit) bytes at most.")
    }
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
    record.topics = Int64(topics.values.count(where: \.isCurrent))
    record.leftTopics = Int64(topics.count) - record.topics
    record.waiting = Int64(try await reader.numbers(in: Keys.queue(key)).count)
    record.createdAfter = min(record.createdAfter, topics.values.map { $0.past.first?.after ?? $0.since }.min() ?? .max)
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
      try await setAddress(request.pushAddress?.text, of: key, &record)
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
    try await setAddress(request.pushAddress?.text, of: key, &record)
    try await put(record, Keys.registration(key))
    try await put(TokenRecord(key), Keys.token(record.token))
    return record.token
  }

  private func setAddress(_ address: String?, of key: RegistrationKey, _ record: inout RegistrationRecord) async throws
  {
    guard record.pushAddress != address else { return }
    record.pushAddress = address
    for topic in try await reader.subscriptions(key).filter(\.value.isCurrent).keys {
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
    transaction.freesRoom()
    _ = try await noteChange(of: key)
    for topic in try await reader.subscriptions(key).keys { try await transaction.delete(Keys.member(topic, key)) }
    try await transaction.delete(Keys.token(record.token))
    try await transaction.delete(Keys.registration(key))
    let ranges = [Keys.subscriptions(key), Keys.queue(key), Keys.collapses(key), Keys.acknowledged(key)]
    for range in ranges + [Keys.owed(key), Keys.dropped(key)] { try await transaction.deleteRange(range) }
  }

  /// Numbers a change of a registration like a message, so that connections learn of it in order.
  func noteChange(of key: RegistrationKey) async throws -> Int64 {
    let sequence = try await nextNumber()
    try await put(sequence, Keys.sequence)
    let number = sequence.number
    var record = MessageRecord()
    (record.kind, record.sentTime, record.expiryTime) = (.subscriptionChange, now, now)
    (record.installationID, record.senderID) = (key.installationID, key.senderID)
    try await put(record, Keys.message(number))
    try await transaction.put([], for: Keys.expiry(now + tuning.sweepPause.microseconds, number))
    return number
  }
}
