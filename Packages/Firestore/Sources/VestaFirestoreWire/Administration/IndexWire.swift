public import VestaBytes

/// An index of several fields or for vectors, or one index of a field: `google.firestore.admin.v1.Index`.
public struct AdminIndex: Sendable, Hashable {
  /// The collections that an index is over.
  public enum Scope: NumberedCases {
    /// No scope.
    case unspecified
    /// Each collection by itself.
    case collection
    /// All collections with one id.
    case collectionGroup
    /// All collections below a document.
    case collectionRecursive

    /// The names of the cases.
    public static let names: [StaticString] = [
      "QUERY_SCOPE_UNSPECIFIED", "COLLECTION", "COLLECTION_GROUP", "COLLECTION_RECURSIVE",
    ]
  }

  /// The interface whose queries an index serves.
  public enum APIScope: NumberedCases {
    /// Firestore's.
    case any
    /// That of Datastore.
    case datastore
    /// That of MongoDB.
    case mongoDB

    /// The names of the cases.
    public static let names: [StaticString] = ["ANY_API", "DATASTORE_MODE_API", "MONGODB_COMPATIBLE_API"]
  }

  /// Whether an index can be used.
  public enum State: NumberedCases {
    /// No state.
    case unspecified
    /// The index is being built.
    case creating
    /// The index is used by queries.
    case ready
    /// The build has failed.
    case needsRepair

    /// The names of the cases.
    public static let names: [StaticString] = ["STATE_UNSPECIFIED", "CREATING", "READY", "NEEDS_REPAIR"]
  }

  /// The documents that have an entry in an index.
  public enum Density: NumberedCases {
    /// The default.
    case unspecified
    /// Documents with all fields.
    case sparseAll
    /// Documents with any of the fields.
    case sparseAny
    /// All documents.
    case dense

    /// The names of the cases.
    public static let names: [StaticString] = ["DENSITY_UNSPECIFIED", "SPARSE_ALL", "SPARSE_ANY", "DENSE"]
  }

  /// How the values of a field are in an index.
  public enum Mode: Sendable, Hashable {
    /// By value, smaller ones first.
    case ascending
    /// By value, larger ones first.
    case descending
    /// By the elements of an array.
    case contains
    /// For searches of the nearest vectors.
    case vector(dimension: Int32)
  }

  /// A field of an index.
  public struct Field: Sendable, Hashable {
    /// The path; `__name__` for the name of the document.
    public var fieldPath: String
    /// The mode; `nil` for one that is not stated here.
    public var mode: Mode?

    /// A field.
    public init(_ fieldPath: String, _ mode: Mode?) { (self.fieldPath, self.mode) = (fieldPath, mode) }
  }

  /// The resource name; empty for an index of one field.
  public var name = ""
  /// The collections.
  public var scope = Scope.unspecified
  /// The interface.
  public var apiScope = APIScope.any
  /// The fields, in order.
  public var fields: [Field] = []
  /// Whether it can be used.
  public var state = State.unspecified
  /// The documents that have an entry.
  public var density = Density.unspecified
  /// Whether fields may be arrays, as MongoDB has it.
  public var isMultikey = false
  /// The number of shards, as MongoDB has it.
  public var shardCount: Int32 = 0
  /// Whether no two documents may have the same values.
  public var isUnique = false

  /// An index without fields.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.Index`.
public enum IndexWire: ProtobufSchema {
  /// No fields.
  public static var empty: AdminIndex { AdminIndex() }

  /// Visits the fields.
  public static func visit(_ index: inout AdminIndex, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "name", &index.name, ProtobufString.self)
    try visitor.field(2, "queryScope", &index.scope, ProtobufEnum<AdminIndex.Scope>.self)
    try visitor.repeated(3, "fields", &index.fields, ProtobufMessage<IndexFieldWire>.self)
    try visitor.field(4, "state", &index.state, ProtobufEnum<AdminIndex.State>.self)
    try visitor.field(5, "apiScope", &index.apiScope, ProtobufEnum<AdminIndex.APIScope>.self)
    try visitor.field(6, "density", &index.density, ProtobufEnum<AdminIndex.Density>.self)
    try visitor.field(7, "multikey", &index.isMultikey, ProtobufBool.self)
    try visitor.field(8, "shardCount", &index.shardCount, ProtobufInt32.self)
    try visitor.field(10, "unique", &index.isUnique, ProtobufBool.self)
  }
}

/// The statement of `Index.IndexField`.
private enum IndexFieldWire: ProtobufSchema {
  static var empty: AdminIndex.Field { AdminIndex.Field("", nil) }

  static func visit(_ field: inout AdminIndex.Field, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "fieldPath", &field.fieldPath, ProtobufString.self)
    try visitor.member(2, "order", &field.mode, ProtobufEnum<Orders>.self) {
      $0 == .ascending || $0 == .descending ? $0 : nil
    } embed: {
      $0
    }
    try visitor.member(3, "arrayConfig", &field.mode, ProtobufEnum<ArrayConfigs>.self) {
      $0 == .contains ? $0 : nil
    } embed: {
      $0
    }
    try visitor.member(4, "vectorConfig", &field.mode, ProtobufMessage<VectorConfigWire>.self) {
      if case .vector(let dimension)? = $0 { (dimension, EmptyWire.Message()) } else { nil }
    } embed: {
      .vector(dimension: $0.dimension)
    }
  }

  enum Orders: ProtobufEnumSchema {
    static var cases: [(number: Int32, name: StaticString, value: AdminIndex.Mode)] {
      [(1, "ASCENDING", .ascending), (2, "DESCENDING", .descending)]
    }
  }

  enum ArrayConfigs: ProtobufEnumSchema {
    static var cases: [(number: Int32, name: StaticString, value: AdminIndex.Mode)] { [(1, "CONTAINS", .contains)] }
  }
}

/// The statement of `Index.IndexField.VectorConfig`.
private enum VectorConfigWire: ProtobufSchema {
  static var empty: (dimension: Int32, flat: EmptyWire.Message?) { (0, nil) }

  static func visit(
    _ config: inout (dimension: Int32, flat: EmptyWire.Message?), _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "dimension", &config.dimension, ProtobufInt32.self)
    try visitor.optional(2, "flat", &config.flat, ProtobufMessage<EmptyWire>.self)
  }
}
