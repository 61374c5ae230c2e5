public import VestaBytes
public import VestaFirestoreBackend
import VestaServiceInterop

/// The statement of `google.firestore.v1.ListenResponse`; `nil` is one of a type that is not known.
public enum ListenResponseWire: ProtobufSchema {
  /// No fields.
  public static var empty: ListenResponse? { nil }

  /// Visits the fields.
  public static func visit(
    _ response: inout ListenResponse?, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.member(2, "targetChange", &response, ProtobufMessage<TargetChangeWire>.self) {
      if case .targetChange(let change)? = $0 { change } else { nil }
    } embed: {
      .targetChange($0)
    }
    try visitor.member(3, "documentChange", &response, ProtobufMessage<DocumentChangeWire>.self) {
      if case .documentChange(let change)? = $0 { change } else { nil }
    } embed: {
      .documentChange($0)
    }
    try visitor.member(4, "documentDelete", &response, ProtobufMessage<DocumentDeleteWire>.self) {
      if case .documentDelete(let change)? = $0 { change } else { nil }
    } embed: {
      .documentDelete($0)
    }
    try visitor.member(5, "filter", &response, ProtobufMessage<ExistenceFilterWire>.self) {
      if case .filter(let filter)? = $0 { filter } else { nil }
    } embed: {
      .filter($0)
    }
    try visitor.member(6, "documentRemove", &response, ProtobufMessage<DocumentRemoveWire>.self) {
      if case .documentRemove(let change)? = $0 { change } else { nil }
    } embed: {
      .documentRemove($0)
    }
  }
}

private enum TargetChangeWire: ProtobufSchema {
  static var empty: TargetChange { TargetChange(.noChange) }

  static func visit(_ change: inout TargetChange, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "targetChangeType", &change.kind, ProtobufEnum<Kinds>.self)
    try visitor.repeated(2, "targetIds", &change.targetIDs, ProtobufInt32.self)
    var cause = change.cause.map(StatusWire.status)
    try visitor.optional(3, "cause", &cause, ProtobufMessage<ProtobufStatusSchema>.self)
    if visitor.isReading { change.cause = cause.flatMap(StatusWire.error) }
    try visitor.field(4, "resumeToken", &change.resumeToken, ProtobufBytes.self)
    try visitor.optional(6, "readTime", &change.readTime, TimestampWire.self)
  }

  enum Kinds: ProtobufEnumSchema {
    static let cases: [(number: Int32, name: StaticString, value: TargetChange.Kind)] = [
      (0, "NO_CHANGE", .noChange), (1, "ADD", .add), (2, "REMOVE", .remove), (3, "CURRENT", .current),
      (4, "RESET", .reset),
    ]
  }
}

private enum DocumentChangeWire: ProtobufSchema {
  static var empty: DocumentChange { DocumentChange(document: Document(name: ""), targetIDs: []) }

  static func visit(_ change: inout DocumentChange, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "document", &change.document, ProtobufMessage<DocumentWire>.self)
    try visitor.repeated(5, "targetIds", &change.targetIDs, ProtobufInt32.self)
    try visitor.repeated(6, "removedTargetIds", &change.removedTargetIDs, ProtobufInt32.self)
  }
}

private enum DocumentDeleteWire: ProtobufSchema {
  static var empty: DocumentDelete { DocumentDelete(document: "", removedTargetIDs: [], readTime: nil) }

  static func visit(_ change: inout DocumentDelete, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "document", &change.document, ProtobufString.self)
    try visitor.optional(4, "readTime", &change.readTime, TimestampWire.self)
    try visitor.repeated(6, "removedTargetIds", &change.removedTargetIDs, ProtobufInt32.self)
  }
}

private enum DocumentRemoveWire: ProtobufSchema {
  static var empty: DocumentRemove { DocumentRemove(document: "", removedTargetIDs: [], readTime: nil) }

  static func visit(_ change: inout DocumentRemove, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "document", &change.document, ProtobufString.self)
    try visitor.repeated(2, "removedTargetIds", &change.removedTargetIDs, ProtobufInt32.self)
    try visitor.optional(4, "readTime", &change.readTime, TimestampWire.self)
  }
}

private enum ExistenceFilterWire: ProtobufSchema {
  static var empty: ExistenceFilter { ExistenceFilter(targetID: 0, count: 0) }

  static func visit(_ filter: inout ExistenceFilter, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "targetId", &filter.targetID, ProtobufInt32.self)
    try visitor.field(2, "count", &filter.count, ProtobufInt32.self)
    try visitor.optional(3, "unchangedNames", &filter.unchangedNames, ProtobufMessage<BloomFilterWire>.self)
  }
}

private enum BloomFilterWire: ProtobufSchema {
  static var empty: BloomFilterMessage { BloomFilterMessage(bitmap: [], padding: 0, hashCount: 0) }

  static func visit(_ filter: inout BloomFilterMessage, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    var bits = Optional((bitmap: filter.bitmap, padding: filter.padding))
    try visitor.optional(1, "bits", &bits, ProtobufMessage<BitSequenceWire>.self)
    filter.bitmap = bits?.bitmap ?? []
    filter.padding = bits?.padding ?? 0
    try visitor.field(2, "hashCount", &filter.hashCount, ProtobufInt32.self)
  }
}

private enum BitSequenceWire: ProtobufSchema {
  static var empty: (bitmap: [UInt8], padding: Int32) { ([], 0) }

  static func visit(
    _ bits: inout (bitmap: [UInt8], padding: Int32), _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "bitmap", &bits.bitmap, ProtobufBytes.self)
    try visitor.field(2, "padding", &bits.padding, ProtobufInt32.self)
  }
}
