import VestaBytes
import VestaConcurrency
import VestaStoreInterop

extension EventOutbox {
  // MARK: The lease

  /// Takes or extends the right to deliver the events of functions.
  public func lease(
    _ functions: Set<String>, for owner: String, duration: Int64
  ) async throws -> [String: EventLease] {
    let names = functions.sorted()
    let leases = try await open().write { transaction -> [String: EventLease] in
      let present = try await self.leases(names, transaction)
      let now = try await transaction.commitVersion().microseconds
      var answers: [String: EventLease] = [:]
      for (name, present) in zip(names, present) {
        let isOwn = present?.owner == owner
        if let present, !isOwn, present.expiry > now {
          answers[name] = .busy(remaining: present.expiry - now)
          continue
        }
        let lease = LeaseRecord(owner: owner, expiry: now + duration)
        try await transaction.put(try lease.fieldBytes(), for: self.keys.lease(name))
        answers[name] = .held(isNew: !isOwn)
      }
      return answers
    }.value
    // Another owner may have added letters.
    state.withLock { state in
      for (name, lease) in leases where lease == .held(isNew: true) { state.letters[name] = nil }
    }
    return leases
  }

  /// Gives the right to deliver up.
  public func release(_ functions: Set<String>, by owner: String) async throws {
    let names = functions.sorted()
    guard !names.isEmpty else { return }
    try await open().write { transaction in
      for (name, present) in zip(names, try await self.leases(names, transaction)) where present?.owner == owner {
        try await transaction.delete(self.keys.lease(name))
      }
    }
  }

  /// The leases; a damaged row is none, so that the next dispatcher takes it and writes it again.
  private func leases(_ names: [String], _ reader: any StoreReader) async throws -> [LeaseRecord?] {
    try await reader.get(names.map(keys.lease)).map { bytes in bytes.flatMap { try? LeaseRecord(fieldBytes: $0) } }
  }

  // MARK: The queue

  /// A page of the queue of a function.
  public func events(_ request: EventPageRequest) async throws -> EventPage {
    try await open().read { reader in
      var page = EventPage(entries: [], isLast: false)
      let range = keys.queue(request.function, after: request.after, through: request.through)
      page.isLast = true
      _ = try await reader.scan(range, order: .descending, limit: nil) { key, value in
        if page.entries.count >= request.limit {
          page.isLast = false
          return .stop
        }
        let key = key.bytes
        do {
          let entry = entry(request.function, try keys.position(key, .queue, request.function), value.bytes)
          if request.lane == nil || request.lane == entry.lane { page.entries.append(entry) }
        } catch {
          page.unreadableKeys.append("The row \(Hex.encode(key)) of \(request.function) has no valid key: \(error)")
        }
        return .next
      }
      try await addAttempts(to: &page.entries, reader)
      return page
    }
  }

  /// Completes entries of a page, which are in order, with their failed attempts, which few have.
  private func addAttempts(to entries: inout [EventEntry], _ reader: any StoreReader) async throws {
    guard let first = entries.first, let last = entries.last else { return }
    var failed: [[UInt8]: EventState] = [:]
    let limit = 2 * entries.count
    let range = keys.range(.states, first.function, first.position, last.position)
    let end = try await reader.scan(range, order: .ascending, limit: limit) { key, value in
      failed[key.bytes] = state(value.bytes)
      return .next
    }
    // Entries of a lane may be far apart, with many failures of others between them.
    let isAll = end.visited < limit
    let states = isAll ? [] : try await reader.get(entries.map { keys.key(.states, $0.function, $0.position) })
    guard !isAll || !failed.isEmpty else { return }
    for index in entries.indices {
      let key = keys.key(.states, entries[index].function, entries[index].position)
      guard let state = isAll ? failed[key] : states[index].map(state) else { continue }
      entries[index].attempts = state.attempts
      entries[index].retryTime = state.retryTime
    }
  }

  /// A row that cannot be read says that the event has failed before, and no more.
  private func state(_ bytes: [UInt8]) -> EventState { (try? EventState(fieldBytes: bytes)) ?? EventState(attempts: 1) }

  private func entry(_ function: String, _ position: EventPosition, _ value: [UInt8]) -> EventEntry {
    do {
      let record = try EventRecord(row: value)
      return EventEntry(
        function: function, position: position, lane: EventLane(scope: record.scope, path: record.path),
        time: record.time ?? position.version, record: value.count <= limits.inlineSize ? StoredEvent(record) : nil)
    } catch {
      // No path has a zero byte in its scope, so no other event is in this lane.
      var entry = EventEntry(
        function: function, position: position, lane: EventLane(scope: "\u{0}", path: "\(position)"),
        time: position.version)
      entry.damage = "\(error)"
      return entry
    }
  }

  /// Keeps the outcomes of deliveries.
  public func settle(_ outcomes: [EventOutcome], by owner: String) async throws {
    let known = state.withLock { $0.letters }
    let (gone, letters) = try await open().write { transaction in
      let names = Set(outcomes.map(\.function)).sorted()
      let lost = zip(names, try await self.leases(names, transaction)).filter { $0.1?.owner != owner }.map(\.0)
      guard lost.isEmpty else { throw EventLeaseLost(Set(lost)) }
      for outcome in outcomes { try await self.settle(outcome, transaction) }
      let delivered = outcomes.filter { $0.result == .delivered }
      for (function, outcomes) in Dictionary(grouping: delivered, by: \.function) {
        try await self.removeDelivered(outcomes.map(\.position), of: function, transaction)
      }
      let died = outcomes.filter { if case .dead = $0.result { true } else { false } }
      var letters: [String: Int] = [:]
      for (function, new) in Dictionary(grouping: died, by: \.function) {
        letters[function] = try await self.trimDeadLetters(
          function, known[function].map { $0 + new.count }, transaction)
      }
      return (outcomes.filter { if case .retry = $0.result { false } else { true } }.map(\.function), letters)
    }.value
    state.withLock { $0.letters.merge(letters) { $1 } }
    forget(gone)
  }

  private func forget(_ functions: [String]) {
    state.withLock { state in
      for function in functions {
        state.pending[function] = max(0, state.pending[function, default: 0] - 1)
        state.refusals[function] = nil
      }
    }
  }

  private func settle(_ outcome: EventOutcome, _ transaction: any StoreTransaction) async throws {
    let row = keys.key(.queue, outcome.function, outcome.position)
    let state = keys.key(.states, outcome.function, outcome.position)
    switch outcome.result {
    case .delivered: break
    case .retry(let time, let reason):
      guard try await transaction.get(row) != nil else { return }
      let record = EventState(attempts: outcome.attempts, retryTime: time, reason: reason)
      try await transaction.put(try record.fieldBytes(), for: state)
    case .dead(let time, let reason):
      guard let bytes = try await transaction.get(row) else { return }
      var dead = DeadRecord(attempts: outcome.attempts, reason: reason, time: time)
      do {
        dead.record = try EventRecord(row: bytes)
      } catch {
        dead.unreadable = bytes
      }
      try await transaction.put(try dead.fieldBytes(), for: keys.key(.dead, outcome.function, outcome.position))
      try await transaction.delete(row)
      try await transaction.delete(state)
    }
  }

  /// Deletes the rows of delivered events, and their attempts.
  ///
  /// Also for a first attempt: another owner may have failed on the event while this one had lost the lease.
  private func removeDelivered(
    _ positions: [EventPosition], of function: String, _ transaction: any StoreTransaction
  ) async throws {
    guard positions.count > limits.singleDeletions, let first = positions.min(), let last = positions.max() else {
      for position in positions {
        try await transaction.delete(keys.key(.queue, function, position))
        try await transaction.delete(keys.key(.states, function, position))
      }
      return
    }
    try await removeRuns(
      of: Set(positions.map { keys.key(.queue, function, $0) }), in: keys.range(.queue, function, first, last),
      transaction)
    let settled = Set(positions.map { keys.key(.states, function, $0) })
    let attempted = keys.range(.states, function, first, last)
    var states: [[UInt8]] = []
    _ = try await transaction.scan(attempted, order: .ascending, limit: nil) { key, _ in
      if settled.contains(key.bytes) { states.append(key.bytes) }
      return .next
    }
    for key in states { try await transaction.delete(key) }
  }

  /// Deletes the rows that follow one another by one call.
  ///
  /// Between them there may be other rows, such as the rows of a document whose event failed; where there are many, the
  /// rest is deleted one by one.
  private func removeRuns(
    of delivered: Set<[UInt8]>, in range: KeyRange, _ transaction: any StoreTransaction
  ) async throws {
    var runs: [KeyRange] = []
    var (found, isRun) = (0, false)
    let limit = 2 * delivered.count + 16
    let end = try await transaction.scan(range, order: .ascending, limit: limit) { key, _ in
      let key = key.bytes
      guard delivered.contains(key) else {
        isRun = false
        return .next
      }
      found += 1
      runs.append(KeyRange(from: isRun ? runs.removeLast().lower : key, to: key + [0]))
      isRun = true
      return .next
    }
    for run in runs { try await transaction.deleteRange(run) }
    guard end.visited == limit, found < delivered.count else { return }
    for key in delivered where !runs.contains(where: { $0.contains(key) }) { try await transaction.delete(key) }
  }

  // MARK: Dead letters

  /// Deletes the oldest dead letters where there are too many.
  ///
  /// - Parameter known: How many there are at the most; they are counted where that is unknown, or a tenth more than
  ///   are kept: counting thousands of letters at each failure would hold up all changes.
  /// - Returns: How many there are at the most.
  private func trimDeadLetters(
    _ function: String, _ known: Int?, _ transaction: any StoreTransaction
  ) async throws -> Int {
    if let known, known <= limits.maximumDeadLetters + limits.maximumDeadLetters / 10 { return known }
    var newest: [[UInt8]] = []
    _ = try await transaction.scan(keys.all(.dead, of: function), order: .descending, limit: nil) { key, _ in
      newest.append(key.bytes)
      return .next
    }
    guard newest.count > limits.maximumDeadLetters else { return newest.count }
    for key in newest.dropFirst(limits.maximumDeadLetters) { try await transaction.delete(key) }
    return limits.maximumDeadLetters
  }

  /// The dead letters of a function, the oldest first.
  public func deadLetters(of function: String, limit: Int) async throws -> [DeadLetter] {
    let entries = try await open().read { try await $0.entries(in: keys.all(.dead, of: function), limit: limit) }
    return entries.compactMap { entry in
      guard let position = try? keys.position(entry.key, .dead, function) else { return nil }
      return letter(entry.value, position)
    }
  }

  /// The letter of a row, with what can be read of a damaged one.
  private func letter(_ bytes: [UInt8], _ position: EventPosition) -> DeadLetter {
    var dead = DeadRecord()
    var damage: String?
    do {
      dead = try DeadRecord(fieldBytes: bytes)
      if dead.unreadable != nil { damage = dead.reason }
    } catch {
      dead = DeadRecord(reason: "The dead letter is damaged: \(error)", time: position.version)
      damage = dead.reason
    }
    var event = event(dead.record, at: position, data: [:])
    do {
      if damage == nil { event = try self.event(dead.record, at: position) }
    } catch {
      damage = "\(error)"
    }
    return DeadLetter(
      position: position, event: event, attempts: dead.attempts, reason: dead.reason, time: dead.time, damage: damage)
  }

  /// Puts dead letters back to the end of the queue.
  public func resend(_ positions: [EventPosition], of function: String) async throws -> Int {
    let count = try await open().write { transaction in
      let version = try await transaction.commitVersion().microseconds
      var count = 0
      for position in positions.sorted() {
        let key = self.keys.key(.dead, function, position)
        // A letter that is damaged itself stays; it can only be discarded.
        guard let bytes = try await transaction.get(key), let dead = try? DeadRecord(fieldBytes: bytes) else {
          continue
        }
        let place = EventPosition(version: version, number: Int64(count))
        let row = try dead.unreadable ?? self.row(of: dead.record, at: position)
        try await transaction.put(row, for: self.keys.key(.queue, function, place))
        try await transaction.delete(key)
        count += 1
      }
      return count
    }.value
    if count > 0 {
      state.withLock { $0.pending[function, default: 0] += count }
      wake()
    }
    return count
  }

  /// The row of an event that is sent again, with the id and the time that its first position gave it.
  private func row(of record: EventRecord, at position: EventPosition) throws -> [UInt8] {
    var record = record
    record.id = record.id ?? id(position)
    record.time = record.time ?? position.version
    return try record.fieldBytes()
  }

  /// Deletes dead letters.
  public func discard(_ positions: [EventPosition], of function: String) async throws -> Int {
    try await open().write { transaction in
      let found = try await transaction.get(positions.map { self.keys.key(.dead, function, $0) })
      for position in positions { try await transaction.delete(self.keys.key(.dead, function, position)) }
      return found.count { $0 != nil }
    }.value
  }
}
