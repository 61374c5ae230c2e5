import Foundation
import VestaFirestore
import VestaTesting

/// A value as the documentation of Firestore describes it, with the documented order; nothing of the product is used.
indirect enum OracleValue: Hashable, Sendable, CustomStringConvertible {
  case null
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  case time(Int64)
  case string(String)
  case bytes([UInt8])
  case array([OracleValue])
  case map([String: OracleValue])

  /// The value for a call of the product.
  var any: Any {
    switch self {
    case .null: NSNull()
    case .boolean(let value): value
    case .integer(let value): value
    case .double(let value): value
    case .time(let seconds): Timestamp(seconds: seconds, nanoseconds: 0)
    case .string(let value): value
    case .bytes(let value): Data(value)
    case .array(let values): values.map(\.any)
    case .map(let fields): fields.mapValues(\.any)
    }
  }

  /// A value that the product has returned.
  init?(any: Any) {
    switch any {
    case is NSNull: self = .null
    case let value as Timestamp: self = .time(value.seconds)
    case let value as String: self = .string(value)
    case let value as Data: self = .bytes([UInt8](value))
    case let value as [Any]: self = .array(value.compactMap(OracleValue.init(any:)))
    case let value as [String: Any]: self = .map(value.compactMapValues(OracleValue.init(any:)))
    case let value as NSNumber:
      switch UInt8(bitPattern: value.objCType.pointee) {
      case UInt8(ascii: "c"), UInt8(ascii: "B"): self = .boolean(value.boolValue)
      case UInt8(ascii: "d"), UInt8(ascii: "f"): self = .double(value.doubleValue)
      default: self = .integer(value.int64Value)
      }
    default: return nil
    }
  }

  var description: String {
    switch self {
    case .null: "null"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .time(let value): "t\(value)"
    case .string(let value): "'\(value)'"
    case .bytes(let value): "\(value)b"
    case .array(let values): "\(values)"
    case .map(let fields):
      "{\(fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))}"
    }
  }

  // MARK: Order

  /// The place of the type: null, booleans, numbers, timestamps, strings, bytes, arrays, maps.
  var rank: Int {
    switch self {
    case .null: 0
    case .boolean: 1
    case .integer, .double: 2
    case .time: 3
    case .string: 4
    case .bytes: 5
    case .array: 6
    case .map: 7
    }
  }

  /// -1, 0 or 1; integers and doubles are compared exactly.
  static func compare(_ left: OracleValue, _ right: OracleValue) -> Int {
    if left.rank != right.rank { return left.rank < right.rank ? -1 : 1 }
    return switch (left, right) {
    case (.boolean(let left), .boolean(let right)): sign(left ? 1 : 0, right ? 1 : 0)
    case (.integer(let left), .integer(let right)): sign(left, right)
    case (.double(let left), .double(let right)): sign(left, right)
    case (.integer(let left), .double(let right)): exact(left, right)
    case (.double(let left), .integer(let right)): -exact(right, left)
    case (.time(let left), .time(let right)): sign(left, right)
    case (.string(let left), .string(let right)): order(Array(left.utf8), Array(right.utf8))
    case (.bytes(let left), .bytes(let right)): order(left, right)
    case (.array(let left), .array(let right)): lists(left, right)
    case (.map(let left), .map(let right)): maps(left, right)
    default: 0
    }
  }

  private static func sign<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left < right ? -1 : left > right ? 1 : 0
  }

  private static func exact(_ left: Int64, _ right: Double) -> Int {
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let whole = Int64(right)
    return left != whole ? sign(left, whole) : sign(0, right - Double(whole))
  }

  static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.lexicographicallyPrecedes(right) ? -1 : left == right ? 0 : 1
  }

  private static func lists(_ left: [OracleValue], _ right: [OracleValue]) -> Int {
    for (left, right) in zip(left, right) {
      let result = compare(left, right)
      if result != 0 { return result }
    }
    return sign(left.count, right.count)
  }

  private static func maps(_ left: [String: OracleValue], _ right: [String: OracleValue]) -> Int {
    func sorted(_ map: [String: OracleValue]) -> [(key: String, value: OracleValue)] {
      map.sorted { order(Array($0.key.utf8), Array($1.key.utf8)) < 0 }
    }
    let (left, right) = (sorted(left), sorted(right))
    for (left, right) in zip(left, right) {
      let keys = order(Array(left.key.utf8), Array(right.key.utf8))
      if keys != 0 { return keys }
      let values = compare(left.value, right.value)
      if values != 0 { return values }
    }
    return sign(left.count, right.count)
  }

  /// Whether two values are equal for queries: 1 and 1.0 are.
  static func isSame(_ left: OracleValue, _ right: OracleValue) -> Bool { compare(left, right) == 0 }

  // MARK: Random values

  static func scalar(_ random: inout SplitMix) -> OracleValue {
    switch random.below(12) {
    case 0: .null
    case 1: .boolean(random.oneIn(2))
    case 2: .double(random.pick([1, 0.5, -3, 9_007_199_254_740_992, 2]))
    case 3: .time(Int64(random.below(3)))
    case 4, 5: .string(random.pick(["", "a", "b", "ab", "\u{FFFF}", "😀", "é"]))
    case 6: .bytes(random.pick([[], [0], [1, 255]]))
    case 7: .integer(random.pick([9_007_199_254_740_993, .max, .min, -1]))
    default: .integer(Int64(random.below(5)))
    }
  }

  static func random(_ random: inout SplitMix) -> OracleValue {
    switch random.below(6) {
    case 0: .array(elements(&random))
    case 1: .map(["x": scalar(&random), "y": random.oneIn(2) ? .map(["z": scalar(&random)]) : scalar(&random)])
    default: scalar(&random)
    }
  }

  /// Elements of which no two are equal as numbers of two kinds.
  static func elements(_ random: inout SplitMix) -> [OracleValue] {
    (0..<random.below(4)).map { _ in
      random.oneIn(2) ? .integer(Int64(random.below(4))) : .string(random.pick(["a", "b"]))
    }
  }
}
