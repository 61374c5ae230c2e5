public import VestaBytes
public import VestaFirestoreBackend

/// A request on a stream of listeners, with the database that each of them names.
public struct ListenStreamRequest: Sendable, Hashable {
  /// The resource name of the database.
  public var database: String

  /// The target to add or to remove; `nil` for a message without one.
  public var request: ListenRequest?

  /// The purpose of the target, for measurements: `limbo-document`, `existence-filter-mismatch`.
  public var tag: String?

  /// A request.
  public init(database: String, _ request: ListenRequest?, tag: String? = nil) {
    self.database = database
    self.request = request
    self.tag = tag
  }
}

/// The statement of `google.firestore.v1.ListenRequest`.
public enum ListenRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: ListenStreamRequest { ListenStreamRequest(database: "", nil) }

  /// Visits the fields.
  public static func visit(
    _ message: inout ListenStreamRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "database", &message.database, ProtobufString.self)
    try visitor.choice(2, "addTarget", &message.request, ProtobufConverted<TargetWire>.self) {
      if case .addTarget(let target)? = $0 { target } else { nil }
    } embed: {
      .addTarget($0)
    }
    try visitor.choice(3, "removeTarget", &message.request, ProtobufInt32.self) {
      if case .removeTarget(let id)? = $0 { id } else { nil }
    } embed: {
      .removeTarget(id: $0)
    }
    var labels = message.tag.map { [tagLabel: $0] } ?? [:]
    try visitor.map(4, "labels", &labels, ProtobufString.self)
    message.tag = labels[tagLabel]
    try visitor.requestOptions(5)
  }

  private static let tagLabel = "goog-listen-tags"
}

/// The conversion of `google.firestore.v1.Target`.
public enum TargetWire: ProtobufConversion {
  /// The fields.
  public struct Parts {
    /// The query or the documents.
    public var subject: Target.Subject?
    /// Where to continue.
    public var resume: Target.Resume?
    /// The number of the target.
    public var id: Int32 = 0
    /// Whether the target ends when it is current.
    public var once = false
    /// The number of documents that the client has.
    public var expectedCount: Int32?
  }

  /// The statement.
  public enum Schema: ProtobufSchema {
    /// No fields.
    public static var empty: Parts { Parts() }

    /// Visits the fields.
    public static func visit(_ target: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.choice(2, "query", &target.subject, ProtobufConverted<QueryTargetWire>.self) {
        if case .query(let parent, let query)? = $0 { (parent, query) } else { nil }
      } embed: {
        .query(parent: $0.parent, $0.query)
      }
      try visitor.choice(3, "documents", &target.subject, ProtobufMessage<DocumentsTargetWire>.self) {
        if case .documents(let names)? = $0 { names } else { nil }
      } embed: {
        .documents($0)
      }
      try visitor.choice(4, "resumeToken", &target.resume, ProtobufBytes.self) {
        if case .token(let token)? = $0 { token } else { nil }
      } embed: {
        $0.isEmpty ? nil : .token($0)
      }
      try visitor.field(5, "targetId", &target.id, ProtobufInt32.self)
      try visitor.field(6, "once", &target.once, ProtobufBool.self)
      try visitor.choice(11, "readTime", &target.resume, TimestampWire.self) {
        if case .readTime(let time)? = $0 { time } else { nil }
      } embed: {
        .readTime($0)
      }
      try visitor.optional(12, "expectedCount", &target.expectedCount, ProtobufWrapper<ProtobufInt32>.self)
    }
  }

  /// The fields of a target.
  public static func parts(of target: Target) -> Parts {
    Parts(
      subject: target.subject, resume: target.resume, id: target.id, once: target.once,
      expectedCount: target.expectedCount)
  }

  /// The target of fields.
  public static func value(of parts: Parts) throws(BytesError) -> Target {
    guard let subject = parts.subject else {
      throw BytesError(.malformed, "a target has neither a query nor documents")
    }
    return Target(
      id: parts.id, subject, resume: parts.resume, once: parts.once, expectedCount: parts.expectedCount)
  }
}

/// The conversion of `Target.QueryTarget`.
private enum QueryTargetWire: ProtobufConversion {
  enum Schema: ProtobufSchema {
    static var empty: (parent: String, query: StructuredQuery?) { ("", nil) }

    static func visit(
      _ target: inout (parent: String, query: StructuredQuery?), _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) {
      try visitor.field(1, "parent", &target.parent, ProtobufString.self)
      try visitor.optional(2, "structuredQuery", &target.query, ProtobufMessage<QueryWire>.self)
    }
  }

  static func parts(
    of value: (parent: String, query: StructuredQuery)
  ) -> (parent: String, query: StructuredQuery?) {
    (value.parent, value.query)
  }

  static func value(
    of parts: (parent: String, query: StructuredQuery?)
  ) throws(BytesError) -> (parent: String, query: StructuredQuery) {
    guard let query = parts.query else { throw BytesError(.malformed, "the target of a query has no query") }
    return (parts.parent, query)
  }
}

/// The statement of `Target.DocumentsTarget`.
private enum DocumentsTargetWire: ProtobufSchema {
  static var empty: [String] { [] }

  static func visit(_ names: inout [String], _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(2, "documents", &names, ProtobufString.self)
  }
}
