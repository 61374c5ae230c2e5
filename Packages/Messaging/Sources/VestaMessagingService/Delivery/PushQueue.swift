import VestaConcurrency

/// The messages that wait in memory for the transports: each service of a platform has its own line, and a bounded
/// number of messages waits.
///
/// - A service that is slow, or hangs, delays its own messages alone. It has few of them at once until it has accepted
///   some: the number grows by one with each success, and falls to one with a failure.
/// - Services that have not accepted a message lately have a part of the lanes, all together: many names that lead to
///   one slow machine do not hold up the services that work.
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
    /// Whether it is among the services whose turn comes.
    var isReady = false
    /// Whether it has one of the lanes of services that have not accepted a message lately.
    var isOnTrial = false

    /// The number of batches that may be handed over now.
    var free: Int { min(max(0, allowed - running), waiting.count) }
  }

  private struct State {
    var lines: [String: Line] = [:]
    /// The services with a message that may be handed over.
    var ready = Fifo<String>()
    /// The services that have not accepted a message lately, and wait for a lane.
    var held = Fifo<String>()
    /// The services that have accepted a message lately.
    var known: Set<String> = []
    var onTrial = 0
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
      guard isWorking else {
        known.remove(service)
        return
      }
      // Any one: many new names must not make all that work wait for a trial again.
      if known.count >= limit, !known.contains(service) { known.removeFirst() }
      known.insert(service)
    }

    /// Frees the lane of a service that had not accepted a message, for the next such service.
    ///
    /// - Returns: Whether there is one.
    mutating func endTrial() -> Bool {
      onTrial -= 1
      guard let next = held.popFirst() else { return false }
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
        if isNew, !line.isOnTrial, state.onTrial >= lanes.new {
          // It stays ready, and gets its turn when such a lane is free.
          state.held.append(service)
          continue
        }
        line.isReady = false
        guard line.free > 0, let batch = line.waiting.popFirst() else {
          state.update(service, line)
          continue
        }
        if isNew, !line.isOnTrial {
          line.isOnTrial = true
          state.onTrial += 1
        }
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
      if line.isOnTrial {
        line.isOnTrial = false
        if state.endTrial() { others = 1 }
      }
      state.update(service, line)
      // The caller itself takes one of them.
      let begins = max(0, min(line.free + others - 1, lanes.all - state.running))
      state.running += begins
      return begins
    }
  }
}
