import VestaConcurrency
import VestaFirestoreBackend
import VestaTesting

/// A listener that keeps its responses, as a client does, and fails on responses that no client could understand.
struct ListenProbe {
  private let call: ListenCall
  private let patience: Duration
  private var iterator: AsyncThrowingStream<[ListenResponse], any Error>.Iterator
  private var waiting: [ListenResponse] = []

  /// The documents of each target, by name.
  private(set) var targets: [Int32: [String: Document]] = [:]
  private(set) var token: [UInt8] = []
  private(set) var readTime = Timestamp(seconds: 0)
  /// The changes of targets that name one, in order.
  private(set) var changes: [TargetChange] = []
  private(set) var filters: [ExistenceFilter] = []
  /// The number of document messages, repetitions included.
  private(set) var messages = 0
  private(set) var repetitions = 0

  init(_ subject: FirestoreSubject, as caller: CallContext? = nil) async throws {
    call = try await subject.backend.listen(database: subject.database, context: caller ?? subject.context)
    iterator = call.responses.makeAsyncIterator()
    patience = subject.patience
  }

  func add(_ target: Target) { call.send(.addTarget(target)) }
  func remove(_ id: Int32) { call.send(.removeTarget(id: id)) }
  func cancel() { call.cancel() }

  var kinds: [TargetChange.Kind] { changes.map(\.kind) }

  /// The documents of a target, by path, with their fields.
  func fields(of id: Int32, in subject: FirestoreSubject) -> [String: MapValue] {
    let found = (targets[id] ?? [:]).map { (String($0.key.dropFirst(subject.root.count + 1)), $0.value.fields) }
    return Dictionary(uniqueKeysWithValues: found)
  }

  /// Starts with what another one knows of a target.
  mutating func adopt(_ id: Int32, from other: ListenProbe) { targets[id] = other.targets[id] }

  /// Reads until targets are current, and up to the global snapshot after the last of them.
  mutating func current(_ ids: Int32...) async throws {
    var missing = Set(ids)
    try await read("a global snapshot after targets \(ids) that are current") { response in
      guard case .targetChange(let change) = response else { return false }
      if change.kind == .current { missing.subtract(change.targetIDs) }
      return missing.isEmpty && change.isGlobalSnapshot
    }
  }

  /// Reads up to a global snapshot at or after a timestamp.
  mutating func snapshot(from time: Timestamp) async throws {
    try await read("a global snapshot at \(time) or later") { response in
      guard case .targetChange(let change) = response, change.isGlobalSnapshot else { return false }
      return change.readTime.map { $0 >= time } ?? false
    }
  }

  /// Reads until the removal of a target.
  mutating func removal(of id: Int32) async throws {
    try await read("the removal of target \(id)") { response in
      guard case .targetChange(let change) = response else { return false }
      return change.kind == .remove && change.targetIDs == [id]
    }
  }

  /// Reads until a target is removed.
  mutating func anyRemoval() async throws {
    try await read("the removal of a target") { response in
      guard case .targetChange(let change) = response else { return false }
      return change.kind == .remove
    }
  }

  /// Reads to the end of the call.
  mutating func end() async throws {
    let isOver = try await reads { _ in false }
    try expect(!isOver, "the call goes on")
  }

  private mutating func read(_ what: String, until isLast: (ListenResponse) -> Bool) async throws {
    try expect(try await reads(until: isLast), "the call ended, or was too slow, before \(what)")
  }

  private mutating func reads(until isLast: (ListenResponse) -> Bool) async throws -> Bool {
    let watchdog = Task { [call, patience] in
      try await Task.sleep(for: patience)
      call.cancel()
    }
    defer { watchdog.cancel() }
    while true {
      while !waiting.isEmpty {
        let response = waiting.removeFirst()
        try apply(response)
        if isLast(response) { return true }
      }
      guard let batch = try await iterator.next(isolation: #isolation) else { return false }
      waiting = batch
    }
  }

  /// Reads by a receiver and besides it, up to the batch with a document, which the receiver leaves.
  ///
  /// - Parameter takes: Whether the receiver takes the next of the other batches.
  mutating func receive(upTo name: String, takes: @escaping @Sendable () -> Bool) async throws {
    let watchdog = Task { [call, patience] in
      try await Task.sleep(for: patience)
      call.cancel()
    }
    defer { watchdog.cancel() }
    for response in waiting { try apply(response) }
    waiting = []
    let taken = Locked(Taken())
    while true {
      taken.withLock { $0.isAwaited = true }
      let batch = try await call.next { batch in
        if batch.contains(where: { $0.isChange(of: name) }) || !takes() { return false }
        taken.withLock { taken in
          taken.isUnexpected = taken.isUnexpected || !taken.isAwaited
          taken.responses += batch
        }
        return true
      }
      let earlier = taken.withLock { taken in
        taken.isAwaited = false
        defer { taken.responses = [] }
        return taken.responses
      }
      try expect(!taken.withLock { $0.isUnexpected }, "the receiver was called when no task waited")
      guard let batch else { throw ContractViolation("the call ended, or was too slow, before \(name) came") }
      for response in earlier + batch { try apply(response) }
      if batch.contains(where: { $0.isChange(of: name) }) { return }
    }
  }

  /// The responses that a receiver has taken.
  private struct Taken: Sendable {
    var responses: [ListenResponse] = []
    var isAwaited = false
    var isUnexpected = false
  }

  private mutating func apply(_ response: ListenResponse) throws {
    switch response {
    case .targetChange(let change): try apply(change)
    case .documentChange(let change):
      messages += 1
      for id in change.targetIDs {
        if targets[id]?[change.document.name] == change.document { repetitions += 1 }
        targets[id, default: [:]][change.document.name] = change.document
      }
      for id in change.removedTargetIDs { targets[id]?[change.document.name] = nil }
    case .documentDelete(let delete):
      messages += 1
      for id in delete.removedTargetIDs { targets[id]?[delete.document] = nil }
    case .documentRemove(let remove):
      messages += 1
      for id in remove.removedTargetIDs { targets[id]?[remove.document] = nil }
    case .filter(let filter): filters.append(filter)
    }
  }

  private mutating func apply(_ change: TargetChange) throws {
    if !change.targetIDs.isEmpty { changes.append(change) }
    if !change.resumeToken.isEmpty { token = change.resumeToken }
    if let time = change.readTime {
      try expect(time >= readTime, "a read time, \(time), comes after a later one, \(readTime)")
      readTime = time
    }
    if change.kind == .current { try expect(!change.resumeToken.isEmpty, "a current target has no token") }
    if change.kind == .reset || change.kind == .remove { for id in change.targetIDs { targets[id] = [:] } }
  }
}

extension TargetChange {
  fileprivate var isGlobalSnapshot: Bool { kind == .noChange && targetIDs.isEmpty && readTime != nil }
}

extension ListenResponse {
  fileprivate func isChange(of name: String) -> Bool {
    if case .documentChange(let change) = self { change.document.name == name } else { false }
  }
}
