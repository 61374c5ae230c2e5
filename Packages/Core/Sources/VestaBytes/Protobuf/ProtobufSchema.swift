/// The statement of the fields of a protobuf message, once for all directions: binary and JSON, reading and writing.
///
/// The message itself may be any Swift type; a schema says which number and name each part of it has on the wire.
///
/// ```swift
/// enum LatLng: ProtobufSchema {
///   static var empty: GeoPoint { GeoPoint(latitude: 0, longitude: 0) }
///
///   static func visit(_ point: inout GeoPoint, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
///     try visitor.field(1, "latitude", &point.latitude, ProtobufDouble.self)
///     try visitor.field(2, "longitude", &point.longitude, ProtobufDouble.self)
///   }
/// }
///
/// let bytes = try LatLng.bytes(of: point)
/// let copy = try LatLng.message(from: bytes)
/// let text = try LatLng.json(of: point)        // {"latitude":48.2,"longitude":16.4}
/// ```
///
/// State the fields in ascending order of their numbers: so they are written. They are read in any order: a reader
/// visits the statement once for each field on the wire, and for each member of a JSON object. Of a field that occurs
/// more than once the last value counts, a message that occurs more than once is merged, and fields that the statement
/// does not have are skipped.
public protocol ProtobufSchema: SendableMetatype {
  /// The Swift type of the message.
  associatedtype Message

  /// The message without fields, to read into.
  static var empty: Message { get }

  /// Visits every field, in ascending order of the numbers.
  ///
  /// - Parameters:
  ///   - message: The message that is written, or read into.
  ///   - visitor: Writes the fields, or reads one of them.
  /// - Throws: The error of the visitor.
  static func visit(_ message: inout Message, _ visitor: inout some ProtobufVisitor) throws(BytesError)

  /// Writes the fields in binary form, without a length.
  ///
  /// By default ``visit(_:_:)`` does, on a copy; a message that is most of what is sent is written without one.
  static func write(_ message: Message, to writer: inout ProtobufWriter) throws(BytesError)
}

/// Writes the fields of a message, or reads the one that it is at; ``ProtobufSchema`` has the rules.
public protocol ProtobufVisitor {
  /// Whether fields are read: the values that are passed in may be replaced.
  var isReading: Bool { get }

  /// Visits a field without presence: its default value is not written.
  mutating func field<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ value: inout Kind.Value, _ kind: Kind.Type) throws(BytesError)

  /// Visits a field with presence, such as a message: a default value is written, `nil` is not.
  mutating func optional<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ value: inout Kind.Value?, _ kind: Kind.Type) throws(BytesError)

  /// Visits a repeated field.
  mutating func repeated<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ values: inout [Kind.Value], _ kind: Kind.Type) throws(BytesError)

  /// Visits a map from strings.
  mutating func map<Kind: ProtobufKind, Map: ProtobufMap>(
    _ number: UInt32, _ name: StaticString, _ entries: inout Map, _ kind: Kind.Type
  ) throws(BytesError) where Map.Value == Kind.Value

  /// Visits a member of a oneof whose Swift type is an enumeration.
  ///
  /// - Parameters:
  ///   - number: The number of the member.
  ///   - name: Its name in JSON.
  ///   - oneof: The enumeration.
  ///   - extract: Returns the value of the member; `nil` when the enumeration is another one.
  ///   - embed: Makes the enumeration of the value that was read.
  ///   - kind: The kind of the member.
  mutating func member<Kind: ProtobufKind, Oneof>(
    _ number: UInt32, _ name: StaticString, _ oneof: inout Oneof, _ kind: Kind.Type,
    extract: (Oneof) -> Kind.Value?, embed: (Kind.Value) -> Oneof) throws(BytesError)
}

/// A container that a protobuf map is read into: a dictionary, or one with an explicit order.
public protocol ProtobufMap {
  /// The values under the names.
  associatedtype Value

  /// Whether there are no entries.
  var isEmpty: Bool { get }

  /// The number of entries.
  var count: Int { get }

  /// A map of names and the value under each; of several with one name the last one stays.
  ///
  /// A reader makes it of the entries that follow one another, so that a map which is kept in order looks at the order
  /// once.
  init(names: [String], values: [Value])

  /// Makes room for entries; a hint, which a container may ignore.
  mutating func reserve(_ count: Int)

  /// Keeps a value under a name; of several with one name the last one stays.
  mutating func set(_ value: consuming Value, for name: consuming String)

  /// Calls `body` with each name and its value.
  func forEachEntry(_ body: (String, Value) throws(BytesError) -> Void) throws(BytesError)
}

extension Dictionary: ProtobufMap where Key == String {
  /// A dictionary of names and the value under each; of several with one name the last one stays.
  public init(names: [String], values: [Value]) {
    self.init(zip(names, values), uniquingKeysWith: { _, last in last })
  }

  /// Makes room for entries.
  public mutating func reserve(_ count: Int) { reserveCapacity(count) }

  /// Keeps a value under a name.
  public mutating func set(_ value: Value, for name: String) { self[name] = value }

  /// Calls `body` with each name and its value.
  public func forEachEntry(_ body: (String, Value) throws(BytesError) -> Void) throws(BytesError) {
    for (name, value) in self { try body(name, value) }
  }
}

extension ProtobufSchema {
  /// Visits a copy of the message.
  @inlinable
  public static func write(_ message: Message, to writer: inout ProtobufWriter) throws(BytesError) {
    var message = message
    try visit(&message, &writer)
  }

  /// The message as bytes.
  @inlinable
  public static func bytes(of message: Message) throws(BytesError) -> [UInt8] {
    var writer = ProtobufWriter()
    try writer.write(message, Self.self)
    return writer.finish()
  }

  /// Reads a message.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of one message.
  ///   - limits: The bounds on depth and size.
  /// - Throws: ``BytesError`` with `.malformed` or `.limitExceeded`, and the number of the field.
  @inlinable
  public static func message(
    from bytes: [UInt8], limits: ProtobufLimits = ProtobufLimits()
  ) throws(BytesError) -> Message {
    var message = empty
    var reader = try ProtobufReader(bytes, limits: limits)
    try reader.merge(into: &message, Self.self)
    return message
  }

  /// The message as JSON, by protobuf's mapping.
  @inlinable
  public static func json(of message: Message) throws(BytesError) -> [UInt8] {
    var writer = ProtobufJSONWriter()
    try writer.write(message, Self.self)
    return writer.bytes
  }

  /// Reads a message from JSON, by protobuf's mapping.
  ///
  /// - Parameters:
  ///   - json: UTF-8.
  ///   - limits: The bounds on depth and size.
  ///   - ignoresUnknownNames: Whether members that the message does not have are skipped; otherwise they are an error.
  /// - Throws: ``BytesError`` with `.malformed` or `.limitExceeded`, and the path of the member.
  @inlinable
  public static func message(
    json: [UInt8], limits: JSONLimits = JSONLimits(maximumDepth: 200), ignoresUnknownNames: Bool = false
  ) throws(BytesError) -> Message {
    try message(json: JSONValue(json: json, limits: limits), ignoresUnknownNames: ignoresUnknownNames)
  }

  /// Reads a message from a JSON value, by protobuf's mapping.
  @inlinable
  public static func message(
    json: JSONValue, ignoresUnknownNames: Bool = false
  ) throws(BytesError) -> Message {
    var message = empty
    try ProtobufJSONReader.merge(json, into: &message, Self.self, ignoresUnknownNames: ignoresUnknownNames)
    return message
  }
}

/// The bounds that a reader of protobuf keeps to.
public struct ProtobufLimits: Sendable, Hashable {
  /// How many messages may be nested.
  public var maximumDepth: Int
  /// The largest size of a message, in bytes.
  public var maximumSize: Int
  /// How many entries of maps may be moved, in all, for entries that do not follow the others of their map.
  public var maximumMoves: Int

  /// Bounds.
  ///
  /// - Parameters:
  ///   - maximumDepth: How many messages may be nested; 200 at most, so that no stack overflows.
  ///   - maximumSize: The largest size of a message, in bytes.
  ///   - maximumMoves: How many entries of maps may be moved, in all, for entries that do not follow the others of
  ///     their map; as many as a map of about a thousand such entries needs unless given.
  public init(maximumDepth: Int = 100, maximumSize: Int = 17 << 20, maximumMoves: Int = 500_500) {
    self.maximumDepth = min(maximumDepth, 200)
    self.maximumSize = maximumSize
    self.maximumMoves = maximumMoves
  }
}
