import VestaBytes
import VestaStorageBackend

/// The statement of an upload's metadata; the download tokens are among the custom values.
enum UploadSchema: ProtobufSchema {
  static var empty: UploadBody { UploadBody() }

  static func visit(_ body: inout UploadBody, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "name", &body.name, ProtobufString.self)
    try visitor.optional(2, "contentType", &body.metadata.contentType, ProtobufString.self)
    try visitor.optional(3, "contentEncoding", &body.metadata.contentEncoding, ProtobufString.self)
    try visitor.optional(4, "contentDisposition", &body.metadata.contentDisposition, ProtobufString.self)
    try visitor.optional(5, "contentLanguage", &body.metadata.contentLanguage, ProtobufString.self)
    try visitor.optional(6, "cacheControl", &body.metadata.cacheControl, ProtobufString.self)
    try visitor.optional(7, "customTime", &body.metadata.customTime, JSONTime.self)
    try visitor.optional(8, "md5Hash", &body.digest.md5, DigestKind.self)
    try visitor.optional(9, "crc32c", &body.digest.crc32c, ChecksumKind.self)
    try visitor.field(10, "metadata", &body.metadata.custom, JSONTexts.self)
  }
}

/// The statement of a change of metadata.
enum ChangeSchema: ProtobufSchema {
  static var empty: MetadataChange { MetadataChange() }

  static func visit(_ change: inout MetadataChange, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "contentType", &change.contentType, ChangeKind<ProtobufString>.self)
    try visitor.field(2, "cacheControl", &change.cacheControl, ChangeKind<ProtobufString>.self)
    try visitor.field(3, "contentDisposition", &change.contentDisposition, ChangeKind<ProtobufString>.self)
    try visitor.field(4, "contentEncoding", &change.contentEncoding, ChangeKind<ProtobufString>.self)
    try visitor.field(5, "contentLanguage", &change.contentLanguage, ChangeKind<ProtobufString>.self)
    try visitor.field(6, "customTime", &change.customTime, ChangeKind<JSONTime>.self)
    try visitor.field(7, "metadata", &change.custom, ChangeKind<CustomChanges>.self)
  }
}

/// A change of a field: null removes it, and one that stays is left out.
private enum ChangeKind<Kind: ProtobufKind>: JSONKind where Kind.Value: Sendable & Hashable {
  static var acceptsNull: Bool { true }

  static func isDefault(_ value: FieldChange<Kind.Value>) -> Bool { value == .keep }

  static func write(_ value: FieldChange<Kind.Value>, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    if case .set(let new) = value { try Kind.write(new, to: &writer) } else { writer.write(raw: "null") }
  }

  static func read(
    _ json: JSONValue, _ reader: ProtobufJSONReader
  ) throws(BytesError) -> FieldChange<Kind.Value> {
    json.isNull ? .remove : .set(try Kind.read(json, reader))
  }
}

/// Changes of custom values: null removes one.
private enum CustomChanges: JSONKind {
  static func write(_ value: [String: String?], to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.open(UInt8(ascii: "{"))
    for (name, text) in value.sorted(by: { $0.key < $1.key }) {
      writer.name(key: name)
      if let text { writer.write(string: text) } else { writer.write(raw: "null") }
    }
    writer.close(UInt8(ascii: "}"))
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> [String: String?] {
    guard case .object(let object) = json else { throw reader.malformed("this is no object") }
    var values: [String: String?] = [:]
    for member in object.members { values.updateValue(try JSONTexts.text(of: member, reader), forKey: member.name) }
    return values
  }
}

/// An MD5 digest in base64.
private enum DigestKind: JSONKind {
  static func write(_ value: [UInt8], to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.write(string: Base64.standard.encode(value))
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> [UInt8] {
    guard let text = json.string, let digest = (try? Base64.standard.decode(text)).flatMap(ObjectWire.md5) else {
      throw reader.malformed("this is no digest")
    }
    return digest
  }
}

/// A CRC-32C checksum: base64 of four bytes, or a decimal number.
private enum ChecksumKind: JSONKind {
  static func write(_ value: UInt32, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.write(string: CRC32C.text(value))
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> UInt32 {
    guard let checksum = json.string.flatMap({ ObjectWire.checksum($0) }) else {
      throw reader.malformed("this is no checksum")
    }
    return checksum
  }
}
