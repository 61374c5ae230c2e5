/// One change of one document.
public struct Write: Sendable, Hashable {
  /// The operation.
  public enum Operation: Sendable, Hashable {
    /// Makes or changes a document.
    ///
    /// Without a mask the fields replace all that were there. With one, the paths in the mask are set to what the
    /// document has there, or deleted where it has nothing; an empty mask leaves the fields and makes a document that
    /// is missing. The transforms then run in order, on the result. None of their fields may be in the mask.
    case update(Document, mask: DocumentMask?, transforms: [FieldTransform])
    /// Deletes a document; a missing one is no failure.
    case delete(name: String)
    /// Changes nothing: only the precondition counts. Needs no more than permission to read.
    case verify(name: String)
    /// Transforms fields of a document, making it where it is missing. The older form of an update with an empty mask.
    case transform(name: String, transforms: [FieldTransform])
  }

  /// The operation.
  public var operation: Operation

  /// The condition on the document before the write; `nil` for none.
  public var precondition: Precondition?

  /// A change of one document.
  public init(_ operation: Operation, precondition: Precondition? = nil) {
    self.operation = operation
    self.precondition = precondition
  }

  /// Sets a whole document, or the fields of a mask.
  public static func update(
    _ document: Document,
    mask: DocumentMask? = nil,
    transforms: [FieldTransform] = [],
    precondition: Precondition? = nil
  ) -> Write {
    Write(.update(document, mask: mask, transforms: transforms), precondition: precondition)
  }

  /// Deletes a document.
  public static func delete(_ name: String, precondition: Precondition? = nil) -> Write {
    Write(.delete(name: name), precondition: precondition)
  }

  /// Asks for a precondition and changes nothing.
  public static func verify(_ name: String, precondition: Precondition) -> Write {
    Write(.verify(name: name), precondition: precondition)
  }

  /// The name of the document that is meant.
  public var name: String {
    switch operation {
    case .update(let document, _, _): document.name
    case .delete(let name), .verify(let name), .transform(let name, _): name
    }
  }

  /// The transforms of the write, in order.
  public var transforms: [FieldTransform] {
    switch operation {
    case .update(_, _, let transforms), .transform(_, let transforms): transforms
    case .delete, .verify: []
    }
  }
}

/// A change of a field that depends on what is there.
public struct FieldTransform: Sendable, Hashable {
  /// The transformation of the field.
  public enum Operation: Sendable, Hashable {
    /// The time of the request, to the millisecond; the same for all in one commit.
    case serverTimestamp
    /// Adds a number; the field becomes the operand where it is no number. Whole numbers stay at the ends of their
    /// range.
    case increment(Value)
    /// The larger of field and operand; the operand where the field is no number.
    case maximum(Value)
    /// The smaller of field and operand; the operand where the field is no number.
    case minimum(Value)
    /// Appends the values that the array lacks; a field that is no array counts as an empty one.
    case appendMissingElements([Value])
    /// Removes every element that equals one of the values; a field that is no array becomes an empty one.
    case removeAllFromArray([Value])
  }

  /// The path of the field.
  public var fieldPath: String

  /// The transformation of the field.
  public var operation: Operation

  /// A change of one field.
  public init(fieldPath: String, _ operation: Operation) {
    self.fieldPath = fieldPath
    self.operation = operation
  }
}

/// The result of one write.
public struct WriteResult: Sendable, Hashable {
  /// The document's time of change after the write: the commit's, or the one before if nothing changed; `nil` after a
  /// deletion or a verification.
  public var updateTime: Timestamp?

  /// One value for each transform of the write, in order; null for transforms of arrays.
  public var transformResults: [Value]

  /// The result of a write.
  public init(updateTime: Timestamp? = nil, transformResults: [Value] = []) {
    self.updateTime = updateTime
    self.transformResults = transformResults
  }
}
