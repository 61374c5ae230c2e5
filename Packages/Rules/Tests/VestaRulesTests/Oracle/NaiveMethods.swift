/// The methods of values, one table for each type.
enum NaiveMethods {
  typealias Value = NaiveValue

  /// A method that no pattern is an argument of.
  static func call(_ target: Value, _ name: String, _ arguments: [Value]) throws(NaiveError) -> Value {
    if case .null = target { throw .message("Null value error.") }
    guard has(target, name) else { throw .message("Function not found error: Name: [\(name)].") }
    switch target {
    case .string(let text): return try string(text, name, arguments)
    case .bytes(let bytes): return try self.bytes(bytes, name, arguments)
    case .list(let list): return try self.list(list, name, arguments)
    case .set(let set): return try self.set(set, name, arguments)
    case .map(let map): return try self.map(map, name, arguments)
    case .mapDiff(let left, let right): return try diff(left, right, name, arguments)
    case .timestamp(let time): return try timestamp(time, name, arguments)
    case .duration(let time): return try duration(time, name, arguments)
    case .latlng(let latitude, let longitude):
      guard arguments.isEmpty else { throw .unknown }
      return .float(name == "latitude" ? latitude : longitude)
    default: throw .unknown
    }
  }

  /// The names of the methods that a value has.
  private static func has(_ target: Value, _ name: String) -> Bool {
    let names: [String] =
      switch target {
      case .string: ["size", "lower", "upper", "trim", "toUtf8", "matches", "split", "replace"]
      case .bytes: ["size", "toBase64", "toHexString"]
      case .list: ["size", "concat", "hasAll", "hasAny", "hasOnly", "join", "removeAll", "toSet"]
      case .set: ["size", "union", "intersection", "difference", "hasAll", "hasAny", "hasOnly"]
      case .map: ["size", "keys", "values", "get", "diff"]
      case .mapDiff: ["addedKeys", "removedKeys", "changedKeys", "affectedKeys", "unchangedKeys"]
      case .timestamp:
        [
          "date", "day", "dayOfWeek", "dayOfYear", "hours", "minutes", "seconds", "nanos", "month", "year", "time",
          "toMillis",
        ]
      case .duration: ["seconds", "nanos"]
      case .latlng: ["latitude", "longitude", "distance"]
      case .path: ["bind"]
      default: []
      }
    return names.contains(name)
  }

  /// A method whose first argument is a pattern.
  static func call(
    _ target: Value, _ name: String, _ pattern: NaivePattern, _ rest: [Value]
  ) throws(NaiveError) -> Value {
    if case .null = target { throw .message("Null value error.") }
    guard case .string(let text) = target else { throw .message("Function not found error: Name: [\(name)].") }
    let characters = String(decoding: text, as: UTF16.self).unicodeScalars.map { Character($0) }
    func joined(_ characters: some Sequence<Character>) -> NaiveText {
      characters.reduce(into: []) { $0 += $1.utf16 }
    }
    if name == "matches" { return .bool(pattern.matchesWhole(characters)) }
    var (parts, start): ([NaiveText], Int) = ([], 0)
    for match in pattern.matches(characters) {
      parts.append(joined(characters[start..<match.lowerBound]))
      start = match.upperBound
    }
    parts.append(joined(characters[start...]))
    if name == "split" {
      while parts.count > 1, parts.last == [] { parts.removeLast() }
      return .list(parts.map { .string($0) })
    }
    guard case .string(let replacement)? = rest.first else { throw .unknown }
    return .string(NaiveText(parts.joined(separator: replacement)))
  }

  // MARK: Texts and bytes

  private static func string(_ text: NaiveText, _ name: String, _ arguments: [Value]) throws(NaiveError) -> Value {
    guard arguments.isEmpty else { throw .unknown }
    switch name {
    case "size": return .int(Int64(text.count))
    // ASCII alone.
    case "lower": return .string(text.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 })
    case "upper": return .string(text.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 })
    case "trim": return .string(NaiveText(text.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()))
    case "toUtf8": return .bytes(Array(String(decoding: text, as: UTF16.self).utf8))
    default: throw .unknown
    }
  }

  private static func bytes(_ bytes: [UInt8], _ name: String, _ arguments: [Value]) throws(NaiveError) -> Value {
    guard arguments.isEmpty else { throw .unknown }
    switch name {
    case "size": return .int(Int64(bytes.count))
    case "toHexString":
      return .text(bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }.joined())
    default: return .text(base64(bytes))
    }
  }

  /// Bits in groups of six, with the alphabet of URLs and padding.
  private static func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var bits = bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
    while bits.count % 6 != 0 { bits.append(0) }
    var text = ""
    for start in stride(from: 0, to: bits.count, by: 6) {
      text.append(alphabet[bits[start..<start + 6].reduce(0) { $0 * 2 + Int($1) }])
    }
    while text.count % 4 != 0 { text.append("=") }
    return text
  }

  // MARK: Lists and sets

  private static func list(_ list: [Value], _ name: String, _ arguments: [Value]) throws(NaiveError) -> Value {
    switch (name, arguments.count, arguments.first) {
    case ("size", 0, _): return .int(Int64(list.count))
    case ("toSet", 0, _): return .set(NaiveEquality.distinct(list))
    case ("concat", 1, .list(let other)): return .list(list + other)
    case ("removeAll", 1, .list(let other)): return .list(list.filter { !NaiveEquality.has(other, $0, .byValue) })
    case ("join", 1, .string(let separator)):
      var texts: [NaiveText] = []
      for value in list {
        guard let text = NaiveBuiltins.text(value) else { throw .unknown }
        texts.append(text)
      }
      return .string(NaiveText(texts.joined(separator: separator)))
    case ("hasAll", 1, .list(let other)), ("hasAny", 1, .list(let other)), ("hasOnly", 1, .list(let other)):
      return compare(name, list, other, .byValue)
    case ("hasAll", 1, .set(let other)), ("hasAny", 1, .set(let other)), ("hasOnly", 1, .set(let other)):
      return compare(name, list, other, .byValueAtAnyDepth)
    default: throw .unknown
    }
  }

  private static func compare(_ name: String, _ own: [Value], _ other: [Value], _ numbers: NaiveNumbers) -> Value {
    switch name {
    case "hasAll": .bool(other.allSatisfy { NaiveEquality.has(own, $0, numbers) })
    case "hasAny": .bool(other.contains { NaiveEquality.has(own, $0, numbers) })
    default: .bool(own.allSatisfy { NaiveEquality.has(other, $0, numbers) })
    }
  }

  private static func set(_ own: [Value], _ name: String, _ arguments: [Value]) throws(NaiveError) -> Value {
    func isIn(_ list: [Value]) -> (Value) -> Bool { { NaiveEquality.has(list, $0, .byValueAtAnyDepth) } }
    switch (name, arguments.count, arguments.first) {
    case ("size", 0, _): return .int(Int64(own.count))
    case ("hasAll", 1, .list(let other)), ("hasAny", 1, .list(let other)), ("hasOnly", 1, .list(let other)),
      ("hasAll", 1, .set(let other)), ("hasAny", 1, .set(let other)), ("hasOnly", 1, .set(let other)):
      return compare(name, own, other, .byValueAtAnyDepth)
    case ("union", 1, .set(let other)): return .set(own + other.filter { !isIn(own)($0) })
    case ("intersection", 1, .set(let other)): return .set(own.filter(isIn(other)))
    case ("difference", 1, .set(let other)): return .set(own.filter { !isIn(other)($0) })
    case ("union", 1, let other?), ("intersection", 1, let other?), ("difference", 1, let other?):
      throw .message(
        "Unsupported operation error. Received: set.\(name)(\(other.typeName)). Expected: set.\(name)(set).")
    default: throw .unknown
    }
  }

  // MARK: Maps

  private static func map(_ map: NaiveMap, _ name: String, _ arguments: [Value]) throws(NaiveError) -> Value {
    switch (name, arguments.count, arguments.first) {
    case ("size", 0, _): return .int(Int64(map.members.count))
    case ("keys", 0, _): return .list(map.members.map { .string($0.name) })
    case ("values", 0, _): return .list(map.members.map(\.value))
    case ("diff", 1, .map(let other)): return .mapDiff(map, other)
    case ("get", 2, .string(let key)): return map[key] ?? arguments[1]
    case ("get", 2, .list(let keys)):
      var current = Value.map(map)
      for key in keys {
        guard case .string(let key) = key else { throw .unknown }
        guard case .map(let inner) = current, let next = inner[key] else { return arguments[1] }
        current = next
      }
      return current
    default: throw .unknown
    }
  }

  private static func diff(
    _ left: NaiveMap, _ right: NaiveMap, _ name: String, _ arguments: [Value]
  ) throws(NaiveError) -> Value {
    guard arguments.isEmpty else { throw .unknown }
    let names = NaiveEquality.distinct((left.members + right.members).map { .string($0.name) })
    return .set(
      names.filter { element in
        guard case .string(let key) = element else { return false }
        switch (left[key], right[key]) {
        case (_?, nil): return name == "addedKeys" || name == "affectedKeys"
        case (nil, _): return name == "removedKeys" || name == "affectedKeys"
        case (let l?, let r?):
          let isSame = NaiveEquality.equal(l, r, .byValueAtAnyDepth)
          return isSame ? name == "unchangedKeys" : name == "changedKeys" || name == "affectedKeys"
        }
      })
  }

  // MARK: Times

  private static func timestamp(_ time: Int128, _ name: String, _ arguments: [Value]) throws(NaiveError) -> Value {
    guard arguments.isEmpty else { throw .unknown }
    let (day, inDay) = NaiveTime.divide(time, NaiveTime.day)
    let date = NaiveTime.date(ofDay: Int(day))
    let second = inDay / 1_000_000_000
    switch name {
    case "year": return .int(Int64(date.year))
    case "month": return .int(Int64(date.month))
    case "day": return .int(Int64(date.day))
    case "dayOfYear": return .int(Int64(date.dayOfYear))
    // The first of January 1970 was a Thursday.
    case "dayOfWeek": return .int(Int64(NaiveTime.divide(day + 3, 7).1 + 1))
    case "hours": return .int(Int64(second / 3_600))
    case "minutes": return .int(Int64(second / 60 % 60))
    case "seconds": return .int(Int64(second % 60))
    case "nanos": return .int(Int64(inDay % 1_000_000_000))
    case "date": return .timestamp(day * NaiveTime.day)
    case "time": return .duration(inDay)
    default: return .int(Int64(NaiveTime.divide(time, 1_000_000).0))
    }
  }

  private static func duration(_ time: Int128, _ name: String, _ arguments: [Value]) throws(NaiveError) -> Value {
    guard arguments.isEmpty else { throw .unknown }
    return .int(Int64(name == "seconds" ? time / 1_000_000_000 : time % 1_000_000_000))
  }
}
