/// A value without children: the content of a leaf, or a priority.
///
/// `1` and `1.0` are equal. The order is that of queries: server values, booleans, numbers, strings by UTF-16 code
/// units.
public enum DatabaseLeaf: Hashable, Comparable, Sendable {
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case int(Int64)
  /// A number; never NaN or infinite.
  case double(Double)
  /// A string.
  case string(String)
  /// The time of the server when it applies the write, in milliseconds.
  case timestamp
  /// The value before the write plus a whole number.
  case incrementInt(Int64)
  /// The value before the write plus a number.
  case incrementDouble(Double)

  /// The number as a double; `nil` for what is not a number.
  public var number: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  /// Whether the server decides the value.
  public var isDeferred: Bool {
    switch self {
    case .timestamp, .incrementInt, .incrementDouble: true
    default: false
    }
  }

  private var rank: Int {
    switch self {
    case .timestamp, .incrementInt, .incrementDouble: 0
    case .bool: 1
    case .int, .double: 2
    case .string: 3
    }
  }

  /// Whether type and value are equal.
  public static func == (left: DatabaseLeaf, right: DatabaseLeaf) -> Bool {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): left == right
    case (.int(let left), .int(let right)): left == right
    case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
    case (.timestamp, .timestamp): true
    case (.incrementInt(let left), .incrementInt(let right)): left == right
    case (.incrementDouble(let left), .incrementDouble(let right)): left == right
    case (.int(let whole), .double(let double)), (.double(let double), .int(let whole)):
      compare(whole, double) == 0
    case (.double(let left), .double(let right)): left == right
    default: false
    }
  }

  /// Feeds the parts that equality compares to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(rank)
    switch self {
    case .bool(let value): hasher.combine(value)
    case .int, .double: hasher.combine(number)
    case .string(let value): hasher.combine(value.utf8.count)
    case .timestamp, .incrementInt, .incrementDouble: break
    }
  }

  /// Whether the first sorts before the second in a query.
  public static func < (left: DatabaseLeaf, right: DatabaseLeaf) -> Bool {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): return !left && right
    case (.int(let left), .int(let right)): return left < right
    case (.string(let left), .string(let right)): return left.isBelowByUTF16(right)
    case (.int(let left), .double(let right)): return compare(left, right) < 0
    case (.double(let left), .int(let right)): return compare(right, left) > 0
    case (.double(let left), .double(let right)): return left < right
    default: return left.rank < right.rank
    }
  }

  /// Compares by the exact values.
  ///
  /// Two whole numbers beyond 2^53 can be near the same double; were both equal to it, this would not be an order.
  private static func compare(_ whole: Int64, _ double: Double) -> Int {
    let nearest = Double(whole)
    if nearest != double { return nearest < double ? -1 : 1 }
    guard let exact = Int64(exactly: double) else { return -1 }
    return whole < exact ? -1 : whole > exact ? 1 : 0
  }
}
