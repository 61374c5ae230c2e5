/// Who holds which document, and who waits for it: a value without clock, thread or lock.
///
/// One holder at a time, first come, first served. So of many transactions that read a document to change it each gets
/// its turn, and none has to begin again. A wait that would close a circle is refused.
struct LockTable<Resource: Hashable & Sendable, Owner: Hashable & Sendable>: Sendable {
  enum Answer: Equatable {
    case granted
    case mustWait
    case deadlock
  }

  private struct Entry: Sendable {
    var holder: Owner
    var queue: [Owner] = []
  }

  private var entries: [Resource: Entry] = [:]
  private var held: [Owner: Set<Resource>] = [:]
  private var waiting: [Owner: Resource] = [:]

  var isEmpty: Bool { entries.isEmpty }

  /// Asks for a document.
  ///
  /// Who must wait owns it once a `release` names them.
  mutating func acquire(_ resource: Resource, for owner: Owner) -> Answer {
    guard var entry = entries[resource] else {
      entries[resource] = Entry(holder: owner)
      held[owner, default: []].insert(resource)
      return .granted
    }
    if entry.holder == owner { return .granted }
    // Who waits already can not wait for a second thing: that would hide circles.
    guard waiting[owner] == nil, !waits(entry.holder, for: owner) else { return .deadlock }
    entry.queue.append(owner)
    entries[resource] = entry
    waiting[owner] = resource
    return .mustWait
  }

  /// Gives everything back that an owner holds or waits for.
  ///
  /// - Returns: Those who had waited and now hold what they waited for.
  mutating func release(_ owner: Owner) -> [Owner] {
    if let resource = waiting.removeValue(forKey: owner) { entries[resource]?.queue.removeAll { $0 == owner } }
    var next: [Owner] = []
    for resource in held.removeValue(forKey: owner) ?? [] {
      guard var entry = entries[resource], !entry.queue.isEmpty else {
        entries[resource] = nil
        continue
      }
      entry.holder = entry.queue.removeFirst()
      entries[resource] = entry
      held[entry.holder, default: []].insert(resource)
      waiting[entry.holder] = nil
      next.append(entry.holder)
    }
    return next
  }

  /// Whether an owner waits, over any number of others, for another one.
  ///
  /// Everybody in a queue waits for the holder, who may change; following holders alone finds every circle, because a
  /// new holder comes out of a wait and waits for nothing then.
  private func waits(_ owner: Owner, for other: Owner) -> Bool {
    var current = owner
    while let resource = waiting[current], let holder = entries[resource]?.holder {
      if holder == other { return true }
      current = holder
    }
    return false
  }
}
