public import VestaBytes
import VestaFirestoreBackend

extension ExportEntity {
  /// Reads a record.
  ///
  /// - Throws: `BytesError` for what is no document.
  public init(record: [UInt8]) throws(BytesError) {
    var reader = GroupReader(record[...])
    var key: EntityKey?
    fields = try Self.fields(&reader, depth: 0, key: &key)
    guard let key, !key.path.isEmpty else { throw BytesError(.malformed, "A record has no key.") }
    path = key.path
  }

  /// Reads the properties of an entity.
  private static func fields(
    _ reader: inout GroupReader, depth: Int, key: inout EntityKey?
  ) throws(BytesError) -> MapValue {
    guard depth < depthLimit else { throw BytesError(.limitExceeded, "Maps are nested too deep.") }
    var single: [(String, Value)] = []
    var lists: [String: (elements: [Value], isVector: Bool)] = [:]
    while let field = try reader.field() {
      switch field.number {
      case 13:
        var inner = try reader.nested()
        key = try EntityKey(&inner)
      case 14, 15:
        var inner = try reader.nested()
        let property = try Property(&inner, depth: depth)
        if property.isMultiple {
          lists[property.name, default: ([], false)].elements.append(property.value)
          if property.meaning == Meaning.vector { lists[property.name]?.isVector = true }
        } else {
          single.append((property.name, property.value))
        }
      default: try reader.skip(field)
      }
    }
    for (name, list) in lists {
      let array = Value.array(list.elements)
      single.append((name, list.isVector ? .map(["__type__": .string("__vector__"), "value": array]) : array))
    }
    return MapValue(single.sorted { UTF8Order.precedes($0.0, $1.0) })
  }

  /// A property of an entity: a field, or one element of an array.
  private struct Property {
    var name = ""
    var meaning: UInt64 = 0
    var isMultiple = false
    var value = Value.null

    init(_ reader: inout GroupReader, depth: Int) throws(BytesError) {
      var content: GroupReader?
      while let field = try reader.field() {
        switch field.number {
        case 1: meaning = try reader.varint()
        case 3: name = try reader.string()
        case 4: isMultiple = try reader.varint() != 0
        case 5: content = try reader.nested()
        default: try reader.skip(field)
        }
      }
      guard meaning != Meaning.emptyList else {
        value = .array([])
        return
      }
      if var content { value = try Self.value(&content, meaning, depth: depth) }
    }

    private static func value(
      _ reader: inout GroupReader, _ meaning: UInt64, depth: Int
    ) throws(BytesError) -> Value {
      var value = Value.null
      while let field = try reader.field() {
        switch field.number {
        case 1:
          let number = Int64(bitPattern: try reader.varint())
          value = meaning == Meaning.timestamp ? .timestamp(Timestamp(microseconds: number)) : .integer(number)
        case 2: value = .boolean(try reader.varint() != 0)
        case 3: value = try string(&reader, meaning, depth: depth)
        case 4: value = .double(Double(bitPattern: try reader.fixed64()))
        case 5: value = try point(&reader)
        case 12: value = .reference(try EntityKey(reference: &reader).name)
        default: try reader.skip(field)
        }
      }
      return value
    }

    private static func string(
      _ reader: inout GroupReader, _ meaning: UInt64, depth: Int
    ) throws(BytesError) -> Value {
      switch meaning {
      case Meaning.blob, Meaning.byteString: return .bytes(try reader.bytes())
      case Meaning.entity:
        var inner = try reader.nested()
        var key: EntityKey?
        return .map(try ExportEntity.fields(&inner, depth: depth + 1, key: &key))
      default: return .string(try reader.string())
      }
    }

    private static func point(_ reader: inout GroupReader) throws(BytesError) -> Value {
      var (latitude, longitude) = (0.0, 0.0)
      while let field = try reader.field() {
        switch (field.number, field.type) {
        case (5, 4): return .geoPoint(GeoPoint(latitude: latitude, longitude: longitude))
        case (6, 1): latitude = Double(bitPattern: try reader.fixed64())
        case (7, 1): longitude = Double(bitPattern: try reader.fixed64())
        default: try reader.skip(field)
        }
      }
      throw BytesError(.malformed, "A point has no end.")
    }
  }
}

/// The key of a document, in either of the two spellings that the format has.
private struct EntityKey {
  var app = ""
  var database = "(default)"
  var path: [String] = []

  /// The full resource name; the letters before `~` say where the project runs.
  var name: String {
    let project = app.firstIndex(of: "~").map { app[app.index(after: $0)...] } ?? app[...]
    return "projects/\(project)/databases/\(database)/documents/\(path.joined(separator: "/"))"
  }

  /// Reads the key of an entity.
  init(_ reader: inout GroupReader) throws(BytesError) {
    while let field = try reader.field() {
      switch (field.number, field.type) {
      case (13, 2): app = try reader.string()
      case (14, 2):
        var inner = try reader.nested()
        while let part = try inner.field() {
          guard part.number == 1, part.type == 3 else {
            try inner.skip(part)
            continue
          }
          try element(&inner, end: 1, type: 2, id: 3, name: 4)
        }
      case (23, 2): database = try reader.string()
      default: try reader.skip(field)
      }
    }
  }

  /// Reads a reference up to the end of its group.
  init(reference reader: inout GroupReader) throws(BytesError) {
    while let field = try reader.field() {
      switch (field.number, field.type) {
      case (12, 4): return
      case (13, 2): app = try reader.string()
      case (14, 3): try element(&reader, end: 14, type: 15, id: 16, name: 17)
      case (23, 2): database = try reader.string()
      default: try reader.skip(field)
      }
    }
    throw BytesError(.malformed, "A reference has no end.")
  }

  /// Reads a collection and a document up to the end of their group.
  private mutating func element(
    _ reader: inout GroupReader, end: UInt64, type: UInt64, id: UInt64, name: UInt64
  ) throws(BytesError) {
    var (collection, document) = ("", "")
    while let field = try reader.field() {
      switch (field.number, field.type) {
      case (end, 4):
        path += [collection, document]
        return
      case (type, 2): collection = try reader.string()
      case (id, 0): document = "__id\(Int64(bitPattern: try reader.varint()))__"
      case (name, 2): document = try reader.string()
      default: try reader.skip(field)
      }
    }
    throw BytesError(.malformed, "A path has no end.")
  }
}

/// Reads protobuf with groups, which the format has and newer ones do not.
struct GroupReader {
  /// A field and its wire type; 3 and 4 begin and end a group.
  struct Field {
    let number: UInt64
    let type: UInt8
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The next field; `nil` at the end.
  mutating func field() throws(BytesError) -> Field? {
    guard !rest.isEmpty else { return nil }
    let tag = try varint()
    return Field(number: tag >> 3, type: UInt8(tag & 7))
  }

  mutating func varint() throws(BytesError) -> UInt64 {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while let byte = rest.popFirst() {
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
      guard shift < 70 else { break }
    }
    throw BytesError(.malformed, "A number has no end.")
  }

  mutating func fixed64() throws(BytesError) -> UInt64 {
    guard rest.count >= 8 else { throw BytesError(.malformed, "A record ends in the middle of a number.") }
    defer { rest = rest.dropFirst(8) }
    return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// A length and a message, for a separate reader.
  mutating func nested() throws(BytesError) -> GroupReader {
    let length = try varint()
    guard length <= UInt64(rest.count) else { throw BytesError(.malformed, "A field is longer than its record.") }
    defer { rest = rest.dropFirst(Int(length)) }
    return GroupReader(rest.prefix(Int(length)))
  }

  mutating func bytes() throws(BytesError) -> [UInt8] { Array(try nested().rest) }

  mutating func string() throws(BytesError) -> String {
    guard let string = String(validating: try nested().rest, as: UTF8.self) else {
      throw BytesError(.malformed, "A string is not UTF-8.")
    }
    return string
  }

  /// Skips the value of a field, with everything in it where it is a group.
  mutating func skip(_ field: Field) throws(BytesError) {
    var open = 0
    var current = field
    while true {
      switch current.type {
      case 0: _ = try varint()
      case 1: _ = try fixed64()
      case 2: _ = try nested()
      case 3: open += 1
      case 4: open -= 1
      case 5:
        guard rest.count >= 4 else { throw BytesError(.malformed, "A record ends in the middle of a number.") }
        rest = rest.dropFirst(4)
      default: throw BytesError(.malformed, "A field has an unknown wire type.")
      }
      guard open >= 0 else { throw BytesError(.malformed, "A group ends that has not begun.") }
      if open == 0 { return }
      guard let next = try self.field() else { throw BytesError(.malformed, "A group has no end.") }
      current = next
    }
  }
}
