public import VestaBytes
public import VestaFirestoreBackend

extension ValueWire {
  /// Writes a value as an object of one member.
  public static func write(_ value: Value, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.open(UInt8(ascii: "{"))
    switch value {
    case .null:
      writer.name("nullValue")
      writer.write(raw: "null")
    case .boolean(let flag):
      writer.name("booleanValue")
      ProtobufBool.write(flag, to: &writer)
    case .integer(let number):
      writer.name("integerValue")
      ProtobufInt64.write(number, to: &writer)
    case .double(let number):
      writer.name("doubleValue")
      ProtobufDouble.write(number, to: &writer)
    case .timestamp(let timestamp):
      writer.name("timestampValue")
      try TimestampWire.write(timestamp, to: &writer)
    case .string(let text):
      writer.name("stringValue")
      writer.write(string: text)
    case .bytes(let bytes):
      writer.name("bytesValue")
      ProtobufBytes.write(bytes, to: &writer)
    case .reference(let name):
      writer.name("referenceValue")
      writer.write(string: name)
    case .geoPoint(let point):
      writer.name("geoPointValue")
      try writer.write(point, GeoPointWire.self)
    case .array(let values):
      writer.name("arrayValue")
      try writer.write(values, ArrayWire.self)
    case .map(let map):
      writer.name("mapValue")
      try writer.write(map, MapWire.self)
    }
    writer.close(UInt8(ascii: "}"))
  }

  /// Reads a value from an object of one member.
  ///
  /// - Throws: `BytesError` with `.malformed` also for none, for several, and for a type that no document has.
  public static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Value {
    guard case .object(let object) = json else { throw reader.malformed("this is no object") }
    guard let member = object.members.first else { throw reader.malformed(noType) }
    guard object.count == 1 else { throw reader.malformed("a value has more than one type") }
    // The usual forms need no place for the message of an error.
    if let usual = usualValue(member.name, member.value) { return usual }
    let value = member.value
    let inner = reader.within(member.name)
    switch member.name {
    case "nullValue", "null_value":
      guard value.isNull || value == "NULL_VALUE" || value == 0 else { throw inner.malformed("this is not null") }
      return .null
    case "booleanValue", "boolean_value": return .boolean(try ProtobufBool.read(value, inner))
    case "integerValue", "integer_value": return .integer(try ProtobufInt64.read(value, inner))
    case "doubleValue", "double_value": return .double(try ProtobufDouble.read(value, inner))
    case "timestampValue", "timestamp_value": return .timestamp(try TimestampWire.read(value, inner))
    case "stringValue", "string_value": return .string(try ProtobufString.read(value, inner))
    case "bytesValue", "bytes_value": return .bytes(try ProtobufBytes.read(value, inner))
    case "referenceValue", "reference_value": return .reference(try ProtobufString.read(value, inner))
    case "geoPointValue", "geo_point_value":
      return .geoPoint(try ProtobufMessage<GeoPointWire>.read(value, inner))
    case "arrayValue", "array_value": return .array(try ProtobufMessage<ArrayWire>.read(value, inner))
    case "mapValue", "map_value": return .map(try ProtobufMessage<MapWire>.read(value, inner))
    default: throw inner.malformed(noType)
    }
  }

  /// A value in the form that nearly every writer has it in; `nil` for other forms, and for what is no value.
  private static func usualValue(_ name: String, _ json: JSONValue) -> Value? {
    switch (json, name) {
    case (.null, "nullValue"): .null
    case (.bool(let flag), "booleanValue"): .boolean(flag)
    case (.number(let number), "doubleValue"): .double(number)
    case (.integer(let number), "doubleValue"): .double(Double(number))
    case (.string(let text), _): usualValue(name, text: text)
    default: nil
    }
  }

  private static func usualValue(_ name: String, text: String) -> Value? {
    switch name {
    case "stringValue": .string(text)
    // Other numbers, such as those with a sign or a zero in front, go by the rules of JSON.
    case "integerValue": (49...57).contains(text.utf8.first ?? 0) ? Int64(text).map { .integer($0) } : nil
    case "timestampValue":
      RFC3339.parse(text).map { .timestamp(Timestamp(seconds: $0.seconds, nanos: $0.nanoseconds)) }
    case "referenceValue": .reference(text)
    default: nil
    }
  }
}

/// The statement of `google.firestore.v1.ArrayValue`.
public enum ArrayWire: ProtobufSchema {
  /// No values.
  public static var empty: [Value] { [] }

  /// Visits the fields.
  public static func visit(_ values: inout [Value], _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(1, "values", &values, ValueWire.self)
  }
}

/// The statement of `google.firestore.v1.MapValue`.
public enum MapWire: ProtobufSchema {
  /// No entries.
  public static var empty: MapValue { MapValue() }

  /// Visits the fields.
  public static func visit(_ map: inout MapValue, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.map(1, "fields", &map, ValueWire.self)
  }
}

/// The statement of `google.type.LatLng`.
public enum GeoPointWire: ProtobufSchema {
  /// The point without fields.
  public static var empty: GeoPoint { GeoPoint(latitude: 0, longitude: 0) }

  /// Visits the fields.
  public static func visit(_ point: inout GeoPoint, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "latitude", &point.latitude, ProtobufDouble.self)
    try visitor.field(2, "longitude", &point.longitude, ProtobufDouble.self)
  }
}
