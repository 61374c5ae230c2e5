package import VestaFirestoreBackend

/// A value that equals what queries take for equal: `1` and `1.0`, every NaN, both zeros.
///
/// Equality is that of `ValueOrder`, so a set of these finds in one step what comparing one by one finds in many.
package struct EqualValue: Sendable, Hashable {
  /// The value.
  package let value: Value

  /// A value.
  package init(_ value: Value) { self.value = value }

  /// Whether queries take the two for equal.
  package static func == (left: EqualValue, right: EqualValue) -> Bool { ValueOrder.equal(left.value, right.value) }

  /// Feeds the parts that equality compares to a hasher.
  package func hash(into hasher: inout Hasher) { EqualValue.hash(value, into: &hasher) }

  private static func hash(_ value: Value, into hasher: inout Hasher) {
    hasher.combine(ValueClass(of: value))
    switch value {
    case .null: return
    case .boolean(let value): hasher.combine(value)
    case .integer(let number): hash(number, into: &hasher)
    case .double(let number): hash(number, into: &hasher)
    case .timestamp(let value): hasher.combine(value)
    case .string(let value): UTF8Order.hash(value, into: &hasher)
    case .bytes(let value): hasher.combine(value)
    case .reference(let value): hasher.combine(ResourcePath(splitting: value))
    case .geoPoint(let value):
      hash(value.latitude, into: &hasher)
      hash(value.longitude, into: &hasher)
    case .array(let values):
      hasher.combine(values.count)
      for value in values { hash(value, into: &hasher) }
    case .map(let map): hash(map, of: value, into: &hasher)
    }
  }

  private static func hash(_ map: MapValue, of value: Value, into hasher: inout Hasher) {
    // Of a pending server time, only the time counts.
    if let time = value.pendingWriteTime { return hasher.combine(time) }
    hasher.combine(map.count)
    for (name, value) in map {
      UTF8Order.hash(name, into: &hasher)
      hash(value, into: &hasher)
    }
  }

  private static func hash(_ number: Int64, into hasher: inout Hasher) {
    // An integer that no double is equals no double.
    if let double = Double(exactly: number) { hash(double, into: &hasher) } else { hasher.combine(number) }
  }

  private static func hash(_ number: Double, into hasher: inout Hasher) {
    hasher.combine(number.isNaN ? Double.nan.bitPattern : number == 0 ? 0 : number.bitPattern)
  }
}
