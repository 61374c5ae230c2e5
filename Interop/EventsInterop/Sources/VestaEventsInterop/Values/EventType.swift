/// The type of an event, by the name that CloudEvents of Firebase have.
public struct EventType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The name, such as `google.cloud.firestore.document.v1.created`.
  public let rawValue: String

  /// A type by its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The name.
  public var description: String { rawValue }

  // MARK: Documents

  /// A document was created.
  public static let documentCreated = EventType(rawValue: "google.cloud.firestore.document.v1.created")
  /// A document was changed.
  public static let documentUpdated = EventType(rawValue: "google.cloud.firestore.document.v1.updated")
  /// A document was deleted.
  public static let documentDeleted = EventType(rawValue: "google.cloud.firestore.document.v1.deleted")

  // MARK: Users

  /// An account was created.
  public static let userCreated = EventType(rawValue: "google.firebase.auth.user.v1.created")
  /// An account was deleted.
  public static let userDeleted = EventType(rawValue: "google.firebase.auth.user.v1.deleted")

  // MARK: Objects

  /// An object was written, new or in place of an older generation.
  public static let objectFinalized = EventType(rawValue: "google.cloud.storage.object.v1.finalized")
  /// An object was deleted.
  public static let objectDeleted = EventType(rawValue: "google.cloud.storage.object.v1.deleted")
  /// The metadata of an object was changed.
  public static let objectMetadataUpdated = EventType(rawValue: "google.cloud.storage.object.v1.metadataUpdated")

  // MARK: The tree

  /// A value appeared in the tree.
  public static let valueCreated = EventType(rawValue: "google.firebase.database.ref.v1.created")
  /// A value of the tree was changed.
  public static let valueUpdated = EventType(rawValue: "google.firebase.database.ref.v1.updated")
  /// A value of the tree was deleted.
  public static let valueDeleted = EventType(rawValue: "google.firebase.database.ref.v1.deleted")

  // MARK: Others

  /// The template of Remote Config was published.
  public static let configUpdated = EventType(rawValue: "google.firebase.remoteconfig.remoteConfig.v1.updated")
  /// A schedule is due.
  public static let scheduleDue = EventType(rawValue: "google.cloud.scheduler.job.v1.executed")
}
