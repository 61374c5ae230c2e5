import VestaDatabaseBackend
import VestaDatabaseModel

/// The terms of a query, with the rules of how they combine.
struct QueryTerms: Sendable, Hashable {
  private(set) var spec = DatabaseQuerySpec.all
  private var isOrdered = false
  private var isStartWithKey = false
  private var isEndWithKey = false
  private var isEqual = false

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
    spec.start = try bound(value, key, function, beyond: isAfter ? .maximum : nil)
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
    spec.end = try bound(value, key, function, beyond: isBefore ? .minimum : nil)
    isEndWithKey = key != nil
    try checkBounds()
  }

  /// Sets both ends to a value.
  mutating func equal(_ value: Any?, key: String?, _ function: String) throws(InvalidValue) {
    try start(value, key: key, function)
    isEqual = true
    try end(value, key: key, function)
  }

  /// One end.
  ///
  /// - Parameter beyond: For an end that is not part of the query: the key after, or before, all keys with the value.
  private func bound(
    _ value: Any?, _ key: String?, _ function: String, beyond: DatabaseKey?
  ) throws(InvalidValue) -> DatabaseQuerySpec.Bound {
    if let key, !KeyRules.isValidKey(key) { throw InvalidValue(Texts.childKey(function)) }
    let node = try NodeImport(at: .root).node(value)
    guard node.childCount == 0, node.leaf?.isDeferred != true else {
      throw InvalidValue("You can only pass nil, NSString or NSNumber to \(function)")
    }
    guard let beyond else { return .init(node, key: key.map { DatabaseKey($0) }) }
    // Keys are compared as they are: "01" is between "1" and "2".
    if spec.index == .key, node.leaf != nil { return .init(node, isInclusive: false) }
    return key.map { .init(node, key: DatabaseKey($0), isInclusive: false) } ?? .init(node, key: beyond)
  }

  private func checkBounds() throws(InvalidValue) {
    for (bound, hasKey) in [(spec.start, isStartWithKey), (spec.end, isEndWithKey)] {
      guard let bound else { continue }
      switch (spec.index, bound.value.leaf) {
      case (.key, .string(let text)?) where !hasKey && (!isEqual || KeyRules.isValidKey(text)): continue
      case (.key, .string?) where hasKey:
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
