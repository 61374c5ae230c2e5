/// The fields of a form or of the query of a URL: `name=value` pairs with `&` between them, in their order.
///
/// Reading is total: a field without `=` has an empty value, empty fields are dropped, and a `%` that is not followed
/// by two hexadecimal digits is an error.
///
/// ```swift
/// let fields = try FormFields("a=1&b=x%20y+z")
/// fields["b"]        // "x y z"
/// fields.text        // "a=1&b=x%20y%20z"
/// ```
public struct FormFields: Sendable, Hashable {
  /// A name and its value.
  public struct Field: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String

    /// A field.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// All fields, in order; a name can occur more than once.
  public private(set) var fields: [Field] = []

  /// No fields.
  public init() {}

  /// Reads fields.
  ///
  /// - Parameters:
  ///   - text: The text without a question mark.
  ///   - plusIsSpace: Whether a `+` is a space, as browsers write it; otherwise it stays a `+`.
  ///   - maximumCount: The largest number of fields.
  /// - Throws: `BytesError` with `.malformed` for a wrong `%` and for bytes that are not UTF-8; `.limitExceeded`.
  public init(
    _ text: some StringProtocol, plusIsSpace: Bool = true, maximumCount: Int = 1_000
  ) throws(BytesError) {
    try self.init(utf8: Array(text.utf8), plusIsSpace: plusIsSpace, maximumCount: maximumCount)
  }

  /// Reads fields from the bytes of a body.
  public init(utf8 bytes: [UInt8], plusIsSpace: Bool = true, maximumCount: Int = 1_000) throws(BytesError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = rest.prefix { $0 != UInt8(ascii: "&") }
      rest = rest.dropFirst(part.count + 1)
      guard !part.isEmpty else { continue }
      guard fields.count < maximumCount else {
        throw BytesError(.limitExceeded, "form: there are more than \(maximumCount) fields")
      }
      let name = part.prefix { $0 != UInt8(ascii: "=") }
      let value = part.dropFirst(name.count + 1)
      fields.append(Field(try Self.decode(name, plusIsSpace), try Self.decode(value, plusIsSpace)))
    }
  }

  /// The value of the first field of a name; `nil` without one.
  public subscript(name: String) -> String? {
    fields.first { UTF8Order.equal($0.name, name) }?.value
  }

  /// Appends a field; nothing for a value that is `nil`.
  public mutating func append(_ name: String, _ value: String?) {
    if let value { fields.append(Field(name, value)) }
  }

  /// The fields as text; a space is written as `%20`.
  public var text: String {
    let encoding = PercentEncoding.unreserved
    return fields.map { "\(encoding.encode($0.name))=\(encoding.encode($0.value))" }.joined(separator: "&")
  }

  private static func decode(_ bytes: ArraySlice<UInt8>, _ plusIsSpace: Bool) throws(BytesError) -> String {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "%"):
        guard bytes.endIndex - index > 2, let high = Hex.value(bytes[index + 1]), let low = Hex.value(bytes[index + 2])
        else { throw .malformed("form: a % is not followed by two hexadecimal digits") }
        decoded.append(high << 4 | low)
        index += 2
      case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
      default: decoded.append(byte)
      }
      index += 1
    }
    guard let text = String(validating: decoded, as: UTF8.self) else {
      throw .malformed("form: the decoded bytes are not valid UTF-8")
    }
    return text
  }
}
