public import VestaBytes
public import VestaFirestoreBackend

/// The kind of `google.firestore.v1.Value`.
///
/// Written out, and not by a statement: documents are made of values, so most of a call's time is spent here.
public enum ValueWire: ProtobufKind {
  /// A length and one field.
  public static var wireType: ProtobufWireType { .delimited }

  /// A value has presence.
  public static func isDefault(_ value: Value) -> Bool { false }

  // MARK: Binary

  /// Writes a value; a default one is written too, such as the integer zero.
  public static func write(_ value: Value, to writer: inout ProtobufWriter) throws(BytesError) {
    switch value {
    case .null: writer.write(messageOf: 11, varint: 0)
    case .boolean(let flag): writer.write(messageOf: 1, varint: flag ? 1 : 0)
    case .integer(let number): writer.write(messageOf: 2, varint: UInt64(bitPattern: number))
    case .double(let number): writer.write(messageOf: 3, fixed64: number.bitPattern)
    case .reference(let name): writer.write(messageOf: 5, string: name)
    case .string(let text): writer.write(messageOf: 17, string: text)
    case .timestamp(let time): writer.write(messageOf: 10, numbers: time.seconds, Int64(time.nanos))
    case .geoPoint(let point): writer.write(messageOf: 8, doubles: point.latitude, point.longitude)
    case .map, .array, .bytes:
      let start = writer.begin()
      try writeMember(value, to: &writer)
      writer.close(start)
    }
  }

  /// Writes the field of a value whose length is known only once it is written.
  private static func writeMember(_ value: Value, to writer: inout ProtobufWriter) throws(BytesError) {
    switch value {
    case .map(let map):
      writer.write(tag: 6, .delimited)
      try write(map, to: &writer)
    case .array(let values):
      writer.write(tag: 9, .delimited)
      try write(values, to: &writer)
    case .bytes(let bytes):
      writer.write(tag: 18, .delimited)
      writer.write(blob: bytes)
    case .null, .boolean, .integer, .double, .reference, .string, .timestamp, .geoPoint: break
    }
  }

  private static func write(_ map: MapValue, to writer: inout ProtobufWriter) throws(BytesError) {
    let start = writer.begin()
    try map.forEachEntry { name, value throws(BytesError) in try write(1, entry: name, value, to: &writer) }
    writer.close(start)
  }

  /// Writes an entry of a map; one whose length is known before it is written is written at once.
  public static func write(
    _ number: UInt32, entry key: String, _ value: Value, to writer: inout ProtobufWriter
  ) throws(BytesError) {
    switch value {
    case .null: writer.write(number, entry: key, messageOf: 11, varint: 0)
    case .boolean(let flag): writer.write(number, entry: key, messageOf: 1, varint: flag ? 1 : 0)
    case .integer(let integer):
      writer.write(number, entry: key, messageOf: 2, varint: UInt64(bitPattern: integer))
    case .double(let double): writer.write(number, entry: key, messageOf: 3, fixed64: double.bitPattern)
    case .reference(let name): writer.write(number, entry: key, messageOf: 5, string: name)
    case .string(let text): writer.write(number, entry: key, messageOf: 17, string: text)
    case .timestamp(let time):
      writer.write(number, entry: key, messageOf: 10, numbers: time.seconds, Int64(time.nanos))
    case .geoPoint(let point):
      writer.write(number, entry: key, messageOf: 8, doubles: point.latitude, point.longitude)
    case .map, .array, .bytes:
      try writer.write(number, entry: key, value, ValueWire.self)
    }
  }

  private static func write(_ values: [Value], to writer: inout ProtobufWriter) throws(BytesError) {
    let start = writer.begin()
    for value in values {
      writer.write(tag: 1, .delimited)
      try write(value, to: &writer)
    }
    writer.close(start)
  }

  /// Reads a value.
  ///
  /// - Throws: `BytesError` with `.malformed` also for a value of no type, or of one that no document has.
  public static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Value {
    let outer = try reader.enter()
    var value: Value?
    // As nearly every writer has it: one field.
    if try reader.nextField() {
      if let read = try readMember(&reader) {
        if reader.isAtEnd {
          try reader.leave(outer)
          return read
        }
        value = read
      } else {
        try reader.skip()
      }
    }
    while try reader.nextField() {
      if let read = try readMember(&reader) { value = read } else { try reader.skip() }
    }
    try reader.leave(outer)
    guard let value else { throw BytesError(.malformed, noType) }
    return value
  }

  /// Reads the current field; `nil` when it is none of a value's, or has another wire type.
  private static func readMember(_ reader: inout ProtobufReader) throws(BytesError) -> Value? {
    let type = reader.fieldWireType
    switch reader.fieldNumber {
    case 3:
      guard type == .fixed64 else { return nil }
      return .double(Double(bitPattern: try reader.fixed64()))
    case 1, 2, 11:
      guard type == .varint else { return nil }
      return number(reader.fieldNumber, try reader.varint())
    case 5, 6, 8, 9, 10, 17, 18:
      guard type == .delimited else { return nil }
      return try readDelimited(&reader)
    default: return nil
    }
  }

  private static func number(_ field: UInt32, _ number: UInt64) -> Value {
    switch field {
    case 1: .boolean(number != 0)
    case 2: .integer(Int64(bitPattern: number))
    default: .null
    }
  }

  private static func readDelimited(_ reader: inout ProtobufReader) throws(BytesError) -> Value {
    switch reader.fieldNumber {
    case 17: .string(try reader.string())
    case 5: .reference(try reader.string())
    case 6: .map(try readMap(&reader))
    case 9: .array(try readArray(&reader))
    case 8: .geoPoint(try readPoint(&reader))
    case 10: .timestamp(try TimestampWire.read(&reader))
    default: .bytes(try reader.blob())
    }
  }

  private static func readMap(_ reader: inout ProtobufReader) throws(BytesError) -> MapValue {
    let outer = try reader.enter()
    var map = MapValue()
    while try reader.nextField() {
      guard reader.fieldNumber == 1, reader.fieldWireType == .delimited else {
        try reader.skip()
        continue
      }
      try reader.map(1, "fields", &map, ValueWire.self)
    }
    try reader.leave(outer)
    return map
  }

  private static func readArray(_ reader: inout ProtobufReader) throws(BytesError) -> [Value] {
    let outer = try reader.enter()
    var values: [Value] = []
    while try reader.nextField() {
      guard reader.fieldNumber == 1, reader.fieldWireType == .delimited else {
        try reader.skip()
        continue
      }
      if values.isEmpty { values.reserveCapacity(reader.entriesAhead()) }
      values.append(try read(&reader))
    }
    try reader.leave(outer)
    return values
  }

  private static func readPoint(_ reader: inout ProtobufReader) throws(BytesError) -> GeoPoint {
    let outer = try reader.enter()
    var point = GeoPointWire.empty
    while try reader.nextField() {
      switch (reader.fieldNumber, reader.fieldWireType) {
      case (1, .fixed64): point.latitude = Double(bitPattern: try reader.fixed64())
      case (2, .fixed64): point.longitude = Double(bitPattern: try reader.fixed64())
      default: try reader.skip()
      }
    }
    try reader.leave(outer)
    return point
  }

  static let noType = "a value has no type, or one that no document has"
}
