/// The record of one published template.
public struct ConfigVersion: Sendable, Hashable {
  /// The number of the version, from 1; `nil` before the template is stored.
  public var versionNumber: Int64?

  /// The time of publication, in microseconds since 1970.
  public var updateTime: Int64?

  /// The origin of the update.
  public var updateOrigin: Origin?

  /// The kind of the update.
  public var updateType: UpdateType?

  /// The publisher.
  public var updateUser: User?

  /// The publisher's description.
  public var description: String?

  /// The version that a rollback went back to.
  public var rollbackSource: Int64?

  /// A version.
  public init(
    versionNumber: Int64? = nil, updateTime: Int64? = nil, updateOrigin: Origin? = nil, updateType: UpdateType? = nil,
    updateUser: User? = nil, description: String? = nil, rollbackSource: Int64? = nil
  ) {
    self.versionNumber = versionNumber
    self.updateTime = updateTime
    self.updateOrigin = updateOrigin
    self.updateType = updateType
    self.updateUser = updateUser
    self.description = description
    self.rollbackSource = rollbackSource
  }

  /// The origin of an update.
  public enum Origin: String, Sendable, Hashable, CaseIterable {
    /// The origin is not known.
    case unspecified = "REMOTE_CONFIG_UPDATE_ORIGIN_UNSPECIFIED"
    /// The Firebase console.
    case console = "CONSOLE"
    /// The REST API.
    case restAPI = "REST_API"
    /// The Admin SDK for Node.js.
    case adminNode = "ADMIN_SDK_NODE"
  }

  /// The kind of an update.
  public enum UpdateType: String, Sendable, Hashable, CaseIterable {
    /// The kind is not known.
    case unspecified = "REMOTE_CONFIG_UPDATE_TYPE_UNSPECIFIED"
    /// Published over the version that the publisher knew.
    case incremental = "INCREMENTAL_UPDATE"
    /// Published over whatever there was.
    case forced = "FORCED_UPDATE"
    /// An earlier version was published again.
    case rollback = "ROLLBACK"
  }

  /// The publisher of a template.
  public struct User: Sendable, Hashable {
    /// The e-mail address.
    public var email: String?
    /// The name.
    public var name: String?
    /// The address of a picture.
    public var imageURL: String?

    /// A publisher.
    public init(email: String? = nil, name: String? = nil, imageURL: String? = nil) {
      self.email = email
      self.name = name
      self.imageURL = imageURL
    }
  }
}
