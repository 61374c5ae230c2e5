/// Values by their keys, in the order in which they were added; adding, finding and removing one costs constant time.
struct OrderedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The values with gaps where values were removed; there are fewer gaps than values, or a few.
  private var slots: [(key: Key, value: Value)?] = []
  private var positions: [Key: Int] = [:]

  init() {}

  var isEmpty: Bool { positions.isEmpty }
  var count: Int { positions.count }

  /// The values in order.
  var values: some Sequence<Value> { slots.lazy.compactMap { $0?.value } }

  /// The places of the values in order, for changing them in place.
  var indices: [Int] { slots.indices.filter { slots[$0] != nil } }

  /// The place of a value.
  func index(of key: Key) -> Int? { positions[key] }

  subscript(key: Key) -> Value? { positions[key].flatMap { slots[$0]?.value } }

  /// Adds a value under a new key.
  mutating func append(_ value: Value, for key: Key) {
    positions[key] = slots.count
    slots.append((key, value))
  }

  /// Changes the value at a place.
  mutating func update<Result>(_ index: Int, _ body: (inout Value) -> Result) -> Result? {
    // Taken out, so that it is changed where it is and not copied.
    guard var entry = slots[index].take() else { return nil }
    defer { slots[index] = entry }
    return body(&entry.value)
  }

  @discardableResult
  mutating func remove(_ key: Key) -> Value? {
    guard let index = positions.removeValue(forKey: key) else { return nil }
    let removed = slots[index].take()?.value
    if slots.count > 8, positions.count * 2 < slots.count { compact() }
    return removed
  }

  private mutating func compact() {
    slots = slots.filter { $0 != nil }
    for (index, slot) in slots.enumerated() { if let slot { positions[slot.key] = index } }
  }
}

extension Optional {
  fileprivate mutating func take() -> Wrapped? {
    defer { self = nil }
    return self
  }
}
