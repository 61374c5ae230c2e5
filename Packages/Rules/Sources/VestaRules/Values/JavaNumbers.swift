/// Numbers as strings in the form of Java, which the production service uses.
enum JavaNumbers {
  /// The text of a float: `2.0`, `1.0E7`, `1.0E-4`, `NaN`, `-Infinity`.
  static func text(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    if number == 0 { return number.sign == .minus ? "-0.0" : "0.0" }
    let sign = number < 0 ? "-" : ""
    let (digits, exponent) = decimal(number.magnitude)
    if exponent >= -3, exponent < 7 { return sign + plain(digits, exponent) }
    let rest = digits.count > 1 ? digits.dropFirst() : "0"
    return sign + String(digits.first.map(String.init) ?? "0") + "." + rest + "E\(exponent)"
  }

  private static func plain(_ digits: String, _ exponent: Int) -> String {
    if exponent < 0 { return "0." + String(repeating: "0", count: -exponent - 1) + digits }
    if digits.count <= exponent + 1 {
      return digits + String(repeating: "0", count: exponent + 1 - digits.count) + ".0"
    }
    return digits.prefix(exponent + 1) + "." + digits.dropFirst(exponent + 1)
  }

  /// The shortest digits that give the number back, and the exponent of the first one.
  ///
  /// Java writes at least two digits: where one is enough, it takes the two that are nearest, which differs for the
  /// smallest numbers only.
  private static func decimal(_ number: Double) -> (digits: String, exponent: Int) {
    if number.bitPattern < 200 {
      // A multiple of the smallest number, 4.94065645841246544e-324.
      let scaled = Double(number.bitPattern) * 4.94065645841246544
      let exponent = scaled >= 100 ? 2 : scaled >= 10 ? 1 : 0
      let power = exponent == 2 ? 100.0 : exponent == 1 ? 10.0 : 1.0
      let two = Int((scaled / power * 10).rounded())
      let digits = two % 10 == 0 ? String(two / 10) : String(two)
      if Double("\(Double(two) / 10)e\(exponent - 324)") == number { return (digits, exponent - 324) }
    }
    return shortest(number)
  }

  /// The shortest digits that give a positive number back, and the exponent of the first one.
  static func shortest(_ number: Double) -> (digits: String, exponent: Int) {
    var digits = ""
    var (exponent, pointAt, sawPoint) = (0, 0, false)
    let text = number.description
    let parts = text.split(separator: "e")
    for character in parts.first ?? "" {
      if character == "." { sawPoint = true } else { digits.append(character) }
      if !sawPoint { pointAt = digits.count }
    }
    exponent = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) + pointAt - 1
    while digits.hasPrefix("0"), digits.count > 1 {
      digits.removeFirst()
      exponent -= 1
    }
    while digits.hasSuffix("0"), digits.count > 1 { digits.removeLast() }
    return (digits, exponent)
  }

  /// Reads a float as Java's parser does: blanks around it, a suffix `f` or `d`, hexadecimal floats, `NaN`, `Infinity`.
  static func float(_ text: String) -> Double? {
    var body = Array(text.utf8)
    while let last = body.last, last <= 32 { body.removeLast() }
    body = Array(body.drop { $0 <= 32 })
    let unsigned = body.first == UInt8(ascii: "+") || body.first == UInt8(ascii: "-") ? Array(body.dropFirst()) : body
    if unsigned == Array("NaN".utf8) { return .nan }
    if unsigned == Array("Infinity".utf8) { return body.first == UInt8(ascii: "-") ? -.infinity : .infinity }
    guard let first = unsigned.first, Lexer.isDigit(first) || first == UInt8(ascii: ".") else { return nil }
    let isHexadecimal = unsigned.starts(with: Array("0x".utf8)) || unsigned.starts(with: Array("0X".utf8))
    if isHexadecimal, !unsigned.contains(where: { $0 | 32 == UInt8(ascii: "p") }) { return nil }
    if let last = body.last, "fFdD".utf8.contains(last), !isHexadecimal || hasExponentDigits(unsigned) {
      body.removeLast()
    }
    let allowed: StaticString = isHexadecimal ? "0123456789abcdefABCDEFxXpP+-." : "0123456789eE+-."
    guard body.allSatisfy({ byte in allowed.withUTF8Buffer { $0.contains(byte) } }) else { return nil }
    var number = String(decoding: body, as: UTF8.self)
    if number.hasSuffix(".") { number += "0" }
    if let point = number.firstIndex(of: "."), !isHexadecimal {
      let next = number.index(after: point)
      if next < number.endIndex, number[next] == "e" || number[next] == "E" { number.insert("0", at: next) }
    }
    return Double(number)
  }

  /// Whether a hexadecimal float has digits of its exponent before a possible suffix.
  private static func hasExponentDigits(_ text: [UInt8]) -> Bool {
    guard let p = text.lastIndex(where: { $0 | 32 == UInt8(ascii: "p") }) else { return false }
    return text[(p + 1)...].contains(where: Lexer.isDigit)
  }

  /// Reads an integer: a sign or none, decimal digits, within 64 bits.
  static func integer(_ text: String) -> Int64? {
    let digits =
      text.utf8.first == UInt8(ascii: "+") || text.utf8.first == UInt8(ascii: "-")
      ? text.utf8.dropFirst() : text.utf8[...]
    guard !digits.isEmpty, digits.allSatisfy(Lexer.isDigit) else { return nil }
    return Int64(text)
  }

  /// A float without its fraction; beyond the bounds the bound, of NaN 0.
  static func truncated(_ number: Double) -> Int64 {
    if number.isNaN { return 0 }
    if number >= 0x1p63 { return .max }
    if number < -0x1p63 { return .min }
    return Int64(number)
  }
}
