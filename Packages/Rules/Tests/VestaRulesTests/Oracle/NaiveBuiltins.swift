import Foundation

/// The functions of the language that no ruleset declares.
enum NaiveBuiltins {
  typealias Value = NaiveValue

  private static let arities = [
    "int": 1, "float": 1, "string": 1, "path": 1, "math.abs": 1, "math.ceil": 1, "math.floor": 1, "math.round": 1,
    "math.sqrt": 1, "math.isNaN": 1, "math.pow": 2, "timestamp.date": 3, "timestamp.value": 1, "duration.value": 2,
    "duration.time": 4, "duration.abs": 1, "latlng.value": 2, "hashing.crc32": 1, "hashing.crc32c": 1,
  ]

  static func call(_ name: String, _ arguments: [Value]) throws(NaiveError) -> Value {
    guard let arity = arities[name] else { throw .message("Function not found error: Name: [\(name)].") }
    guard arguments.count == arity else { throw .containing("Incorrect number of arguments") }
    let result: Value?
    switch name {
    case "int": result = try int(arguments[0])
    case "float": result = try float(arguments[0])
    case "string":
      guard let text = text(arguments[0]) else {
        let types = ["int", "float", "null", "string", "bool", "path"].map { "string(\($0))" }.joined(separator: ", ")
        throw .message(
          "Unsupported operation error. Received: string(\(arguments[0].typeName)). Expected: \(types).")
      }
      result = .string(text)
    case "path":
      if case .string(let text) = arguments[0] { result = .path(NaiveOperators.segments(text)) } else { result = nil }
    case _ where name.hasPrefix("math."): result = try math(name, arguments)
    case _ where name.hasPrefix("hashing."): result = hash(name, arguments[0])
    default: result = try time(name, arguments)
    }
    if let result { return result }
    let types = arguments.map(\.typeName).joined(separator: ", ")
    throw .containing("Unsupported operation error. Received: \(name)(\(types)). Expected: \(name)(")
  }

  // MARK: Conversions

  private static func int(_ value: Value) throws(NaiveError) -> Value? {
    switch value {
    case .int: return value
    case .float(let number):
      if number.isNaN { return .int(0) }
      return .int(number >= 0x1p63 ? .max : number <= -0x1p63 ? .min : Int64(number))
    case .string(let text):
      var digits = text[...]
      var isNegative = false
      if let sign = digits.first, sign == 0x2B || sign == 0x2D {
        isNegative = sign == 0x2D
        digits = digits.dropFirst()
      }
      var number: Int128 = 0
      for unit in digits {
        guard (0x30...0x39).contains(unit), number < 1 << 100 else { throw .message("Type conversion error.") }
        number = number * 10 + Int128(unit - 0x30)
      }
      guard !digits.isEmpty, let result = Int64(exactly: isNegative ? -number : number) else {
        throw .message("Type conversion error.")
      }
      return .int(result)
    default: return nil
    }
  }

  /// The texts of floats that random programs have.
  private static let floats: [String: Double] = [
    "1.5": 1.5, "1e3": 1_000, ".5": 0.5, "5.": 5, "1.5f": 1.5, "2d": 2, "0x1p3": 8, " 7 ": 7, "NaN": .nan,
    "Infinity": .infinity, "+Infinity": .infinity, "-Infinity": -.infinity, "12": 12, "-7": -7, "+7": 7, "007": 7,
  ]
  /// Texts that are no floats.
  private static let noFloats = [
    "", "a", "b", "inf", "nan", "1_000", "1 2", "0x10", "a,b", "B a", "é😀", "null", "true",
  ]

  private static func float(_ value: Value) throws(NaiveError) -> Value? {
    switch value {
    case .int(let number): return .float(Double(number))
    case .float: return value
    case .string(let text):
      let text = String(decoding: text, as: UTF16.self)
      if let number = floats[text] { return .float(number) }
      if noFloats.contains(text) { throw .message("Type conversion error.") }
      // Texts that a program makes are beyond the oracle.
      throw .tooLong
    default: return nil
    }
  }

  /// `string(x)`; nil for types that have none.
  static func text(_ value: Value) -> NaiveText? {
    switch value {
    case .null: NaiveText("null".utf16)
    case .bool(let bool): NaiveText((bool ? "true" : "false").utf16)
    case .int(let number): NaiveText("\(number)".utf16)
    case .float(let number): NaiveText(javaText(number).utf16)
    case .string(let text): text
    case .path(let path): path.isEmpty ? [0x2F] : path.flatMap { [0x2F] + $0 }
    default: nil
    }
  }

  /// Java's text of a float: plain from 1e-3 up to 1e7, with an exponent beyond.
  static func javaText(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    let sign = number.sign == .minus ? "-" : ""
    let size = abs(number)
    if size == 0 { return sign + "0.0" }
    // The digits of the shortest text, and where the point is.
    let parts = "\(size)".lowercased().split(separator: "e")
    let halves = parts[0].split(separator: ".")
    var digits = halves.joined()
    var point = halves[0].count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
    while digits.hasPrefix("0") {
      digits.removeFirst()
      point -= 1
    }
    while digits.hasSuffix("0") { digits.removeLast() }
    func or0(_ text: some StringProtocol) -> String { text.isEmpty ? "0" : String(text) }
    if size >= 1e-3, size < 1e7 {
      if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + digits }
      let padded = digits + String(repeating: "0", count: max(0, point - digits.count))
      return sign + padded.prefix(point) + "." + or0(padded.dropFirst(point))
    }
    return sign + digits.prefix(1) + "." + or0(digits.dropFirst()) + "E\(point - 1)"
  }

  // MARK: Numbers

  private static func math(_ name: String, _ arguments: [Value]) throws(NaiveError) -> Value? {
    var numbers: [Double] = []
    for argument in arguments {
      switch argument {
      case .int(let number): numbers.append(Double(number))
      case .float(let number): numbers.append(number)
      default: return nil
      }
    }
    switch (name, arguments[0]) {
    case ("math.abs", .int(.min)): throw .unknown
    case ("math.abs", .int(let number)): return .int(abs(number))
    case ("math.round", .int): return arguments[0]
    default: break
    }
    switch name {
    case "math.abs": return .float(abs(numbers[0]))
    case "math.ceil": return .float(ceil(numbers[0]))
    case "math.floor": return .float(floor(numbers[0]))
    case "math.sqrt": return .float(sqrt(numbers[0]))
    case "math.isNaN": return .bool(numbers[0].isNaN)
    case "math.pow": return .float(pow(numbers[0], numbers[1]))
    default:
      // Half up.
      let down = floor(numbers[0])
      return try int(.float(numbers[0] - down < 0.5 ? down : down + 1))
    }
  }

  private static func hash(_ name: String, _ value: Value) -> Value? {
    let bytes: [UInt8]
    switch value {
    case .string(let text): bytes = Array(String(decoding: text, as: UTF16.self).utf8)
    case .bytes(let given): bytes = given
    default: return nil
    }
    var sum: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 1 ? (name == "hashing.crc32" ? 0xEDB8_8320 : 0x82F6_3B78) : 0) }
    }
    sum = ~sum
    return .bytes((0..<4).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) })
  }

  // MARK: Times and places

  private static func time(_ name: String, _ arguments: [Value]) throws(NaiveError) -> Value? {
    switch (name, arguments) {
    case ("duration.abs", _):
      if case .duration(let time) = arguments[0] { return .duration(time < 0 ? -time : time) }
    case ("timestamp.value", _):
      if case .int(let millis) = arguments[0] {
        guard abs(Int128(millis)) < 1 << 45 else { throw .tooLong }
        return .timestamp(Int128(millis) * 1_000_000)
      }
    case ("duration.value", _):
      let units: [String: Int128] = [
        "w": 604_800_000_000_000, "d": 86_400_000_000_000, "h": 3_600_000_000_000, "m": 60_000_000_000,
        "s": 1_000_000_000, "ms": 1_000_000, "ns": 1,
      ]
      if case .int(let count) = arguments[0], case .string(let text) = arguments[1] {
        guard abs(Int128(count)) < 1 << 20 else { throw .tooLong }
        guard let unit = units[String(decoding: text, as: UTF16.self)] else { throw .unknown }
        return .duration(Int128(count) * unit)
      }
    case ("duration.time", _):
      var sum: Int128 = 0
      for (argument, factor) in zip(arguments, [3_600_000_000_000, 60_000_000_000, 1_000_000_000, 1] as [Int128]) {
        guard case .int(let number) = argument else { return nil }
        guard abs(Int128(number)) < 1 << 20 else { throw .tooLong }
        sum += Int128(number) * factor
      }
      return .duration(sum)
    case ("timestamp.date", _):
      guard case .int(let y) = arguments[0], case .int(let m) = arguments[1], case .int(let d) = arguments[2] else {
        return nil
      }
      guard (-9_999...9_999).contains(y), (1...12).contains(m), d >= 1,
        d <= NaiveTime.days(Int(y))[Int(m) - 1]
      else { throw .unknown }
      return .timestamp(Int128(NaiveTime.day(Int(y), Int(m), Int(d))) * NaiveTime.day)
    default:
      var numbers: [Double] = []
      for argument in arguments {
        switch argument {
        case .int(let number): numbers.append(Double(number))
        case .float(let number): numbers.append(number)
        default: return nil
        }
      }
      guard abs(numbers[0]) <= 90, abs(numbers[1]) <= 180 else {
        throw .message(
          "Latitude should be in [-90,90] range and longitude should be in [-180,180] range. "
            + "latitude: \(javaText(numbers[0])), longitude: \(javaText(numbers[1])).")
      }
      return .latlng(numbers[0], numbers[1])
    }
    return nil
  }
}
