import VestaBytes

/// A value of the rules languages of Firestore and Storage.
public enum RulesValue: Sendable {
  /// Null.
  case null
  /// A boolean.
  case bool(Bool)
  /// An integer of 64 bits.
  case int(Int64)
  /// A floating-point number.
  case float(Double)
  /// A string; its size and indexes count UTF-16 units.
  case string(String)
  /// Bytes.
  case bytes([UInt8])
  /// A timestamp.
  case timestamp(RulesTimestamp)
  /// A duration.
  case duration(RulesDuration)
  /// A geo point.
  case latlng(RulesLatLng)
  /// A path.
  case path(RulesPath)
  /// A list.
  case list([RulesValue])
  /// A map from strings to values.
  case map(RulesMap)
  /// A set.
  case set(RulesSet)
  /// The difference of two maps.
  indirect case mapDiff(RulesMapDiff)
}

/// A timestamp in nanoseconds, UTC.
public struct RulesTimestamp: Sendable, Hashable {
  /// The seconds since 1970.
  public let seconds: Int64
  /// The nanoseconds after the second, 0 to 999,999,999.
  public let nanoseconds: Int32

  /// A timestamp; nanoseconds beyond a second are carried over, and seconds beyond 35 million years are cut.
  public init(seconds: Int64, nanoseconds: Int64 = 0) {
    let carried = nanoseconds.flooredQuotient(1_000_000_000)
    self.seconds = TimeBounds.cut(seconds, plus: carried)
    self.nanoseconds = TimeBounds.fraction(nanoseconds)
  }
}

/// A length of time in nanoseconds.
public struct RulesDuration: Sendable, Hashable {
  /// The whole seconds, rounded down.
  public let seconds: Int64
  /// The nanoseconds after them, 0 to 999,999,999.
  public let nanoseconds: Int32

  /// A duration; nanoseconds beyond a second are carried over, and seconds beyond 35 million years are cut.
  public init(seconds: Int64, nanoseconds: Int64 = 0) {
    let carried = nanoseconds.flooredQuotient(1_000_000_000)
    self.seconds = TimeBounds.cut(seconds, plus: carried)
    self.nanoseconds = TimeBounds.fraction(nanoseconds)
  }
}

/// The range of times: so far from the bounds of integers that no calendar arithmetic on them overflows.
enum TimeBounds {
  private static let most: Int64 = 1 << 50
  /// The seconds that calculations in rules may reach; beyond them they are errors.
  static let computed: Int64 = 1 << 40

  /// The nanoseconds after the last whole second.
  static func fraction(_ nanoseconds: Int64) -> Int32 {
    let rest = nanoseconds % 1_000_000_000
    return Int32(rest < 0 ? rest + 1_000_000_000 : rest)
  }

  static func cut(_ seconds: Int64, plus carried: Int64) -> Int64 {
    min(most, max(-most, min(most, max(-most, seconds)) + min(most, max(-most, carried))))
  }
}

/// A point on the earth.
public struct RulesLatLng: Sendable, Hashable {
  /// The latitude, -90 to 90.
  public let latitude: Double
  /// The longitude, -180 to 180.
  public let longitude: Double

  /// A point.
  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// The segments of a path.
public struct RulesPath: Sendable {
  private enum Storage: Sendable {
    case segments([String])
    /// A resource name, which is taken apart where its segments are needed.
    case resource(String)
  }

  private let storage: Storage

  /// The segments, without slashes.
  public var segments: [String] {
    switch storage {
    case .segments(let segments): return segments
    case .resource(let name):
      let segments = RulesPath.split(name)
      return segments.first == "projects" ? Array(segments.dropFirst(2)) : segments
    }
  }

  /// A path of segments.
  public init(_ segments: [String]) { storage = .segments(segments) }

  /// A path from its string; empty segments are left out.
  public init(_ path: String) { storage = .segments(RulesPath.split(path)) }

  /// The path of a resource name, which in rules begins with the database: `projects/p/databases/d/documents/…`.
  ///
  /// - Parameter name: The name; one without a project is taken as it is.
  public init(resource name: String) { storage = .resource(name) }

  /// The path with a slash before every segment.
  public var string: String {
    let segments = segments
    return segments.isEmpty ? "/" : segments.map { "/" + $0 }.joined()
  }

  /// The path as matches are compared with it.
  var matched: MatchedPath {
    switch storage {
    case .segments(let segments): .names(segments)
    case .resource(let name): ResourceSegments(name).map(MatchedPath.resource) ?? .names(segments)
    }
  }

  private static func split(_ path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
  }
}

extension RulesPath: Hashable {
  /// Whether the segments have the same bytes.
  public static func == (left: RulesPath, right: RulesPath) -> Bool {
    let (left, right) = (left.segments, right.segments)
    return left.count == right.count && zip(left, right).allSatisfy { UTF8Order.equal($0, $1) }
  }

  /// Feeds the segments.
  public func hash(into hasher: inout Hasher) {
    for segment in segments { UTF8Order.hash(segment, into: &hasher) }
  }
}

extension Int64 {
  /// The quotient, rounded towards negative infinity.
  func flooredQuotient(_ divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}

extension RulesValue {
  /// The name of the value's type, as `is` and messages write it.
  public var typeName: String { type.rawValue }

  /// The types of values.
  enum Kind: String, Sendable, CaseIterable {
    case null, bool, int, float, string, bytes, timestamp, duration, latlng, path, list, map, set
    case mapDiff = "map_diff"
  }

  var type: Kind {
    switch self {
    case .null: .null
    case .bool: .bool
    case .int: .int
    case .float: .float
    case .string: .string
    case .bytes: .bytes
    case .timestamp: .timestamp
    case .duration: .duration
    case .latlng: .latlng
    case .path: .path
    case .list: .list
    case .map: .map
    case .set: .set
    case .mapDiff: .mapDiff
    }
  }
}

extension RulesValue {
  /// The types that `is` knows, in production's order.
  static let typeNames = [
    "bool", "bytes", "constraint", "duration", "float", "int", "latlng", "list", "vector", "set", "number", "map",
    "string", "timestamp", "path", "map_diff",
  ]
}
