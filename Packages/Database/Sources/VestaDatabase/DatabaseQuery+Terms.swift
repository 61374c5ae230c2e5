import VestaDatabaseBackend
import VestaDatabaseModel

extension DatabaseQuery {
  // MARK: Limits

  /// The first children of the query.
  public func queryLimited(toFirst limit: UInt) -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in try terms.limit(limit, .first, "queryLimitedToFirst") }
  }

  /// The last children of the query.
  public func queryLimited(toLast limit: UInt) -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in try terms.limit(limit, .last, "queryLimitedToLast") }
  }

  // MARK: Orders

  /// Orders by a value below each child; the key can be a path.
  public func queryOrdered(byChild key: String) -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in
      let instead = ["$key": "Key", ".key": "Key", "$value": "Value", ".value": "Value"]
      let priority = ["$priority": "Priority", ".priority": "Priority"]
      if let name = instead[key] ?? priority[key] {
        throw InvalidValue("(queryOrderedByChild:) \(key) is invalid.  Use queryOrderedBy\(name): instead.")
      }
      guard KeyRules.isValidPath(key) else { throw InvalidValue(Texts.path("queryOrderedByChild:")) }
      try terms.order(by: .child(DatabasePath(key)))
    }
  }

  /// Orders by key.
  public func queryOrderedByKey() -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in try terms.order(by: .key) }
  }

  /// Orders by the values of the children.
  public func queryOrderedByValue() -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in try terms.order(by: .value) }
  }

  /// Orders by priority, which is the order of a query without another.
  public func queryOrderedByPriority() -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in try terms.order(by: .priority) }
  }

  // MARK: Bounds

  /// The children from a value on.
  public func queryStarting(atValue startValue: Any?) -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in try terms.start(startValue, key: nil, "queryStartingAtValue:") }
  }

  /// The children from a value on, and from a key on among those with that value.
  public func queryStarting(atValue startValue: Any?, childKey: String?) -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in
      try terms.start(startValue, key: childKey, "queryStartingAtValue:childKey:")
    }
  }

  /// The children after a value.
  public func queryStarting(afterValue startAfterValue: Any?) -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in
      try terms.start(startAfterValue, key: nil, isAfter: true, "queryStartingAfterValue:")
    }
  }

  /// The children after a value, and after a key among those with that value.
  public func queryStarting(afterValue startAfterValue: Any?, childKey: String?) -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in
      try terms.start(startAfterValue, key: childKey, isAfter: true, "queryStartingAfterValue:childKey:")
    }
  }

  /// The children up to a value.
  public func queryEnding(atValue endValue: Any?) -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in try terms.end(endValue, key: nil, "queryEndingAtValue:") }
  }

  /// The children up to a value, and up to a key among those with that value.
  public func queryEnding(atValue endValue: Any?, childKey: String?) -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in try terms.end(endValue, key: childKey, "queryEndingAtValue:childKey:") }
  }

  /// The children before a value.
  public func queryEnding(beforeValue endValue: Any?) -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in
      try terms.end(endValue, key: nil, isBefore: true, "queryEndingBeforeValue:")
    }
  }

  /// The children before a value, and before a key among those with that value.
  public func queryEnding(beforeValue endValue: Any?, childKey: String?) -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in
      try terms.end(endValue, key: childKey, isBefore: true, "queryEndingBeforeValue:childKey:")
    }
  }

  /// The children with a value.
  public func queryEqual(toValue value: Any?) -> DatabaseQuery { queryEqual(toValue: value, childKey: nil) }

  /// The child with a value and a key.
  public func queryEqual(toValue value: Any?, childKey: String?) -> DatabaseQuery {
    with { (terms) throws(InvalidValue) in
      let function = childKey == nil ? "queryEqualToValue:" : "queryEqualToValue:childKey:"
      try terms.equal(value, key: childKey, function)
    }
  }
}
