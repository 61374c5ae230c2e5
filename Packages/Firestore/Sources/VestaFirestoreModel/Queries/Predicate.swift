package import VestaFirestoreBackend

/// One question about one field, checked and in one form.
package struct Predicate: Sendable, Hashable {
  /// The test of a field's value.
  package enum Test: Sendable, Hashable {
    /// Equal to the value. Null and NaN are asked for in this way too.
    case equal(Value)
    /// There, not null, and equal to none of the values.
    case notIn([Value])
    /// In the class of the value, and in this relation to it.
    case compare(Relation, Value)
    /// An array that contains the value.
    case contains(Value)
  }

  /// The relation between a field and a value.
  package enum Relation: Sendable, Hashable {
    /// Below it.
    case less
    /// Below it or equal.
    case lessOrEqual
    /// Above it.
    case greater
    /// Above it or equal.
    case greaterOrEqual

    /// Whether a comparison with this outcome satisfies the relation.
    package func holds(_ order: Int) -> Bool {
      switch self {
      case .less: order < 0
      case .lessOrEqual: order <= 0
      case .greater: order > 0
      case .greaterOrEqual: order >= 0
      }
    }
  }

  /// The field.
  package let path: FieldPath
  /// The test of a field's value.
  package let test: Test

  /// A question about a field.
  package init(_ path: FieldPath, _ test: Test) {
    self.path = path
    self.test = test
  }

  /// Whether the question is one that implies an order by its field.
  package var isInequality: Bool {
    switch test {
    case .compare, .notIn: true
    case .equal, .contains: false
    }
  }

  /// Whether a document satisfies it.
  package func matches(_ document: Document) -> Bool {
    guard let value = document.value(at: path) else { return false }
    switch test {
    case .equal(let operand): return Predicate.isEqual(value, operand)
    case .notIn(let operands):
      return value != .null && !operands.contains { $0 == .null || IndexedOrder.compare(value, $0) == 0 }
    case .compare(let relation, let operand):
      guard ValueClass(of: value) == ValueClass(of: operand), !Predicate.isNaN(value) || Predicate.isNaN(operand) else {
        return false
      }
      return relation.holds(IndexedOrder.compare(value, operand))
    case .contains(let operand):
      guard case .array(let elements) = value else { return false }
      return elements.contains { Predicate.isEqual($0, operand) }
    }
  }

  /// Whether a value equals an operand.
  ///
  /// Of very long values the beginning counts, as in an index, unless the operand is one itself. The service refuses
  /// such an operand, so only the cache of a client is asked for it.
  private static func isEqual(_ value: Value, _ operand: Value) -> Bool {
    IndexEncoder.truncates(operand)
      ? ValueOrder.equal(value, operand) : IndexedOrder.compare(value, operand) == 0
  }

  private static func isNaN(_ value: Value) -> Bool {
    if case .double(let number) = value { return number.isNaN }
    return false
  }
}

/// The order of values as indexes have it: of very long values the beginning counts.
package enum IndexedOrder {
  /// Below zero, zero, or above zero.
  package static func compare(_ left: Value, _ right: Value) -> Int {
    let order = ValueOrder.compare(left, right)
    if order == 0 || !(IndexEncoder.truncates(left) || IndexEncoder.truncates(right)) { return order }
    return UTF8Order.compare(bytes: IndexEncoder.encode(left), IndexEncoder.encode(right))
  }
}

extension Document {
  /// The value at a path, which may be the document's name.
  package func value(at path: FieldPath) -> Value? {
    path.isDocumentName ? .reference(name) : fields[path]
  }
}
