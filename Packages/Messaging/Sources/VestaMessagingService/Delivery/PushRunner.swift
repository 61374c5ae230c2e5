import VestaConcurrency
import VestaCore
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

/// Delivers to registrations that are not connected, by the transports of an engine.
///
/// Each message for a transport has a row with the time at which it is to be taken up. The engine that accepts the
/// message writes the row with a time some minutes ahead, hands the message over at once, and removes the row. A
/// failure moves the row to the time of the next attempt. A crash leaves the row: the engine that runs at its time
/// takes it. An engine looks for such rows at its start and once a minute, and reads one row where none is due. A
/// message for a platform that no transport of the engine reaches is left to other engines until its time to live is
/// over.
///
/// | event | row of the message, in seconds after the call |
/// |---|---|
/// | `send` commits | 120 |
/// | the service answers 429, `retry-after: 300`, after a second | 301 |
/// | at 301 s an engine takes it up | 421 |
/// | the service answers 201 | none |
struct PushRunner: Sendable {
  let engine: MessagingEngine

  private var options: MessagingServiceOptions { engine.options }

  /// Hands messages over.
  func start(_ jobs: [PushJob]) {
    guard !jobs.isEmpty else { return }
    var batches: [RegistrationKey?: [PushJob]] = [:]
    for job in jobs { batches[job.key, default: []].append(job) }
    var surplus: [PushJob] = []
    for (_, batch) in batches {
      surplus += engine.pushes.add(batch, for: service(of: batch[0])) { [weak engine] job in
        guard let engine else { return true }
        return await PushRunner(engine: engine).push(job)
      }
    }
    // Together: a topic of many members would otherwise have a transaction and a line of the log for each of them.
    if !surplus.isEmpty { postpone(surplus) }
    if let due = jobs.compactMap(\.due).min() { wake(at: due) }
  }

  /// Pushes the messages that are due, at or after a time.
  func wake(at time: Int64) {
    guard !engine.transports.isEmpty else { return }
    let delay = time - engine.time()
    let work: @Sendable () -> Void = { [weak engine] in
      guard let engine else { return }
      Task { await PushRunner(engine: engine).pushDue() }
    }
    let timer = engine.pushTimer
    if delay <= 0 { work() } else { timer.start(at: time, after: .microseconds(delay), on: options.clock, work) }
  }

  /// Pushes the messages that are due, as many as have a place.
  private func pushDue() async {
    guard engine.pushTimer.begin() else { return }
    var scan = PushScan()
    repeat { await pushNext(&scan) } while engine.pushTimer.end(isDue: scan.next.map { $0 <= engine.time() } ?? false)
    wake(at: min(scan.next ?? .max, engine.time() + options.tuning.pushScanInterval.microseconds))
  }

  /// Pushes the next messages of a scan.
  private func pushNext(_ scan: inout PushScan) async {
    do {
      // Without a transaction that writes, as mostly nothing is due.
      if scan.last == nil, let first = try await firstTime(), first > engine.time() {
        scan = PushScan(next: first)
        return
      }
      let limit = min(engine.pushes.room, max(1, options.tuning.pushBatch))
      guard limit > 0 else { return scan = PushScan(next: engine.time() + options.tuning.pushPause.microseconds) }
      let last = scan.last
      let found = try await engine.write { try await $0.claimPushes(limit: limit, after: last) }
      start(found.jobs)
      scan.note(found.next, found.last, now: engine.time())
    } catch {
      // After the end of the engine its timer does not start again.
      scan = PushScan(next: engine.time() + options.tuning.pushPause.microseconds)
    }
  }

  /// The time of the first message for a transport; the time of the next scan where there is none.
  private func firstTime() async throws -> Int64? {
    let first = try await engine.store().read { try await $0.entries(in: Keys.pushes, limit: 1).first }
    guard let first else { return engine.time() + options.tuning.pushScanInterval.microseconds }
    return try Keys.push(ofRow: first.key).time
  }

  /// The service that reaches the registration of a message; none for the members of a topic.
  private func service(of job: PushJob) -> String {
    guard let address = job.address, let transport = transport(for: address.platform) else { return "" }
    return "\(address.platform) \(transport.service(of: PushAddress(text: address.text)))"
  }

  private func transport(for platform: String) -> (any PushTransport)? {
    engine.transports.first { $0.platforms.contains(platform) }
  }

  /// Has messages without a place in memory taken up later.
  private func postpone(_ jobs: [PushJob]) {
    log.error("I-MSS000004", "\(jobs.count) messages wait in the store: the transports are too slow.")
    Task {
      let time = engine.time() + options.tuning.pushPause.microseconds
      try? await engine.write { call in for job in jobs { try await call.endPush(job, again: time) } }
      wake(at: time)
    }
  }

  /// Hands a message over.
  ///
  /// - Returns: Whether the service of the platform does its work; `nil` when it was not asked.
  private func push(_ job: PushJob) async -> Bool? {
    // The rest of the time is for the push itself: later on another engine may have taken the message.
    if let due = job.due, due - engine.time() < options.tuning.pushClaim.microseconds / 2 { return nil }
    do {
      guard job.key != nil else {
        try await addRowsOfMembers(job)
        return true
      }
      guard let target = try await target(of: job) else {
        try await end(job)
        return nil
      }
      return try await push(job, to: target)
    } catch {
      log.error("I-MSS000005", "A message for a transport waits: the store has failed. \(error)")
      if let due = job.due { wake(at: due) }
      return nil
    }
  }

  private func addRowsOfMembers(_ job: PushJob) async throws {
    let number = job.number
    let record = try await engine.store().read { try await MessagingReader(reader: $0).messages([number])[number] }
    guard let record, let message = DispatchedMessage(number: number, record: record),
      case .topic(let topic) = message.audience
    else { return try await end(job) }
    var rest: PushJob? = job
    let limit = max(1, options.tuning.pushBatch)
    while let part = rest {
      rest = try await engine.write { try await $0.expandPush(part, topic: topic, limit: limit) }
      wake(at: engine.time())
    }
  }

  private func push(_ job: PushJob, to target: PushTarget) async throws -> Bool? {
    guard let address = target.registration.pushAddress else {
      try await end(job)
      return nil
    }
    guard let transport = transport(for: target.registration.platform) else {
      try await leave(job, until: target.expiryTime)
      return nil
    }
    do {
      try await transport.push(target.delivery, to: PushAddress(text: address))
    } catch {
      return try await failed(job, target, address, error)
    }
    try? await engine.acknowledge(
      token: target.registration.token, messageIDs: [target.delivery.messageID], context: CallContext())
    try await end(job)
    return true
  }

  /// Leaves a message to engines that reach its platform, for a time that grows.
  private func leave(_ job: PushJob, until expiryTime: Int64) async throws {
    var job = job
    job.leaves += 1
    let pauses = Retry(initial: options.tuning.pushClaim, cap: options.tuning.longestPushLeave)
    let now = engine.time()
    // The last look is early enough for a push before the end of the time to live.
    let last = expiryTime - options.tuning.pushClaim.microseconds
    let again = pauses.pause(after: job.leaves).map { min(now + $0.microseconds, last) }
    try await end(job, again: again.flatMap { $0 > now ? $0 : nil })
  }

  private func failed(
    _ job: PushJob, _ target: PushTarget, _ address: String, _ error: MessagingServiceError
  ) async throws -> Bool {
    if error.reason == .unregistered, let key = job.key {
      let isElsewhere = try await engine.write { try await $0.removeMissing(key, address: address) }
      engine.startDispatching()
      try await end(job, again: isElsewhere ? engine.time() : nil)
      return true
    }
    var job = job
    job.failures += 1
    let pause = error.code == .unavailable ? self.pause(after: job.failures, error.retryAfter) : nil
    let again = pause.map { engine.time() + $0.microseconds }
    let isTriedAgain = again.map { $0 < target.expiryTime } ?? false
    log.error(
      "I-MSS000006",
      isTriedAgain
        ? "A transport has failed; the message is handed over again later. \(error)"
        : "A transport has failed; the message waits until its registration connects. \(error)")
    try await end(job, again: isTriedAgain ? again : nil)
    return error.code != .unavailable
  }

  /// The pause after failures; `nil` when there is no further attempt.
  private func pause(after failures: Int, _ wanted: Duration?) -> Duration? {
    guard let own = options.tuning.pushRetry.pause(after: failures) else { return nil }
    guard let wanted else { return own }
    return max(own, min(wanted, options.tuning.longestRetryAfter))
  }

  private func end(_ job: PushJob, again time: Int64? = nil) async throws {
    guard job.due != nil else { return }
    try await engine.write { try await $0.endPush(job, again: time) }
    if let time { wake(at: time) }
  }
}

/// A registration that a message is handed over to.
struct PushTarget: Sendable {
  var registration: RegistrationRecord
  var delivery: PushDelivery
  /// When the time of the message is over.
  var expiryTime: Int64
}

extension PushRunner {
  /// The registration of a message with the delivery; `nil` when there is nothing to hand over.
  private func target(of job: PushJob) async throws -> PushTarget? {
    guard let key = job.key, engine.table.session(key) == nil else { return nil }
    let store = try await engine.store()
    let (now, senderID, lifetime) = (engine.time(), engine.senderID, options.registrationLifetime.microseconds)
    return try await store.read { reader in
      let reader = MessagingReader(reader: reader)
      guard let record = try await reader.messages([job.number])[job.number],
        let message = DispatchedMessage(number: job.number, record: record),
        let registration = try await reader.record(RegistrationRecord.self, Keys.registration(key)),
        registration.pushAddress != nil, registration.lastSeenTime + lifetime > now
      else { return nil }
      var delivery = message.delivery(platform: registration.platform, senderID: senderID)
      let expiryTime = record.sentTime + Int64(delivery.settings.timeToLive * 1_000_000)
      let isWanted = try await reader.isWaiting(message, for: key, registration)
      // An immediate message has one attempt, soon.
      let isFresh = job.failures == 0 && now - record.sentTime < Self.immediate.microseconds
      guard isWanted, expiryTime > now || delivery.settings.timeToLive <= 0 && isFresh else { return nil }
      delivery.settings.timeToLive = Double(max(0, expiryTime - now)) / 1_000_000
      return PushTarget(registration: registration, delivery: delivery, expiryTime: expiryTime)
    }
  }

  /// How long an immediate message is worth handing over.
  private static let immediate = Duration.seconds(30)
}

extension MessagingReader {
  /// Whether a registration has not acknowledged a message, and it was not replaced or dropped.
  func isWaiting(
    _ message: DispatchedMessage, for key: RegistrationKey, _ registration: RegistrationRecord
  ) async throws -> Bool {
    let number = message.number
    switch message.audience {
    case .registration:
      return try await reader.get(Keys.queued(key, number)) != nil || message.isInstant(on: registration.platform)
    case .topic(let topic):
      guard try await subscription(key, topic)?.holds(at: number) == true else { return false }
      let rows = try await reader.get([Keys.acknowledged(key, number), Keys.owed(key, number)])
      return rows[1] != nil || number > registration.cursor && rows[0] == nil
    case .condition: return false
    }
  }
}

private let log = Logger(service: "VestaMessagingService")
