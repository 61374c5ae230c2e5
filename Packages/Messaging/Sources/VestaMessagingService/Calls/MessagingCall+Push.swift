import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

// The messages for transports, in the store.
extension MessagingCall {
  /// Plans that a message is handed to transports, by the engine that accepts it.
  ///
  /// - Parameters:
  ///   - number: The message.
  ///   - key: The registration; `nil` for the members of a topic.
  ///   - registration: Its row.
  ///   - isKept: Whether it is tried again, also after a crash; an immediate message is not.
  func planPush(
    _ number: Int64, to key: RegistrationKey?, _ registration: RegistrationRecord?, isKept: Bool
  ) async throws -> PushJob {
    var job = PushJob(number: number, key: key, address: registration.flatMap(PushJob.Address.init))
    if isKept {
      let due = now + tuning.pushClaim.microseconds
      job.due = due
      try await put(PushRecord(), Keys.push(due, number, key))
    }
    return job
  }

  /// Whether a registration with an address is subscribed to a topic.
  func hasPushedMembers(_ topic: String) async throws -> Bool {
    try await !transaction.entries(in: Keys.members(topic), limit: 1).isEmpty
  }

  /// Takes the messages that are due; another engine takes them when this one has not handed them over in time.
  ///
  /// A message for a platform that no transport of this engine reaches is left to other engines for half the time of a
  /// claim. This one takes it then, and ends it or moves it: it would be in the way of all others for good.
  ///
  /// - Parameters:
  ///   - limit: The number of messages to take.
  ///   - row: The last scanned message; `nil` at the beginning of a scan.
  /// - Returns: The messages, the time of the first one that was left, and the message after which the scan
  ///   continues; `nil` at its end.
  func claimPushes(
    limit: Int, after row: [UInt8]?
  ) async throws -> (jobs: [PushJob], next: Int64?, last: [UInt8]?) {
    var (jobs, next, last, scanned) = ([PushJob](), Int64?.none, row, 0)
    while true {
      let entries = try await transaction.entries(in: Keys.pushes(after: last), limit: limit + 1)
      for entry in entries {
        let row = try Keys.push(ofRow: entry.key)
        guard row.time <= now else { return (jobs, min(next ?? .max, row.time), nil) }
        guard jobs.count < limit, scanned < tuning.longestPushScan else { return (jobs, next, last) }
        (last, scanned) = (entry.key, scanned + 1)
        if let job = try await claim(entry) {
          jobs.append(job)
        } else {
          next = min(next ?? .max, row.time + tuning.pushClaim.microseconds / 2)
        }
      }
      guard entries.count > limit else { return (jobs, next, nil) }
    }
  }

  /// Takes a message; `nil` for one that is left to other engines.
  private func claim(_ entry: StoreEntry) async throws -> PushJob? {
    let row = try Keys.push(ofRow: entry.key)
    let record = StoreRow.intact(PushRecord.self, entry.value, entry.key) ?? PushRecord()
    let (due, own) = (now + tuning.pushClaim.microseconds, now - tuning.pushClaim.microseconds / 2)
    var job = PushJob(number: row.number, key: row.key, address: nil)
    (job.due, job.failures, job.lastMember) = (due, Int(record.failures), record.lastMember)
    job.leaves = Int(clamping: record.leaves)
    if let key = row.key { job.address = try await address(of: key) }
    if let address = job.address, !pushed.contains(address.platform), row.time > own { return nil }
    try await transaction.delete(entry.key)
    try await put(record, Keys.push(due, row.number, row.key))
    return job
  }

  private func address(of key: RegistrationKey) async throws -> PushJob.Address? {
    let row = Keys.registration(key)
    let registration = try await transaction.get(row).flatMap { StoreRow.intact(RegistrationRecord.self, $0, row) }
    return registration.flatMap(PushJob.Address.init)
  }

  /// Writes a row for each of the next members of the topic of a message.
  ///
  /// - Returns: The rest of the work; `nil` when all members have their rows, and when another engine has it.
  func expandPush(_ job: PushJob, topic: String, limit: Int) async throws -> PushJob? {
    guard let due = job.due, try await transaction.get(Keys.push(due, job.number, nil)) != nil else { return nil }
    let entries = try await transaction.entries(in: Keys.members(topic, after: job.lastMember), limit: limit)
    let keys = try entries.map { try Keys.registration(ofMember: $0.key) }
    for key in keys { try await put(PushRecord(), Keys.push(now, job.number, key)) }
    try await transaction.delete(Keys.push(due, job.number, nil))
    guard keys.count == limit, let last = keys.last else { return nil }
    var (rest, record) = (job, PushRecord())
    (rest.due, rest.lastMember) = (now + tuning.pushClaim.microseconds, last)
    (record.installationID, record.senderID) = (last.installationID, last.senderID)
    if let due = rest.due { try await put(record, Keys.push(due, job.number, nil)) }
    return rest
  }

  /// Ends the work on a message, or has it taken up later.
  ///
  /// Another engine may have taken it in between: its row stays.
  func endPush(_ job: PushJob, again time: Int64?) async throws {
    guard let due = job.due else { return }
    let row = Keys.push(due, job.number, job.key)
    guard try await transaction.get(row) != nil else { return }
    try await transaction.delete(row)
    guard let time else { return }
    var record = PushRecord()
    (record.failures, record.leaves) = (Int64(job.failures), Int64(job.leaves))
    if let last = job.lastMember { (record.installationID, record.senderID) = (last.installationID, last.senderID) }
    try await put(record, Keys.push(time, job.number, job.key))
  }

  /// Removes a registration whose address no longer exists.
  ///
  /// - Returns: Whether it has another address by now, and is kept.
  func removeMissing(_ key: RegistrationKey, address: String) async throws -> Bool {
    guard let record = try await reader.record(RegistrationRecord.self, Keys.registration(key)) else { return false }
    guard record.pushAddress == address else { return record.pushAddress != nil }
    try await remove(key, record)
    return false
  }
}

/// A message that is to be handed to a transport.
struct PushJob: Sendable {
  /// Where a registration is reached.
  struct Address: Sendable {
    var platform: String
    var text: String

    /// `nil` for a registration without an address.
    init?(_ registration: RegistrationRecord) {
      guard let text = registration.pushAddress else { return nil }
      (platform, self.text) = (registration.platform, text)
    }
  }

  var number: Int64
  /// The registration; `nil` for the members of the topic of the message.
  var key: RegistrationKey?
  var address: Address?
  /// The time of its row, at which it belongs to this engine no longer; `nil` for one that has no row.
  var due: Int64?
  /// The number of attempts that have failed.
  var failures = 0
  /// The number of times at which it was left to other engines.
  var leaves = 0
  /// The last member of the topic that has its own row.
  var lastMember: RegistrationKey?
}
