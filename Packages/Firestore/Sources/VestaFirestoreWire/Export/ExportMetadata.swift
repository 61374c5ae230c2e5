public import VestaBytes

/// The file that an import begins with: which kinds an export has, and where.
public struct ExportOverview: Sendable, Hashable {
  /// A kind, or all of them together.
  public struct Part: Sendable, Hashable {
    /// The path of the part's metadata, relative to the overview, with `/`.
    public var path: String
    /// The number of documents.
    public var documents: Int
    /// The number of bytes of its files.
    public var bytes: Int

    /// A part.
    public init(path: String, documents: Int, bytes: Int) {
      self.path = path
      self.documents = documents
      self.bytes = bytes
    }
  }

  /// The parts; none of an empty database.
  public var parts: [Part]

  /// An overview.
  public init(parts: [Part]) { self.parts = parts }

  /// The content of the file, for parts with all kinds.
  public var bytes: [UInt8] {
    var message = ProtobufWriter()
    for part in parts {
      message.write(tag: 1, .delimited)
      let start = message.begin()
      message.write(tag: 1, .delimited)
      message.write(blob: [0x08, 2, 0x18, 3])
      message.write(tag: 2, .delimited)
      message.write(string: part.path)
      message.write(tag: 3, .varint)
      message.write(varint: UInt64(part.documents))
      message.write(tag: 4, .varint)
      message.write(varint: UInt64(part.bytes))
      message.close(start)
    }
    var log = ExportLogWriter()
    return log.frame([UInt8(ascii: "3")]) + log.frame(message.bytes)
  }

  /// Reads the content of the file.
  ///
  /// - Throws: `BytesError` with `.malformed`.
  public init(_ bytes: [UInt8]) throws(BytesError) {
    var log = ExportLogReader()
    log.feed(bytes)
    guard try log.next() == [UInt8(ascii: "3")] else {
      throw BytesError(.malformed, "The metadata of the export is of another version than 3.")
    }
    parts = []
    guard let message = try log.next() else { throw BytesError(.malformed, "The metadata of the export has no parts.") }
    var reader = GroupReader(message[...])
    while let field = try reader.field() {
      guard field.number == 1, field.type == 2 else {
        try reader.skip(field)
        continue
      }
      var inner = try reader.nested()
      var part = Part(path: "", documents: 0, bytes: 0)
      while let field = try inner.field() {
        switch (field.number, field.type) {
        // Some were written on Windows.
        case (2, 2): part.path = String(try inner.string().map { $0 == "\\" ? "/" : $0 })
        case (3, 0): part.documents = Int(clamping: try inner.varint())
        case (4, 0): part.bytes = Int(clamping: try inner.varint())
        default: try inner.skip(field)
        }
      }
      parts.append(part)
    }
  }
}

/// The metadata of one part: the names of its files.
public struct ExportPartMetadata: Sendable, Hashable {
  /// The names, in their order.
  public var files: [String]
  /// When the export began, in microseconds since 1970.
  public var start: Int64
  /// When it ended.
  public var end: Int64

  /// Metadata.
  public init(files: [String], start: Int64, end: Int64) {
    self.files = files
    self.start = start
    self.end = end
  }

  /// The content of the file.
  ///
  /// - Parameter name: The name of the export.
  public func bytes(name: String) -> [UInt8] {
    var writer = ProtobufWriter()
    writer.write(tag: 1, .delimited)
    let first = writer.begin()
    writer.write(tag: 1, .delimited)
    writer.write(string: name)
    writer.write(tag: 2, .varint)
    writer.write(varint: UInt64(bitPattern: start))
    writer.write(tag: 3, .varint)
    writer.write(varint: UInt64(bitPattern: end))
    writer.close(first)
    writer.write(tag: 2, .delimited)
    let second = writer.begin()
    writer.write(tag: 1, .delimited)
    writer.write(string: "")
    for file in files {
      writer.write(tag: 2, .delimited)
      writer.write(string: file)
    }
    writer.close(second)
    return writer.finish()
  }

  /// Reads the content of the file.
  ///
  /// - Throws: `BytesError` with `.malformed`.
  public init(_ bytes: [UInt8]) throws(BytesError) {
    (files, start, end) = ([], 0, 0)
    var reader = GroupReader(bytes[...])
    while let field = try reader.field() {
      guard field.type == 2, field.number == 1 || field.number == 2 else {
        try reader.skip(field)
        continue
      }
      var inner = try reader.nested()
      while let member = try inner.field() {
        switch (field.number, member.number, member.type) {
        case (1, 2, 0): start = Int64(bitPattern: try inner.varint())
        case (1, 3, 0): end = Int64(bitPattern: try inner.varint())
        case (2, 2, 2): files.append(try inner.string())
        default: try inner.skip(member)
        }
      }
    }
  }
}
