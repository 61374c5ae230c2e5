import VestaDatabaseBackend
import VestaDatabaseModel

/// The terms of a query, with the rules of how they combine.
struct QueryTerms: Sendable, Hashable {
  private(set) var spec = DatabaseQuerySpec.all
  private var isOrdered = false
  private var isStartWithKey = false
  private var isEndWithKey = false

  mutating func order(by index: DatabaseIndex) throws(InvalidValue) {
    guard !isOrdered else { throw InvalidValue("Cannot use multiple queryOrderedBy calls!") }
    isOrdered = true
    spec.index = index
    try checkBounds()
  }

  mutating func limit(_ count: UInt, _ side: DatabaseQuerySpec.Side, _ function: String) throws(InvalidValue) {
    guard spec.limit == nil else {
      throw InvalidValue(
        "Can't call \(function) if queryLimitedToFirst or queryLimitedToLast was previously called")
    }
    guard count > 0 else { throw InvalidValue("Limit can't be zero") }
    guard count < 1 << 31 else { throw InvalidValue("Limit must be less than 2,147,483,648") }
    spec.limit = .init(Int(count), side)
  }

  /// Sets the lower end: from a value, after it, or after one of its keys.
  mutating func start(
    _ value: Any?, key: String?, isAfter: Bool = false, _ function: String
  ) throws(InvalidValue) {
    guard spec.start == nil else {
      throw InvalidValue(
        "Can't call \(function) after queryStartingAtValue, queryStartingAfterValue or queryEqualToValue was "
          + "previously called")
    }
    spec.start = try bound(value, key, function, isAfter ? { KeyNeighbors.apple.successor(of: $0) } : nil, .maximum)
    isStartWithKey = key != nil
    try checkBounds()
  }

  /// Sets the upper end: up to a value, before it, or before one of its keys.
  mutating func end(
    _ value: Any?, key: String?, isBefore: Bool = false, _ function: String
  ) throws(InvalidValue) {
    guard spec.end == nil else {
      throw InvalidValue(
        "Can't call \(function) after queryEndingAtValue, queryEndingBeforeValue or queryEqualToValue was "
          + "previously called")
    }
    spec.end = try bound(value, key, function, isBefore ? { KeyNeighbors.apple.predecessor(of: $0) } : nil, .minimum)
    isEndWithKey = key != nil
    try checkBounds()
  }

  private func bound(
    _ value: Any?, _ key: String?, _ function: String, _ neighbor: ((DatabaseKey) -> DatabaseKey)?,
    _ beyond: DatabaseKey
  ) throws(InvalidValue) -> DatabaseQuerySpec.Bound {
    if let key, !KeyRules.isValidKey(key) { throw InvalidValue(Texts.childKey(function)) }
    let node = try NodeImport(at: .root).node(value)
    guard node.childCount == 0, node.leaf?.isDeferred != true else {
      throw InvalidValue("You can only pass nil, NSString or NSNumber to \(function)")
    }
    if spec.index == .key, case .string(let text)? = node.leaf, let neighbor {
      return .init(DatabaseNode(.string(neighbor(DatabaseKey(text)).text)))
    }
    guard let neighbor else { return .init(node, key: key.map { DatabaseKey($0) }) }
    return .init(node, key: key.map { neighbor(DatabaseKey($0)) } ?? beyond)
  }

  private func checkBounds() throws(InvalidValue) {
    for (bound, hasKey) in [(spec.start, isStartWithKey), (spec.end, isEndWithKey)] {
      guard let bound else { continue }
      switch (spec.index, bound.value.leaf) {
      case (.key, .string?) where !hasKey: continue
      case (.key, .string?):
        throw InvalidValue(
          "You must use queryStartingAtValue: instead of queryStartingAtValue:childKey: when using queryOrderedByKey:")
      case (.key, nil) where !hasKey && bound.value.isEmpty: continue
      case (.key, _):
        throw InvalidValue(
          """
          When using queryOrderedByKey, values used with queryStartingAtValue:, queryEndingAtValue:, \
          or queryEqualToValue: must be valid keys
          """)
      case (.priority, .bool?):
        throw InvalidValue(
          """
          When using queryOrderedByPriority, values provided to queryStartingAtValue:, queryEndingAtValue:, \
          or queryEqualToValue: must be valid priorities.
          """)
      default: continue
      }
    }
  }
}
