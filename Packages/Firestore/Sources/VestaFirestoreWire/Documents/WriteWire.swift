public import VestaBytes
public import VestaFirestoreBackend

/// The conversion of `google.firestore.v1.Write`, with the operation `verify`, which the published definition lacks.
public enum WriteWire: ProtobufConversion {
  /// The operation without what belongs to it.
  public enum Operation {
    /// A document.
    case update(Document)
    /// The name of a document to delete.
    case delete(String)
    /// The name of a document to verify.
    case verify(String)
    /// Transforms without a document.
    case transform(name: String, transforms: [FieldTransform])
  }

  /// The fields.
  public struct Parts {
    /// The operation; `nil` when the message has none.
    public var operation: Operation?
    /// The fields that are written.
    public var mask: DocumentMask?
    /// The condition on the document as it is before.
    public var precondition: Precondition?
    /// The transforms after an update.
    public var transforms: [FieldTransform] = []
  }

  /// The statement.
  public enum Schema: ProtobufSchema {
    /// No fields.
    public static var empty: Parts { Parts() }

    /// Visits the fields.
    public static func visit(_ write: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.choice(1, "update", &write.operation, ProtobufMessage<DocumentWire>.self) {
        if case .update(let document)? = $0 { document } else { nil }
      } embed: {
        .update($0)
      }
      try visitor.choice(2, "delete", &write.operation, ProtobufString.self) {
        if case .delete(let name)? = $0 { name } else { nil }
      } embed: {
        .delete($0)
      }
      try visitor.optional(3, "updateMask", &write.mask, ProtobufMessage<DocumentMaskWire>.self)
      try visitor.precondition(4, "currentDocument", &write.precondition)
      try visitor.choice(5, "verify", &write.operation, ProtobufString.self) {
        if case .verify(let name)? = $0 { name } else { nil }
      } embed: {
        .verify($0)
      }
      try visitor.choice(6, "transform", &write.operation, ProtobufMessage<DocumentTransformWire>.self) {
        if case .transform(let name, let transforms)? = $0 { (name, transforms) } else { nil }
      } embed: {
        .transform(name: $0.name, transforms: $0.transforms)
      }
      try visitor.repeated(7, "updateTransforms", &write.transforms, ProtobufConverted<FieldTransformWire>.self)
    }
  }

  /// The fields of a write.
  public static func parts(of write: Write) -> Parts {
    var parts = Parts(precondition: write.precondition)
    switch write.operation {
    case .update(let document, let mask, let transforms):
      parts.operation = .update(document)
      parts.mask = mask
      parts.transforms = transforms
    case .delete(let name): parts.operation = .delete(name)
    case .verify(let name): parts.operation = .verify(name)
    case .transform(let name, let transforms): parts.operation = .transform(name: name, transforms: transforms)
    }
    return parts
  }

  /// The write of fields.
  public static func value(of parts: Parts) throws(BytesError) -> Write {
    if case .update(let document)? = parts.operation {
      return .update(
        document, mask: parts.mask, transforms: parts.transforms, precondition: parts.precondition)
    }
    guard parts.mask == nil, parts.transforms.isEmpty else {
      throw BytesError(.malformed, "a write has a mask or transforms, and is no update")
    }
    switch parts.operation {
    case .delete(let name): return .delete(name, precondition: parts.precondition)
    case .verify(let name): return Write(.verify(name: name), precondition: parts.precondition)
    case .transform(let name, let transforms):
      return Write(.transform(name: name, transforms: transforms), precondition: parts.precondition)
    case .update, nil: throw BytesError(.malformed, "a write has no operation")
    }
  }
}

/// The statement of `google.firestore.v1.DocumentTransform`.
enum DocumentTransformWire: ProtobufSchema {
  static var empty: (name: String, transforms: [FieldTransform]) { ("", []) }

  static func visit(
    _ transform: inout (name: String, transforms: [FieldTransform]), _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "document", &transform.name, ProtobufString.self)
    try visitor.repeated(2, "fieldTransforms", &transform.transforms, ProtobufConverted<FieldTransformWire>.self)
  }
}

/// The conversion of `FieldTransform`.
enum FieldTransformWire: ProtobufConversion {
  enum Schema: ProtobufSchema {
    static var empty: (path: String, operation: FieldTransform.Operation?) { ("", nil) }

    static func visit(
      _ transform: inout (path: String, operation: FieldTransform.Operation?),
      _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) {
      try visitor.field(1, "fieldPath", &transform.path, ProtobufString.self)
      try visitor.choice(2, "setToServerValue", &transform.operation, ProtobufEnum<ServerValue>.self) {
        if case .serverTimestamp? = $0 { true } else { nil }
      } embed: {
        $0 ? .serverTimestamp : nil
      }
      try visitor.choice(3, "increment", &transform.operation, ValueWire.self) {
        if case .increment(let value)? = $0 { value } else { nil }
      } embed: {
        .increment($0)
      }
      try visitor.choice(4, "maximum", &transform.operation, ValueWire.self) {
        if case .maximum(let value)? = $0 { value } else { nil }
      } embed: {
        .maximum($0)
      }
      try visitor.choice(5, "minimum", &transform.operation, ValueWire.self) {
        if case .minimum(let value)? = $0 { value } else { nil }
      } embed: {
        .minimum($0)
      }
      try visitor.choice(6, "appendMissingElements", &transform.operation, ProtobufMessage<ArrayWire>.self) {
        if case .appendMissingElements(let values)? = $0 { values } else { nil }
      } embed: {
        .appendMissingElements($0)
      }
      try visitor.choice(7, "removeAllFromArray", &transform.operation, ProtobufMessage<ArrayWire>.self) {
        if case .removeAllFromArray(let values)? = $0 { values } else { nil }
      } embed: {
        .removeAllFromArray($0)
      }
    }
  }

  /// Whether the server value is the time of the request, which is the only one.
  private enum ServerValue: ProtobufEnumSchema {
    static var cases: [(number: Int32, name: StaticString, value: Bool)] {
      [(0, "SERVER_VALUE_UNSPECIFIED", false), (1, "REQUEST_TIME", true)]
    }
  }

  static func parts(of transform: FieldTransform) -> (path: String, operation: FieldTransform.Operation?) {
    (transform.fieldPath, transform.operation)
  }

  static func value(
    of parts: (path: String, operation: FieldTransform.Operation?)
  ) throws(BytesError) -> FieldTransform {
    guard let operation = parts.operation else { throw BytesError(.malformed, "a transform has no operation") }
    return FieldTransform(fieldPath: parts.path, operation)
  }
}

/// The statement of `google.firestore.v1.WriteResult`.
public enum WriteResultWire: ProtobufSchema {
  /// A result without fields.
  public static var empty: WriteResult { WriteResult() }

  /// Visits the fields.
  public static func visit(_ result: inout WriteResult, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "updateTime", &result.updateTime, TimestampWire.self)
    try visitor.repeated(2, "transformResults", &result.transformResults, ValueWire.self)
  }
}
