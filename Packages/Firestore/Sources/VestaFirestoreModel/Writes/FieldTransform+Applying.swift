package import VestaFirestoreBackend

extension FieldTransform {
  /// Returns the new value of a field, and the result of the transform.
  ///
  /// - Parameters:
  ///   - value: The value of the field before; `nil` where there is none.
  ///   - requestTime: The value of server timestamps: the time of the commit, cut to milliseconds here.
  /// - Returns: The value after, and what is reported: that value, or null for transforms of arrays.
  package func applied(to value: Value?, requestTime: Timestamp) -> (value: Value, result: Value) {
    switch operation {
    case .serverTimestamp:
      let time = Value.timestamp(FieldTransform.serverTime(of: requestTime))
      return (time, time)
    case .increment(let operand):
      let sum = NumberTransforms.sum(value, operand)
      return (sum, sum)
    case .maximum(let operand):
      let result = NumberTransforms.extremum(value, operand) { $0 > 0 }
      return (result, result)
    case .minimum(let operand):
      let result = NumberTransforms.extremum(value, operand) { $0 < 0 }
      return (result, result)
    case .appendMissingElements(let elements): return (FieldTransform.appending(elements, to: value), .null)
    case .removeAllFromArray(let elements): return (FieldTransform.removing(elements, from: value), .null)
    }
  }

  private static func appending(_ elements: [Value], to value: Value?) -> Value {
    var array = FieldTransform.elements(of: value)
    var known = Set(array.map(EqualValue.init))
    for element in elements.map(\.stored) where known.insert(EqualValue(element)).inserted { array.append(element) }
    return .array(array)
  }

  private static func removing(_ elements: [Value], from value: Value?) -> Value {
    let removed = Set(elements.map { EqualValue($0.stored) })
    return .array(FieldTransform.elements(of: value).filter { !removed.contains(EqualValue($0)) })
  }

  /// The time that a server time becomes in a commit: its time to the millisecond.
  package static func serverTime(of commitTime: Timestamp) -> Timestamp {
    Timestamp(seconds: commitTime.seconds, nanos: commitTime.nanos / 1_000_000 * 1_000_000)
  }

  private static func elements(of value: Value?) -> [Value] {
    if case .array(let elements)? = value { return elements }
    return []
  }
}

/// Arithmetic of fields.
enum NumberTransforms {
  /// The sum; the operand where there is no number.
  ///
  /// Integers stay at the ends of their range.
  static func sum(_ value: Value?, _ operand: Value) -> Value {
    switch (value, operand) {
    case (.integer(let left)?, .integer(let right)):
      let (sum, overflow) = left.addingReportingOverflow(right)
      return .integer(overflow ? (right < 0 ? .min : .max) : sum)
    case (.integer(let left)?, .double(let right)): return .double(Double(left) + right)
    case (.double(let left)?, .integer(let right)): return .double(left + Double(right))
    case (.double(let left)?, .double(let right)): return .double(left + right)
    default: return operand
    }
  }

  /// The larger or smaller; NaN when one of them is; the stored value when they are equal; the operand where there is
  /// no number.
  static func extremum(_ value: Value?, _ operand: Value, wins: (Int) -> Bool) -> Value {
    guard let value, ValueClass(of: value) == .number else { return operand }
    if isNaN(value) || isNaN(operand) { return .double(.nan) }
    return wins(ValueOrder.compare(operand, value)) ? operand : value
  }

  private static func isNaN(_ value: Value) -> Bool {
    if case .double(let number) = value { return number.isNaN }
    return false
  }
}
