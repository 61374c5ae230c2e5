package import VestaFirestoreBackend

/// Counts the entries of a document in the indexes that the service keeps without being asked.
///
/// Counted as the service does for automatic indexes: two for a field whose value is neither a map nor an array, one in
/// each direction, also within maps; one for each different element of an array, whose elements are not looked into;
/// none for a vector. Composite indexes and exemptions are not counted.
package enum IndexEntries {
  /// The number of entries.
  package static func count(in fields: MapValue) -> Int { fields.reduce(0) { $0 + count(of: $1.value) } }

  /// Whether there are more than a number.
  ///
  /// - Parameter size: The size of the document: small ones cannot have many, and are not counted.
  static func exceed(_ limit: Int, in fields: MapValue, size: Int) -> Bool {
    // A field takes three bytes or more and has two entries; an element takes at least one byte.
    size > limit && count(in: fields) > limit
  }

  private static func count(of value: Value) -> Int {
    switch value {
    case .map(let map): map[Value.typeKey] == .string(Value.vectorType) ? 0 : count(in: map)
    case .array(let elements): Set(elements.map(IndexEncoder.encode)).count
    default: 2
    }
  }
}
