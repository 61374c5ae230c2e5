/// The caller who has made a change, as CloudEvents' extension for authentication says it.
///
/// | who | ``authType`` | ``id`` |
/// |---|---|---|
/// | a call without a user | `unauthenticated` | none |
/// | a user | `app_user` | the user's id |
/// | an owner of the project | `service_account` | the owner's name |
/// | the service itself, such as a schedule | `system` | none |
public struct EventActor: Sendable, Hashable {
  /// The kinds of callers.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// No known actor.
    case unauthenticated
    /// A user of the app.
    case user = "app_user"
    /// An owner of the project.
    case owner = "service_account"
    /// The service itself.
    case system
  }

  /// The kind of the caller.
  public var kind: Kind

  /// The id of the user, or the name of the owner.
  public var id: String?

  /// A caller.
  public init(_ kind: Kind, id: String? = nil) {
    self.kind = kind
    self.id = id
  }

  /// A call without a user.
  public static let unauthenticated = EventActor(.unauthenticated)

  /// The service itself.
  public static let system = EventActor(.system)

  /// A user.
  public static func user(_ uid: String) -> EventActor { EventActor(.user, id: uid) }

  /// An owner.
  public static func owner(_ name: String) -> EventActor { EventActor(.owner, id: name) }

  /// The attribute `authtype`.
  public var authType: String { kind.rawValue }
}
