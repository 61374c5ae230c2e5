import VestaConcurrency

/// The messages that wait in memory for the transports: each service of a platform has its own line, and a bounded
/// number of messages waits.
///
/// - A service that is slow, or hangs, delays its own messages alone. It has few of them at once until it has accepted
///   some: the number grows by one with each success, and falls to one with a failure.
/// - Services that have not accepted a message lately have a part of the lanes, all together: many names that lead to
///   one slow machine do not hold up the services that work. Half of these lanes is for services that have not failed:
///   the ones that fail again and again do not hold up a new one.
/// - The messages of one call to one registration are handed over one after another.
/// - Messages without a place here are not lost: they wait in the store.
final class PushQueue: Sendable {
  /// The messages of one call to one registration, in order.
  typealias Batch = [PushJob]

  private struct Line {
    var waiting = Fifo<ArraySlice<PushJob>>()
    var count = 0
    var running = 0
    var allowed = 1
    /// Whether it is among the services that have a turn.
    var isReady = false
    /// The lane of services that have not accepted a message lately that it has.
    var trial: Trial?

    /// The number of batches that may be handed over now.
    var free: Int { min(max(0, allowed - running), waiting.count) }
  }

  /// Why a service has not accepted a message lately.
  private enum Trial {
    /// Its latest message has failed.
    case failing
    /// It was not asked lately.
    case untried
  }

  private struct State {
    var lines: [String: Line] = [:]
    /// The services with a message that may be handed over.
    var ready = Fifo<String>()
    /// The services that wait for a lane, because they have not accepted a message lately.
    var held = (untried: Fifo<String>(), failing: Fifo<String>())
    /// The services that have accepted a message lately, and those whose latest message has failed.
    var known: Set<String> = []
    var failing: Set<String> = []
    /// The number of lanes that such services have.
    var onTrial = (all: 0, failing: 0)
    var count = 0
    var running = 0

    /// Stores the line of a service, which gets a turn if it has something to hand over.
    mutating func update(_ service: String, _ line: Line) {
      var line = line
      if line.free > 0, !line.isReady {
        line.isReady = true
        ready.append(service)
      }
      lines[service] = line.running == 0 && line.count == 0 ? nil : line
    }

    /// Notes whether a service has accepted its latest message.
    mutating func note(_ service: String, _ isWorking: Bool, upTo limit: Int) {
      if isWorking {
        failing.remove(service)
        Self.remember(service, in: &known, upTo: limit)
      } else {
        known.remove(service)
        Self.remember(service, in: &failing, upTo: limit)
      }
    }

    private static func remember(_ service: String, in services: inout Set<String>, upTo limit: Int) {
      // Any one: many new names must not make all that work wait for a trial again.
      if services.count >= limit, !services.contains(service) { services.removeFirst() }
      services.insert(service)
    }

    /// Gives a service that has not accepted a message lately a lane, or has it wait for one.
    ///
    /// - Returns: The lane; `nil` where it waits.
    mutating func beginTrial(_ service: String, upTo limit: Int) -> Trial? {
      let trial: Trial = failing.contains(service) ? .failing : .untried
      guard onTrial.all < limit, trial == .untried || onTrial.failing < max(1, limit / 2) else {
        if trial == .failing { held.failing.append(service) } else { held.untried.append(service) }
        return nil
      }
      onTrial.all += 1
      if trial == .failing { onTrial.failing += 1 }
      return trial
    }

    /// Frees a lane, for the next service that waits for one: new ones precede services that have failed.
    ///
    /// - Returns: Whether there is one.
    mutating func end(_ trial: Trial) -> Bool {
      onTrial.all -= 1
      if trial == .failing { onTrial.failing -= 1 }
      guard let next = held.untried.popFirst() ?? held.failing.popFirst() else { return false }
      ready.append(next)
      return true
    }
  }

  private let limits: (all: Int, service: Int)
  private let lanes: (all: Int, service: Int, new: Int)
  private let knownLimit: Int
  private let state = Locked(State())

  /// A queue.
  ///
  /// - Parameters:
  ///   - limit: How many messages may wait: in all, and of one service.
  ///   - lanes: How many are handed over at the same time: to all services, to one, and to all that have not accepted a
  ///     message lately.
  ///   - known: Of how many services it is remembered that they have.
  init(limit: (all: Int, service: Int), lanes: (all: Int, service: Int, new: Int), known: Int) {
    self.limits = (max(1, limit.all), max(1, limit.service))
    self.lanes = (max(1, lanes.all), max(1, lanes.service), max(1, lanes.new))
    knownLimit = max(1, known)
  }

  /// How many messages wait.
  var waitingCount: Int { state.withLock { $0.count } }

  /// Whether nothing waits and nothing is being handed over, for tests.
  var isIdle: Bool { state.withLock { $0.count == 0 && $0.running == 0 } }

  /// The number of messages that have a place.
  var room: Int { max(0, limits.all - waitingCount) }

  /// Adds messages of one call to one registration.
  ///
  /// - Parameters:
  ///   - batch: The messages, in order.
  ///   - service: The service that reaches the registration.
  ///   - push: Hands one over, and answers whether the service does its work, `nil` when it was not asked; the same for
  ///     all.
  /// - Returns: The messages that were not added, because there are too many.
  func add(
    _ batch: Batch, for service: String, _ push: @escaping @Sendable (PushJob) async -> Bool?
  ) -> ArraySlice<PushJob> {
    let (taken, begins) = state.withLock { state in
      var line = state.lines[service] ?? Line()
      let taken = batch.prefix(max(0, min(limits.all - state.count, limits.service - line.count)))
      guard !taken.isEmpty else { return (0, false) }
      line.waiting.append(taken)
      line.count += taken.count
      state.count += taken.count
      state.update(service, line)
      let begins = state.running < lanes.all
      if begins { state.running += 1 }
      return (taken.count, begins)
    }
    if begins { Task { await self.run(push) } }
    return batch[taken...]
  }

  private func run(_ push: @escaping @Sendable (PushJob) async -> Bool?) async {
    while let (service, batch) = next() {
      var isWorking: Bool?
      for job in batch { isWorking = await push(job) ?? isWorking }
      let begins = ended(service, isWorking)
      for _ in 0..<begins { Task { await self.run(push) } }
    }
  }

  /// The next messages of the service whose turn it is; `nil` ends the caller.
  private func next() -> (String, ArraySlice<PushJob>)? {
    state.withLock { state in
      while let service = state.ready.popFirst() {
        guard var line = state.lines[service] else { continue }
        // The work on members of topics is the store's.
        let isNew = !service.isEmpty && !state.known.contains(service)
        guard line.free > 0 else {
          line.isReady = false
          state.update(service, line)
          continue
        }
        if isNew, line.trial == nil {
          line.trial = state.beginTrial(service, upTo: lanes.new)
          // It stays ready, and gets its turn when such a lane is free.
          if line.trial == nil { continue }
        }
        line.isReady = false
        guard let batch = line.waiting.popFirst() else { continue }
        line.running += 1
        line.count -= batch.count
        state.count -= batch.count
        state.update(service, line)
        return (service, batch)
      }
      state.running -= 1
      return nil
    }
  }

  /// Notes the end of a batch; answers how many more callers may run.
  private func ended(_ service: String, _ isWorking: Bool?) -> Int {
    state.withLock { state in
      guard var line = state.lines[service] else { return 0 }
      line.running -= 1
      if let isWorking {
        line.allowed = isWorking ? min(line.allowed + 1, lanes.service) : 1
        state.note(service, isWorking, upTo: knownLimit)
      }
      var others = 0
      if let trial = line.trial.take(), state.end(trial) { others = 1 }
      state.update(service, line)
      // The caller itself takes one of them.
      let begins = max(0, min(line.free + others - 1, lanes.all - state.running))
      state.running += begins
      return begins
    }
  }
}
