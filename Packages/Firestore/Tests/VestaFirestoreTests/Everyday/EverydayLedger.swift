import VestaConcurrency

/// The writes of all clients, each with a number and the outcomes that are allowed.
///
/// Each is a batch that adds its number to a log of its client and user, one to a counter of all, and its number to a
/// note. So the documents of the backend show in the end whether each write was applied, once, and in which order.
final class EverydayLedger: Sendable {
  struct Write: Sendable {
    let number: Int
    /// The client and the user; the name of the log.
    let log: String
    let note: String
    /// Whether the network was disabled when it was written, and has been since.
    var isOffline: Bool
    /// Whether its first stage is over: it survives the process.
    var isSafe = false
    var isAcknowledged = false
    /// Whether it may be lost: its process was killed, or its cache was deleted.
    var mayBeLost = false
    /// Whether it must be lost: its cache was deleted, and it had never been sent.
    var isLost = false
  }

  private let state = Locked<[Write]>([])
  /// The clients of which a process was killed: its last requests may arrive after the requests of the next one.
  private let killed = Locked<Set<Int>>([])

  var writes: [Write] { state.withLock { $0 } }

  func add(client: Int, user: String?, note: Int, isOffline: Bool) -> Write {
    state.withLock { writes in
      let log = "c\(client)-\(user ?? "none")"
      let write = Write(number: writes.count, log: log, note: "\(log)-\(note)", isOffline: isOffline)
      writes.append(write)
      return write
    }
  }

  private func change(_ client: Int, _ body: (inout Write) -> Void) {
    state.withLock { writes in
      for index in writes.indices where writes[index].log.hasPrefix("c\(client)-") { body(&writes[index]) }
    }
  }

  func noteSafe(_ number: Int) { state.withLock { $0[number].isSafe = true } }
  func noteAcknowledged(_ number: Int) { state.withLock { $0[number].isAcknowledged = true } }

  /// The network of a client may have been enabled.
  func noteOnline(_ client: Int) { change(client) { $0.isOffline = false } }

  /// The process of a client was killed.
  func noteKilled(_ client: Int) {
    _ = killed.withLock { $0.insert(client) }
    change(client) { if !$0.isSafe, !$0.isAcknowledged { $0.mayBeLost = true } }
  }

  /// The cache of a client was deleted.
  func noteCleared(_ client: Int) {
    change(client) { write in
      if write.isAcknowledged { return }
      write.mayBeLost = true
      if write.isOffline { write.isLost = true }
    }
  }

  /// Returns the faults in the logs, the counter and the notes of the backend.
  func faults(logs: [String: [Int]], counter: Int, notes: [String: Int]) -> [String] {
    let writes = writes
    var faults: [String] = []
    let killed = killed.withLock { $0 }
    for (log, numbers) in logs where !killed.contains(where: { log.hasPrefix("c\($0)-") }) {
      if zip(numbers, numbers.dropFirst()).contains(where: { $0 >= $1 }) { faults.append("\(log) has \(numbers)") }
    }
    let applied = Set(logs.values.joined())
    for write in writes {
      let isThere = applied.contains(write.number)
      if !isThere, !write.mayBeLost { faults.append("lost: \(write)") }
      if isThere, write.isLost { faults.append("sent though its cache was deleted: \(write)") }
    }
    if applied.count != counter { faults.append("the counter is \(counter) after \(applied.count) writes") }
    var expected: [String: Int] = [:]
    for number in logs.values.joined() where writes.indices.contains(number) {
      expected[writes[number].note] = number
    }
    if expected != notes { faults.append("the notes are \(notes), not \(expected)") }
    return faults
  }
}
