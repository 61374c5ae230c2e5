public import VestaBytes
public import VestaFirestoreBackend

/// A database and its settings: `google.firestore.admin.v1.Database`.
public struct AdminDatabase: Sendable, Hashable {
  /// The kind of a database.
  public enum Kind: NumberedCases {
    /// No kind.
    case unspecified
    /// Firestore.
    case firestore
    /// Datastore.
    case datastore

    /// The names of the cases.
    public static let names: [StaticString] = ["DATABASE_TYPE_UNSPECIFIED", "FIRESTORE_NATIVE", "DATASTORE_MODE"]
  }

  /// How transactions that are open at once keep apart.
  public enum Concurrency: NumberedCases {
    /// No mode.
    case unspecified
    /// By a check at the commit.
    case optimistic
    /// By locks.
    case pessimistic
    /// By a check at the commit, for each entity group.
    case optimisticWithEntityGroups

    /// The names of the cases.
    public static let names: [StaticString] = [
      "CONCURRENCY_MODE_UNSPECIFIED", "OPTIMISTIC", "PESSIMISTIC", "OPTIMISTIC_WITH_ENTITY_GROUPS",
    ]
  }

  /// Whether versions of the last seven days can be read.
  public enum Recovery: NumberedCases {
    /// The default.
    case unspecified
    /// They can.
    case enabled
    /// Versions of the last hour can.
    case disabled

    /// The names of the cases.
    public static let names: [StaticString] = [
      "POINT_IN_TIME_RECOVERY_ENABLEMENT_UNSPECIFIED", "POINT_IN_TIME_RECOVERY_ENABLED",
      "POINT_IN_TIME_RECOVERY_DISABLED",
    ]
  }

  /// Whether settings of App Engine apply.
  public enum AppEngine: NumberedCases {
    /// The default.
    case unspecified
    /// They apply.
    case enabled
    /// They do not apply.
    case disabled

    /// The names of the cases.
    public static let names: [StaticString] = [
      "APP_ENGINE_INTEGRATION_MODE_UNSPECIFIED", "ENABLED", "DISABLED",
    ]
  }

  /// Whether a deletion of the database is refused.
  public enum DeleteProtection: NumberedCases {
    /// The default.
    case unspecified
    /// It is not.
    case disabled
    /// It is.
    case enabled

    /// The names of the cases.
    public static let names: [StaticString] = [
      "DELETE_PROTECTION_STATE_UNSPECIFIED", "DELETE_PROTECTION_DISABLED", "DELETE_PROTECTION_ENABLED",
    ]
  }

  /// The edition of a database.
  public enum Edition: NumberedCases {
    /// The default.
    case unspecified
    /// Firestore's usual queries and indexes.
    case standard
    /// Pipelines and optional indexes.
    case enterprise

    /// The names of the cases.
    public static let names: [StaticString] = ["DATABASE_EDITION_UNSPECIFIED", "STANDARD", "ENTERPRISE"]
  }

  /// The resource name.
  public var name = ""
  /// A unique id.
  public var uid = ""
  /// When it was created.
  public var createTime: Timestamp?
  /// When its settings changed last.
  public var updateTime: Timestamp?
  /// The location.
  public var locationID = ""
  /// The kind.
  public var kind = Kind.unspecified
  /// The mode of its transactions.
  public var concurrency = Concurrency.unspecified
  /// For how long old versions can be read.
  public var versionRetention: Duration?
  /// The oldest version that can be read.
  public var earliestVersion: Timestamp?
  /// Whether settings of App Engine apply.
  public var appEngine = AppEngine.unspecified
  /// The prefix of keys in App Engine.
  public var keyPrefix = ""
  /// Whether versions of the last seven days can be read.
  public var recovery = Recovery.unspecified
  /// Whether a deletion is refused.
  public var deleteProtection = DeleteProtection.unspecified
  /// The name of the customer's key; `nil` for none.
  public var encryptionKey: String?
  /// The edition.
  public var edition = Edition.unspecified
  /// A checksum of the settings.
  public var etag = ""

  /// A database without settings.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.Database`.
public enum DatabaseWire: ProtobufSchema {
  /// No fields.
  public static var empty: AdminDatabase { AdminDatabase() }

  /// Visits the fields.
  public static func visit(_ database: inout AdminDatabase, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "name", &database.name, ProtobufString.self)
    try visitor.field(3, "uid", &database.uid, ProtobufString.self)
    try visitor.optional(5, "createTime", &database.createTime, TimestampWire.self)
    try visitor.optional(6, "updateTime", &database.updateTime, TimestampWire.self)
    try visitor.field(9, "locationId", &database.locationID, ProtobufString.self)
    try visitor.field(10, "type", &database.kind, ProtobufEnum<AdminDatabase.Kind>.self)
    try visitor.field(15, "concurrencyMode", &database.concurrency, ProtobufEnum<AdminDatabase.Concurrency>.self)
    try visitor.optional(17, "versionRetentionPeriod", &database.versionRetention, DurationWire.self)
    try visitor.optional(18, "earliestVersionTime", &database.earliestVersion, TimestampWire.self)
    try visitor.field(19, "appEngineIntegrationMode", &database.appEngine, ProtobufEnum<AdminDatabase.AppEngine>.self)
    try visitor.field(20, "keyPrefix", &database.keyPrefix, ProtobufString.self)
    try visitor.field(
      21, "pointInTimeRecoveryEnablement", &database.recovery, ProtobufEnum<AdminDatabase.Recovery>.self)
    try visitor.field(
      22, "deleteProtectionState", &database.deleteProtection, ProtobufEnum<AdminDatabase.DeleteProtection>.self)
    try visitor.optional(23, "cmekConfig", &database.encryptionKey, ProtobufMessage<EncryptionKeyWire>.self)
    try visitor.field(28, "databaseEdition", &database.edition, ProtobufEnum<AdminDatabase.Edition>.self)
    try visitor.field(99, "etag", &database.etag, ProtobufString.self)
  }
}

/// The statement of `Database.CmekConfig`, without the versions of the key.
private enum EncryptionKeyWire: ProtobufSchema {
  static var empty: String { "" }

  static func visit(_ key: inout String, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "kmsKeyName", &key, ProtobufString.self)
  }
}
