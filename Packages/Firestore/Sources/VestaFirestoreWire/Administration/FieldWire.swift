public import VestaBytes

/// A field of the documents of a collection group, with its indexes: `google.firestore.admin.v1.Field`.
public struct AdminField: Sendable, Hashable {
  /// The indexes of a field.
  public struct IndexConfig: Sendable, Hashable {
    /// The indexes; none for an exempt field.
    public var indexes: [AdminIndex] = []
    /// Whether the field has the indexes of its ancestor.
    public var usesAncestorConfig = false
    /// The field whose indexes this one has where it has no others.
    public var ancestorField = ""
    /// Whether the field is returning to the indexes of its ancestor.
    public var isReverting = false

    /// No indexes.
    public init() {}
  }

  /// Whether documents are deleted at the time in a field.
  public enum TimeToLive: NumberedCases {
    /// No state.
    case unspecified
    /// Existing documents are on the way.
    case creating
    /// All documents are deleted at their time.
    case active
    /// It could not be set up.
    case needsRepair

    /// The names of the cases.
    public static let names: [StaticString] = ["STATE_UNSPECIFIED", "CREATING", "ACTIVE", "NEEDS_REPAIR"]
  }

  /// The resource name.
  public var name = ""
  /// The indexes; `nil` for the indexes of the ancestor.
  public var indexConfig: IndexConfig?
  /// The deletion of documents at a time; `nil` for none.
  public var timeToLive: TimeToLive?

  /// A field without a name.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.Field`.
public enum FieldWire: ProtobufSchema {
  /// No fields.
  public static var empty: AdminField { AdminField() }

  /// Visits the fields.
  public static func visit(_ field: inout AdminField, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "name", &field.name, ProtobufString.self)
    try visitor.optional(2, "indexConfig", &field.indexConfig, ProtobufMessage<IndexConfigWire>.self)
    try visitor.optional(3, "ttlConfig", &field.timeToLive, ProtobufMessage<TimeToLiveWire>.self)
  }
}

/// The statement of `Field.IndexConfig`.
private enum IndexConfigWire: ProtobufSchema {
  static var empty: AdminField.IndexConfig { AdminField.IndexConfig() }

  static func visit(
    _ config: inout AdminField.IndexConfig, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.repeated(1, "indexes", &config.indexes, ProtobufMessage<IndexWire>.self)
    try visitor.field(2, "usesAncestorConfig", &config.usesAncestorConfig, ProtobufBool.self)
    try visitor.field(3, "ancestorField", &config.ancestorField, ProtobufString.self)
    try visitor.field(4, "reverting", &config.isReverting, ProtobufBool.self)
  }
}

/// The statement of `Field.TtlConfig`.
private enum TimeToLiveWire: ProtobufSchema {
  static var empty: AdminField.TimeToLive { .unspecified }

  static func visit(
    _ state: inout AdminField.TimeToLive, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "state", &state, ProtobufEnum<AdminField.TimeToLive>.self)
  }
}
