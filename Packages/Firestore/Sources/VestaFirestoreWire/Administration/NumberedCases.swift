public import VestaBytes

/// An enumeration of protobuf whose cases have the numbers 0, 1, 2, … in the order of their declaration.
public protocol NumberedCases: ProtobufEnumSchema, CaseIterable, Sendable, Hashable where Value == Self {
  /// The names of the cases in protobuf, in the same order.
  static var names: [StaticString] { get }
}

extension NumberedCases {
  /// The numbers, names and values.
  public static var cases: [(number: Int32, name: StaticString, value: Self)] {
    zip(allCases, names).enumerated().map { (Int32($0.offset), $0.element.1, $0.element.0) }
  }
}

/// The statement of `google.protobuf.Empty`.
public enum EmptyWire: ProtobufSchema {
  /// A message without fields.
  public struct Message: Sendable, Hashable {
    /// The message.
    public init() {}
  }

  /// The message.
  public static var empty: Message { Message() }

  /// Visits no field.
  public static func visit(_ message: inout Message, _ visitor: inout some ProtobufVisitor) throws(BytesError) {}
}

/// The kind of `google.protobuf.FieldMask`: paths such as `index_config`; JSON has them in one string, in camel case.
public enum FieldMaskWire: ProtobufKind {
  /// A length and the paths.
  public static var wireType: ProtobufWireType { .delimited }

  /// A mask has presence.
  public static func isDefault(_ value: [String]) -> Bool { false }

  /// Writes the paths.
  public static func write(_ value: [String], to writer: inout ProtobufWriter) throws(BytesError) {
    try ProtobufMessage<Paths>.write(value, to: &writer)
  }

  /// Reads the paths.
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> [String] {
    try ProtobufMessage<Paths>.read(&reader)
  }

  /// Writes a string.
  public static func write(_ value: [String], to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.write(string: value.map(camelCase).joined(separator: ","))
  }

  /// Reads a string; paths in the case of protobuf are read as well.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> [String] {
    guard case .string(let text) = json else { throw reader.malformed("this is no field mask") }
    return text.split(separator: ",").map(snakeCase)
  }

  private enum Paths: ProtobufSchema {
    static var empty: [String] { [] }

    static func visit(_ paths: inout [String], _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.repeated(1, "paths", &paths, ProtobufString.self)
    }
  }

  private static func camelCase(_ path: String) -> String {
    let words = path.split(separator: "_", omittingEmptySubsequences: false)
    let later = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return (words.first ?? "") + later.joined()
  }

  private static func snakeCase(_ path: Substring) -> String {
    path.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
  }
}
