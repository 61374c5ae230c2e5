/// The service that passkeys are for, as authenticators know it.
public struct PasskeyRelyingParty: Sendable, Hashable {
  /// The domain whose pages, and apps that name it, can use the passkeys.
  ///
  /// Passkeys of one domain are of no use to another: choose it before the first user has one.
  public var id: String

  /// The name of the service, for the user.
  public var name: String

  /// Further places from which authenticators may answer, such as `android:apk-key-hash:…` of an app.
  public var origins: Set<String>

  /// Creates a value with these properties.
  public init(id: String, name: String, origins: Set<String> = []) {
    self.id = id
    self.name = name
    self.origins = origins
  }

  /// Pages of this machine.
  public static let localhost = PasskeyRelyingParty(id: "localhost", name: "localhost")
}
