extension Value {
  /// The name of the entry that says which kind of value a map represents.
  public static let typeKey = "__type__"

  /// The type of a map that is a vector.
  public static let vectorType = "__vector__"

  /// The name of the entry with a vector's numbers.
  public static let vectorKey = "value"

  /// A vector in the form the wire has for it: a map of `__type__` and `value`.
  ///
  /// - Parameter numbers: The coordinates.
  public static func vector(_ numbers: [Double]) -> Value {
    .map([typeKey: .string(vectorType), vectorKey: .array(numbers.map(Value.double))])
  }

  /// The entries of a map that is marked as a vector, with any content; `nil` for every other value.
  public var vectorElements: [Value]? {
    guard case .map(let map) = self, map.isVector, case .array(let elements)? = map[Value.vectorKey] else { return nil }
    return elements
  }
}

extension MapValue {
  /// Whether this map says that it is a vector, and has an array of values.
  public var isVector: Bool {
    guard count == 2, case .string(Value.vectorType)? = self[Value.typeKey], case .array? = self[Value.vectorKey] else {
      return false
    }
    return true
  }
}
