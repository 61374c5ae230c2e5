/// Writes protobuf's JSON form; the schemas' visitor for that direction.
public struct ProtobufJSONWriter: Sendable {
  /// The bytes written so far.
  public private(set) var bytes: [UInt8] = []

  /// Whether the next element needs a comma before it.
  private var needsComma = false

  /// An empty writer.
  public init() { bytes.reserveCapacity(256) }

  /// Writes a message as an object.
  @inlinable
  public mutating func write<Schema: ProtobufSchema>(
    _ message: Schema.Message, _ schema: Schema.Type
  ) throws(BytesError) {
    var message = message
    open(UInt8(ascii: "{"))
    try Schema.visit(&message, &self)
    close(UInt8(ascii: "}"))
  }

  /// Writes a string.
  public mutating func write(string: String) {
    JSONWriter.append(string, to: &bytes)
    needsComma = true
  }

  /// Writes a number or a word of JSON as it is.
  public mutating func write(raw text: String) {
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  /// Writes any JSON value.
  public mutating func write(_ value: JSONValue) throws(BytesError) {
    try bytes.append(contentsOf: value.json())
    needsComma = true
  }

  /// Begins an object or an array.
  public mutating func open(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = false
  }

  /// Ends an object or an array.
  public mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  /// Writes the comma before an element of an array, if one is needed.
  public mutating func element() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = false
  }

  /// Writes the name of a member.
  public mutating func name(_ name: StaticString) {
    element()
    bytes.append(UInt8(ascii: "\""))
    // Unsafe pointer, used inside the closure only: the bytes of the name are appended at once.
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  /// Writes the name of a member of a map.
  public mutating func name(key: String) {
    element()
    JSONWriter.append(key, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
  }
}

extension ProtobufJSONWriter: ProtobufVisitor {
  /// Fields are written.
  @inlinable
  public var isReading: Bool { false }

  /// Writes a member, unless it has its default value.
  @inlinable
  public mutating func field<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ value: inout Kind.Value, _ kind: Kind.Type
  ) throws(BytesError) {
    guard !Kind.isDefault(value) else { return }
    self.name(name)
    try Kind.write(value, to: &self)
  }

  /// Writes a member, unless it is absent.
  @inlinable
  public mutating func optional<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ value: inout Kind.Value?, _ kind: Kind.Type
  ) throws(BytesError) {
    guard let value else { return }
    self.name(name)
    try Kind.write(value, to: &self)
  }

  /// Writes an array, unless it is empty.
  @inlinable
  public mutating func repeated<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ values: inout [Kind.Value], _ kind: Kind.Type
  ) throws(BytesError) {
    guard !values.isEmpty else { return }
    self.name(name)
    open(UInt8(ascii: "["))
    for value in values {
      element()
      try Kind.write(value, to: &self)
    }
    close(UInt8(ascii: "]"))
  }

  /// Writes an object with the names of the map, unless it is empty.
  @inlinable
  public mutating func map<Kind: ProtobufKind, Map: ProtobufMap>(
    _ number: UInt32, _ name: StaticString, _ entries: inout Map, _ kind: Kind.Type
  ) throws(BytesError) where Map.Value == Kind.Value {
    guard !entries.isEmpty else { return }
    self.name(name)
    open(UInt8(ascii: "{"))
    try entries.forEachEntry { key, value throws(BytesError) in
      self.name(key: key)
      try Kind.write(value, to: &self)
    }
    close(UInt8(ascii: "}"))
  }

  /// Writes a member of a oneof, if the enumeration is this one.
  @inlinable
  public mutating func member<Kind: ProtobufKind, Oneof>(
    _ number: UInt32, _ name: StaticString, _ oneof: inout Oneof, _ kind: Kind.Type,
    extract: (Oneof) -> Kind.Value?, embed: (Kind.Value) -> Oneof
  ) throws(BytesError) {
    guard let value = extract(oneof) else { return }
    self.name(name)
    try Kind.write(value, to: &self)
  }
}
