/// The holders of documents, and the queue for each document: a value without clock, thread or lock.
///
/// Readers share a document, a writer has it alone. In order of arrival: a reader queues after a writer that
/// waits, so writers do not starve, and the only reader that becomes a writer is first. A wait that would close a
/// cycle is refused; so of two readers that both want to write, one continues and the other begins again.
///
/// | holds | asks | answer |
/// |---|---|---|
/// | none, or readers with an empty queue | a reader | granted |
/// | none, or the asker alone | a writer | granted |
/// | others | a writer, or a reader after a writer | must wait, in the queue |
/// | others, one of which waits for the asker | any | deadlock |
struct LockTable<Resource: Hashable & Sendable, Owner: Hashable & Sendable>: Sendable {
  enum Answer: Equatable {
    case granted
    case mustWait
    case deadlock
  }

  enum Mode: Sendable {
    case shared
    case exclusive
  }

  private struct Request: Sendable {
    var owner: Owner
    var mode: Mode
  }

  private struct Entry: Sendable {
    var holders: [Owner: Mode] = [:]
    var queue: [Request] = []

    /// Whether a request could be granted now, the queue aside.
    func allows(_ request: Request) -> Bool {
      switch request.mode {
      case .exclusive: holders.isEmpty || holders.count == 1 && holders[request.owner] != nil
      case .shared: !holders.values.contains(.exclusive)
      }
    }
  }

  private var entries: [Resource: Entry] = [:]
  private var held: [Owner: Set<Resource>] = [:]
  private var waiting: [Owner: Resource] = [:]

  var isEmpty: Bool { entries.isEmpty }

  /// Asks for a document.
  ///
  /// A waiting transaction owns the lock once a `release` names it.
  mutating func acquire(_ resource: Resource, for owner: Owner, _ mode: Mode = .exclusive) -> Answer {
    var entry = entries[resource] ?? Entry()
    let request = Request(owner: owner, mode: mode)
    let holding = entry.holders[owner]
    if holding == .exclusive || holding != nil && mode == .shared { return .granted }
    if entry.allows(request), entry.queue.isEmpty || holding != nil {
      entry.holders[owner] = mode
      entries[resource] = entry
      held[owner, default: []].insert(resource)
      return .granted
    }
    // A transaction that waits cannot wait for a second lock: that would hide cycles.
    guard waiting[owner] == nil, !closesCycle(request, at: entry) else { return .deadlock }
    // A reader that becomes a writer is waited for by all in the queue, so it precedes them.
    entry.queue.insert(request, at: holding == nil ? entry.queue.count : 0)
    entries[resource] = entry
    waiting[owner] = resource
    return .mustWait
  }

  /// Gives everything back that an owner holds or waits for.
  ///
  /// - Returns: The owners that had waited and now hold their locks.
  mutating func release(_ owner: Owner) -> [Owner] {
    var touched = held.removeValue(forKey: owner) ?? []
    if let resource = waiting.removeValue(forKey: owner) {
      entries[resource]?.queue.removeAll { $0.owner == owner }
      touched.insert(resource)
    }
    var next: [Owner] = []
    for resource in touched {
      entries[resource]?.holders[owner] = nil
      next += promote(resource)
    }
    return next
  }

  /// Grants what can be granted at the front of a queue.
  private mutating func promote(_ resource: Resource) -> [Owner] {
    guard var entry = entries[resource] else { return [] }
    var granted: [Owner] = []
    while let first = entry.queue.first, entry.allows(first) {
      entry.queue.removeFirst()
      entry.holders[first.owner] = first.mode
      held[first.owner, default: []].insert(resource)
      waiting[first.owner] = nil
      granted.append(first.owner)
    }
    entries[resource] = entry.holders.isEmpty && entry.queue.isEmpty ? nil : entry
    return granted
  }

  /// Whether an owner that this one would wait for waits, over any number of others, for the owner.
  private func closesCycle(_ request: Request, at entry: Entry) -> Bool {
    // A holder that becomes a writer waits for the other holders only.
    let isUpgrade = entry.holders[request.owner] != nil
    var stack = entry.holders.keys.filter { $0 != request.owner } + (isUpgrade ? [] : entry.queue.map(\.owner))
    var seen: Set<Owner> = []
    while let owner = stack.popLast() {
      if owner == request.owner { return true }
      guard seen.insert(owner).inserted, let resource = waiting[owner], let entry = entries[resource] else { continue }
      stack += entry.holders.keys.filter { $0 != owner }
      for other in entry.queue.prefix(while: { $0.owner != owner }) { stack.append(other.owner) }
    }
    return false
  }
}
