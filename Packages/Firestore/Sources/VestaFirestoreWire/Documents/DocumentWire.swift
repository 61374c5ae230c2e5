public import VestaBytes
public import VestaFirestoreBackend

/// The statement of `google.firestore.v1.Document`.
public enum DocumentWire: ProtobufSchema {
  /// A document without a name.
  public static var empty: Document { Document(name: "") }

  /// Visits the fields.
  public static func visit(_ document: inout Document, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "name", &document.name, ProtobufString.self)
    try visitor.map(2, "fields", &document.fields, ValueWire.self)
    try visitor.optional(3, "createTime", &document.createTime, TimestampWire.self)
    try visitor.optional(4, "updateTime", &document.updateTime, TimestampWire.self)
  }

  /// Writes the fields without a copy of the document: most of what is sent are documents.
  public static func write(_ document: Document, to writer: inout ProtobufWriter) throws(BytesError) {
    if !document.name.isEmpty {
      writer.write(tag: 1, .delimited)
      writer.write(string: document.name)
    }
    try document.fields.forEachEntry { name, value throws(BytesError) in
      try ValueWire.write(2, entry: name, value, to: &writer)
    }
    if let time = document.createTime { write(3, time, to: &writer) }
    if let time = document.updateTime { write(4, time, to: &writer) }
  }

  private static func write(_ number: UInt32, _ time: Timestamp, to writer: inout ProtobufWriter) {
    writer.write(number, messageOfNumbers: time.seconds, Int64(time.nanos))
  }
}

/// The statement of `google.firestore.v1.DocumentMask`.
public enum DocumentMaskWire: ProtobufSchema {
  /// A mask of no fields.
  public static var empty: DocumentMask { DocumentMask(fieldPaths: []) }

  /// Visits the fields.
  public static func visit(_ mask: inout DocumentMask, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(1, "fieldPaths", &mask.fieldPaths, ProtobufString.self)
  }
}

/// The statement of `google.firestore.v1.Precondition`; one without a condition is none.
public enum PreconditionWire: ProtobufSchema {
  /// No condition.
  public static var empty: Precondition? { nil }

  /// Visits the fields.
  public static func visit(
    _ precondition: inout Precondition?, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.choice(1, "exists", &precondition, ProtobufBool.self) {
      if case .exists(let exists)? = $0 { exists } else { nil }
    } embed: {
      .exists($0)
    }
    try visitor.choice(2, "updateTime", &precondition, TimestampWire.self) {
      if case .updateTime(let time)? = $0 { time } else { nil }
    } embed: {
      .updateTime($0)
    }
  }
}

extension ProtobufVisitor {
  /// Visits a field with a precondition.
  mutating func precondition(
    _ number: UInt32, _ name: StaticString, _ precondition: inout Precondition?
  ) throws(BytesError) {
    var message: Precondition?? = precondition.map { $0 }
    try optional(number, name, &message, ProtobufMessage<PreconditionWire>.self)
    precondition = message ?? nil
  }
}
