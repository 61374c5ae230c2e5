extension DatabaseTree: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByNilLiteral, ExpressibleByDictionaryLiteral
{
  /// A string.
  public init(stringLiteral value: String) { self = .leaf(.string(value)) }

  /// A boolean.
  public init(booleanLiteral value: Bool) { self = .leaf(.bool(value)) }

  /// A number.
  public init(integerLiteral value: Int) { self = .leaf(.number(Double(value))) }

  /// A number.
  public init(floatLiteral value: Double) { self = .leaf(.number(value)) }

  /// Nothing.
  public init(nilLiteral: ()) { self = .missing }

  /// A node with children; nil ones are left out, and of equal names the last one counts.
  public init(dictionaryLiteral elements: (String, DatabaseTree)...) {
    let children = Dictionary(elements, uniquingKeysWith: { $1 }).filter { $0.value != .missing }
    self = children.isEmpty ? .missing : .parent(children)
  }
}
