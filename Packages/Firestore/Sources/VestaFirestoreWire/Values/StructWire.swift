import VestaBytes
import VestaFirestoreBackend

/// The kind of `google.protobuf.Struct`, as a map of values: numbers are doubles.
enum StructWire: ProtobufKind {
  static var wireType: ProtobufWireType { .delimited }
  static var absentEntry: MapValue? { MapValue() }

  static func isDefault(_ value: MapValue) -> Bool { value.isEmpty }

  static func write(_ value: MapValue, to writer: inout ProtobufWriter) throws(BytesError) {
    try ProtobufMessage<StructFields>.write(value, to: &writer)
  }

  static func read(_ reader: inout ProtobufReader) throws(BytesError) -> MapValue {
    try ProtobufMessage<StructFields>.read(&reader)
  }

  static func write(_ value: MapValue, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.open(UInt8(ascii: "{"))
    for (name, element) in value {
      writer.name(key: name)
      try StructValueWire.write(element, to: &writer)
    }
    writer.close(UInt8(ascii: "}"))
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> MapValue {
    guard case .object(let object) = json else { throw reader.malformed("this is no object") }
    var values: [MapValue.Value] = []
    for member in object.members { values.append(try StructValueWire.read(member.value, reader)) }
    return MapValue(names: object.members.map(\.name), values: values)
  }
}

/// The statement of `google.protobuf.Struct`.
private enum StructFields: ProtobufSchema {
  static var empty: MapValue { MapValue() }

  static func visit(_ map: inout MapValue, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.map(1, "fields", &map, StructValueWire.self)
  }
}

/// The kind of `google.protobuf.Value`.
private enum StructValueWire: ProtobufKind {
  static var wireType: ProtobufWireType { .delimited }
  static var absentEntry: Value? { .null }
  static var acceptsNull: Bool { true }

  static func isDefault(_ value: Value) -> Bool { false }

  static func write(_ value: Value, to writer: inout ProtobufWriter) throws(BytesError) {
    try ProtobufMessage<StructValueFields>.write(value, to: &writer)
  }

  static func read(_ reader: inout ProtobufReader) throws(BytesError) -> Value {
    try ProtobufMessage<StructValueFields>.read(&reader)
  }

  static func write(_ value: Value, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    switch value {
    case .boolean(let flag): ProtobufBool.write(flag, to: &writer)
    case .integer(let number): ProtobufDouble.write(Double(number), to: &writer)
    case .double(let number): ProtobufDouble.write(number, to: &writer)
    case .string(let text): writer.write(string: text)
    case .map(let map): try StructWire.write(map, to: &writer)
    case .array(let values):
      writer.open(UInt8(ascii: "["))
      for value in values {
        writer.element()
        try write(value, to: &writer)
      }
      writer.close(UInt8(ascii: "]"))
    case .null, .timestamp, .bytes, .reference, .geoPoint: writer.write(raw: "null")
    }
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Value {
    switch json {
    case .null: return .null
    case .bool(let flag): return .boolean(flag)
    case .integer(let number): return .double(Double(number))
    case .number(let number): return .double(number)
    case .string(let text): return .string(text)
    case .object: return .map(try StructWire.read(json, reader))
    case .array(let elements):
      var values: [Value] = []
      for element in elements { values.append(try read(element, reader)) }
      return .array(values)
    }
  }
}

private enum StructValueFields: ProtobufSchema {
  static var empty: Value { .null }

  static func visit(_ value: inout Value, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.member(1, "nullValue", &value, ProtobufInt32.self) {
      if case .null = $0 { 0 } else { nil }
    } embed: {
      _ in
      .null
    }
    try visitor.member(2, "numberValue", &value, ProtobufDouble.self) {
      number(of: $0)
    } embed: {
      .double($0)
    }
    try visitor.member(3, "stringValue", &value, ProtobufString.self) {
      if case .string(let text) = $0 { text } else { nil }
    } embed: {
      .string($0)
    }
    try visitor.member(4, "boolValue", &value, ProtobufBool.self) {
      if case .boolean(let flag) = $0 { flag } else { nil }
    } embed: {
      .boolean($0)
    }
    try visitor.member(5, "structValue", &value, StructWire.self) {
      if case .map(let map) = $0 { map } else { nil }
    } embed: {
      .map($0)
    }
    try visitor.member(6, "listValue", &value, ProtobufMessage<StructList>.self) {
      if case .array(let values) = $0 { values } else { nil }
    } embed: {
      .array($0)
    }
  }

  private static func number(of value: Value) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }
}

private enum StructList: ProtobufSchema {
  static var empty: [Value] { [] }

  static func visit(_ values: inout [Value], _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(1, "values", &values, StructValueWire.self)
  }
}
