package import VestaFirestoreBackend

/// The order of values: the service's total order, across all types.
///
/// Null, booleans, numbers, timestamps, pending server timestamps, strings, bytes, references, geo points, arrays,
/// vectors, maps.
/// Integers and doubles compare as the numbers they are, exactly; NaN is the smallest number, and both zeros are equal.
/// Equality in this order is equality in queries: `1` equals `1.0`, and NaN equals itself.
package enum ValueOrder {
  /// Below zero, zero, or above zero.
  package static func compare(_ left: Value, _ right: Value) -> Int {
    let (leftClass, rightClass) = (ValueClass(of: left), ValueClass(of: right))
    if leftClass != rightClass { return leftClass.rawValue - rightClass.rawValue }
    switch (left, right) {
    case (.boolean(let left), .boolean(let right)): return (left ? 1 : 0) - (right ? 1 : 0)
    case (.integer(let left), .integer(let right)): return left < right ? -1 : left == right ? 0 : 1
    case (.double(let left), .double(let right)): return NumberOrder.compare(left, right)
    case (.integer(let left), .double(let right)): return NumberOrder.compare(left, right)
    case (.double(let left), .integer(let right)): return -NumberOrder.compare(right, left)
    case (.timestamp(let left), .timestamp(let right)): return left < right ? -1 : left == right ? 0 : 1
    case (.string(let left), .string(let right)): return UTF8Order.compare(left, right)
    case (.bytes(let left), .bytes(let right)): return UTF8Order.compare(bytes: left, right)
    case (.reference(let left), .reference(let right)): return compare(references: left, right)
    case (.geoPoint(let left), .geoPoint(let right)): return compare(left, right)
    case (.array(let left), .array(let right)): return compare(left, right)
    case (.map(let left), .map(let right)): return compare(left, right, leftClass)
    default: return 0
    }
  }

  /// Whether two values are equal in queries.
  package static func equal(_ left: Value, _ right: Value) -> Bool { compare(left, right) == 0 }

  /// Compares the names of documents by segments.
  package static func compare(references left: String, _ right: String) -> Int {
    // Unsafe pointers, used inside the closures only: most names are in one collection, and differ in their ids.
    let quick = left.utf8.withContiguousStorageIfAvailable { left in
      right.utf8.withContiguousStorageIfAvailable { right in compare(lastSegments: left, right) }
    }
    if let outer = quick, let inner = outer, let order = inner { return order }
    return ResourcePath(splitting: left).compare(ResourcePath(splitting: right))
  }

  /// The order of two names that are equal or differ in their last segments alone, which are not numbers; `nil` for all
  /// others.
  private static func compare(
    lastSegments left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) -> Int? {
    let (slash, common) = (UInt8(ascii: "/"), min(left.count, right.count))
    var (at, start) = (0, 0)
    while at < common, left[at] == right[at] {
      if left[at] == slash { start = at + 1 }
      at += 1
    }
    if at == left.count, at == right.count { return 0 }
    func isPlain(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
      let mark = UInt8(ascii: "_")
      let isReserved = name.count > start + 1 && name[start] == mark && name[start + 1] == mark
      return !isReserved && !name[at...].contains(slash)
    }
    guard isPlain(left), isPlain(right) else { return nil }
    return at == left.count ? -1 : at == right.count ? 1 : Int(left[at]) - Int(right[at])
  }

  private static func compare(_ left: GeoPoint, _ right: GeoPoint) -> Int {
    let latitudes = NumberOrder.compare(left.latitude, right.latitude)
    return latitudes != 0 ? latitudes : NumberOrder.compare(left.longitude, right.longitude)
  }

  private static func compare(_ left: [Value], _ right: [Value]) -> Int {
    for (left, right) in zip(left, right) {
      let order = compare(left, right)
      if order != 0 { return order }
    }
    return left.count - right.count
  }

  private static func compare(_ left: MapValue, _ right: MapValue, _ valueClass: ValueClass) -> Int {
    if valueClass == .vector, let left = Value.map(left).vectorElements, let right = Value.map(right).vectorElements {
      return left.count != right.count ? left.count - right.count : compare(left, right)
    }
    if valueClass == .serverTimestamp {
      let (left, right) = (Value.map(left).pendingWriteTime, Value.map(right).pendingWriteTime)
      guard let left, let right else { return 0 }
      return left < right ? -1 : left == right ? 0 : 1
    }
    for (left, right) in zip(left, right) {
      let names = UTF8Order.compare(left.name, right.name)
      if names != 0 { return names }
      let values = compare(left.value, right.value)
      if values != 0 { return values }
    }
    return left.count - right.count
  }
}

/// The types that values are ordered by; range filters match values of their operand's class only.
package enum ValueClass: Int, Sendable {
  /// Null.
  case null
  /// Truth values.
  case boolean
  /// Integers and doubles.
  case number
  /// Moments.
  case timestamp
  /// A server time that the service has not set yet; in clients only.
  case serverTimestamp
  /// Texts.
  case string
  /// Bytes.
  case bytes
  /// Names of documents.
  case reference
  /// Places.
  case geoPoint
  /// Arrays.
  case array
  /// Vectors.
  case vector
  /// Maps.
  case map

  /// The class of a value.
  package init(of value: Value) {
    switch value {
    case .null: self = .null
    case .boolean: self = .boolean
    case .integer, .double: self = .number
    case .timestamp: self = .timestamp
    case .string: self = .string
    case .bytes: self = .bytes
    case .reference: self = .reference
    case .geoPoint: self = .geoPoint
    case .array: self = .array
    case .map(let map): self = map.isVector ? .vector : value.pendingWriteTime != nil ? .serverTimestamp : .map
    }
  }
}

/// The order of numbers.
package enum NumberOrder {
  /// Compares two doubles; NaN is the smallest and equals itself, both zeros are equal.
  package static func compare(_ left: Double, _ right: Double) -> Int {
    if left < right { return -1 }
    if left > right { return 1 }
    if left == right { return 0 }
    return (left.isNaN ? 0 : 1) - (right.isNaN ? 0 : 1)
  }

  /// Compares an integer with a double as exact numbers, also beyond 2^53.
  package static func compare(_ left: Int64, _ right: Double) -> Int {
    if right.isNaN { return 1 }
    // Both bounds are powers of two, so they are exact.
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let whole = right.rounded(.towardZero)
    let integer = Int64(whole)
    if left != integer { return left < integer ? -1 : 1 }
    return right > whole ? -1 : right < whole ? 1 : 0
  }
}
