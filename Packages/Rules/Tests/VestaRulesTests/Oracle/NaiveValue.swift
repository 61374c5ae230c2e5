import VestaRules

/// A string as the oracle has it: its UTF-16 units.
typealias NaiveText = [UInt16]

/// A value of the rules language as the oracle has it.
///
/// The oracle of these tests is written from the description of the language and shares no code with the package: its
/// values, syntax trees and evaluator are separate; the evaluator is slow and has no compiled form.
indirect enum NaiveValue {
  case null
  case bool(Bool)
  case int(Int64)
  case float(Double)
  case string(NaiveText)
  case bytes([UInt8])
  /// Nanoseconds since 1970.
  case timestamp(Int128)
  /// Nanoseconds.
  case duration(Int128)
  case latlng(Double, Double)
  case path([NaiveText])
  case list([NaiveValue])
  case map(NaiveMap)
  case set([NaiveValue])
  case mapDiff(NaiveMap, NaiveMap)

  static func text(_ text: String) -> NaiveValue { .string(NaiveText(text.utf16)) }

  /// The name that `is` and messages use.
  var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "bool"
    case .int: "int"
    case .float: "float"
    case .string: "string"
    case .bytes: "bytes"
    case .timestamp: "timestamp"
    case .duration: "duration"
    case .latlng: "latlng"
    case .path: "path"
    case .list: "list"
    case .map: "map"
    case .set: "set"
    case .mapDiff: "map_diff"
    }
  }
}

/// The members of a map, by the code points of their names.
struct NaiveMap {
  private(set) var members: [(name: NaiveText, value: NaiveValue)] = []

  init(_ pairs: [(name: NaiveText, value: NaiveValue)] = []) { for pair in pairs { self[pair.name] = pair.value } }

  init(_ pairs: [(String, NaiveValue)]) { self.init(pairs.map { (NaiveText($0.0.utf16), $0.1) }) }

  subscript(name: NaiveText) -> NaiveValue? {
    get { members.first { $0.name == name }?.value }
    set {
      members.removeAll { $0.name == name }
      guard let newValue else { return }
      let index = members.firstIndex { NaiveOrder.scalars(name).lexicographicallyPrecedes(NaiveOrder.scalars($0.name)) }
      members.insert((name, newValue), at: index ?? members.count)
    }
  }

  subscript(name: String) -> NaiveValue? { self[NaiveText(name.utf16)] }
}

/// How equality treats an integer and a float of one value.
enum NaiveNumbers {
  /// They are equal.
  case byValue
  /// They are of different types, as inside lists and maps.
  case byType
  /// They are equal at any depth, and NaN is equal to itself, as in sets and differences of maps.
  case byValueAtAnyDepth

  fileprivate var inside: NaiveNumbers { self == .byValueAtAnyDepth ? self : .byType }
}

enum NaiveEquality {
  static func equal(_ left: NaiveValue, _ right: NaiveValue, _ numbers: NaiveNumbers = .byValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let l), .bool(let r)): l == r
    case (.int(let l), .int(let r)): l == r
    case (.float(let l), .float(let r)): l == r || numbers == .byValueAtAnyDepth && l.isNaN && r.isNaN
    case (.int(let l), .float(let r)), (.float(let r), .int(let l)):
      numbers != .byType && NaiveOrder.compare(l, r) == 0
    case (.string(let l), .string(let r)): l == r
    case (.bytes(let l), .bytes(let r)): l == r
    case (.timestamp(let l), .timestamp(let r)), (.duration(let l), .duration(let r)): l == r
    case (.latlng(let la, let lo), .latlng(let ra, let ro)): la == ra && lo == ro
    case (.path(let l), .path(let r)): l == r
    case (.list(let l), .list(let r)): l.count == r.count && zip(l, r).allSatisfy { equal($0, $1, numbers.inside) }
    case (.map(let l), .map(let r)): equal(l, r, numbers.inside)
    case (.set(let l), .set(let r)): l.count == r.count && l.allSatisfy { has(r, $0, .byValueAtAnyDepth) }
    case (.mapDiff(let la, let lb), .mapDiff(let ra, let rb)):
      equal(la, ra, .byValueAtAnyDepth) && equal(lb, rb, .byValueAtAnyDepth)
    default: false
    }
  }

  private static func equal(_ left: NaiveMap, _ right: NaiveMap, _ numbers: NaiveNumbers) -> Bool {
    left.members.count == right.members.count
      && left.members.allSatisfy { member in right[member.name].map { equal(member.value, $0, numbers) } ?? false }
  }

  static func has(_ list: [NaiveValue], _ value: NaiveValue, _ numbers: NaiveNumbers) -> Bool {
    list.contains { equal($0, value, numbers) }
  }

  /// The elements of a list, each once.
  static func distinct(_ list: [NaiveValue]) -> [NaiveValue] {
    var kept: [NaiveValue] = []
    for value in list where !has(kept, value, .byValueAtAnyDepth) { kept.append(value) }
    return kept
  }
}

enum NaiveOrder {
  /// The code points of a text; half of a pair is U+FFFD.
  static func scalars(_ text: NaiveText) -> [UInt32] {
    String(decoding: text, as: UTF16.self).unicodeScalars.map(\.value)
  }

  /// Negative, zero or positive as the integer is below, at or above the float, which is no NaN.
  static func compare(_ left: Int64, _ right: Double) -> Int? {
    if right.isNaN { return nil }
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let floor = right.rounded(.down)
    if left != Int64(floor) { return left < Int64(floor) ? -1 : 1 }
    return right > floor ? -1 : 0
  }

  private static func sign<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left < right ? -1 : left > right ? 1 : 0
  }

  private static func lists<Value: Comparable>(_ left: [Value], _ right: [Value]) -> Int {
    left.lexicographicallyPrecedes(right) ? -1 : right.lexicographicallyPrecedes(left) ? 1 : 0
  }

  enum Answer {
    case order(Int)
    /// One of them is NaN: every comparison is false.
    case unordered
    case notComparable
  }

  static func compare(_ left: NaiveValue, _ right: NaiveValue) -> Answer {
    switch (left, right) {
    case (.int(let l), .int(let r)): .order(sign(l, r))
    case (.float(let l), .float(let r)): l.isNaN || r.isNaN ? .unordered : .order(sign(l, r))
    case (.int(let l), .float(let r)): compare(l, r).map { .order($0) } ?? .unordered
    case (.float(let l), .int(let r)): compare(r, l).map { .order(-$0) } ?? .unordered
    case (.string(let l), .string(let r)): .order(lists(scalars(l), scalars(r)))
    case (.bytes(let l), .bytes(let r)): .order(lists(l, r))
    case (.timestamp(let l), .timestamp(let r)), (.duration(let l), .duration(let r)): .order(sign(l, r))
    default: .notComparable
    }
  }
}
