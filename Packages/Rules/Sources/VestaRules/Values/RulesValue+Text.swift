import VestaBytes

extension RulesValue: CustomStringConvertible {
  /// The value as it would be written in rules, cut where it is long.
  public var description: String { text(depth: 0) }

  private func text(depth: Int) -> String {
    switch self {
    case .null: return "null"
    case .bool(let bool): return bool ? "true" : "false"
    case .int(let int): return String(int)
    case .float(let float): return JavaNumbers.text(float)
    case .string(let text): return RulesValue.quoted(text)
    case .bytes(let bytes): return "b'\(Hex.encode(bytes.prefix(32)))\(bytes.count > 32 ? "…" : "")'"
    case .timestamp(let time): return "timestamp(\(time.seconds).\(RulesValue.padded(time.nanoseconds)))"
    case .duration(let duration): return "duration(\(duration.seconds).\(RulesValue.padded(duration.nanoseconds)))"
    case .latlng(let point):
      return "latlng(\(JavaNumbers.text(point.latitude)), \(JavaNumbers.text(point.longitude)))"
    case .path(let path): return path.string
    case .list(let list):
      return "[\(RulesValue.joined(list.lazy.map { $0.text(depth: depth + 1) }, list.count, depth))]"
    case .set(let set):
      return "set(\(RulesValue.joined(set.elements.lazy.map { $0.text(depth: depth + 1) }, set.elements.count, depth)))"
    case .map(let map):
      let members = map.members.lazy.map { "'\($0.name)': \($0.value.text(depth: depth + 1))" }
      return "{\(RulesValue.joined(members, map.count, depth))}"
    case .mapDiff(let diff):
      return
        "diff(\(RulesValue.map(diff.left).text(depth: depth + 1)), \(RulesValue.map(diff.right).text(depth: depth + 1)))"
    }
  }

  private static func quoted(_ text: String) -> String {
    let cut = text.utf8.count > 200 ? text.prefix(200) + "…" : text[...]
    return "'" + cut.replacing("\\", with: "\\\\").replacing("'", with: "\\'").replacing("\n", with: "\\n") + "'"
  }

  private static func padded(_ nanoseconds: Int32) -> String {
    let digits = String(nanoseconds)
    return String(repeating: "0", count: 9 - digits.count) + digits
  }

  private static func joined(_ parts: some Sequence<String>, _ count: Int, _ depth: Int) -> String {
    guard count > 0 else { return "" }
    if depth > 3 { return "…" }
    return parts.prefix(20).joined(separator: ", ") + (count > 20 ? ", …" : "")
  }
}

extension RulesValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Null.
  public init(nilLiteral: ()) { self = .null }
  /// A boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// A floating-point number.
  public init(floatLiteral value: Double) { self = .float(value) }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A list.
  public init(arrayLiteral elements: RulesValue...) { self = .list(elements) }
  /// A map.
  public init(dictionaryLiteral elements: (String, RulesValue)...) {
    self = .map(RulesMap(elements.map { RulesMap.Member($0.0, $0.1) }))
  }
}
