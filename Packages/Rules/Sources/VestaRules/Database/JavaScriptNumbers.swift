/// Numbers as strings in the form of JavaScript, in which rules of the Realtime Database append them to strings.
enum JavaScriptNumbers {
  /// The text of a number: `2`, `100000000000000000000`, `1e+21`, `0.000001`, `1e-7`, `NaN`, `-Infinity`.
  static func text(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number == 0 { return "0" }
    let sign = number < 0 ? "-" : ""
    if number.isInfinite { return sign + "Infinity" }
    let (digits, exponent) = JavaNumbers.shortest(number.magnitude)
    switch exponent {
    case -6..<0: return "\(sign)0.\(String(repeating: "0", count: -exponent - 1))\(digits)"
    case 0..<21:
      let whole = exponent + 1
      guard digits.count > whole else { return sign + digits + String(repeating: "0", count: whole - digits.count) }
      return "\(sign)\(digits.prefix(whole)).\(digits.dropFirst(whole))"
    default:
      let rest = digits.count > 1 ? ".\(digits.dropFirst())" : ""
      return "\(sign)\(digits.prefix(1))\(rest)e\(exponent < 0 ? "-" : "+")\(exponent.magnitude)"
    }
  }
}
