public import VestaBytes

/// A credential with what the owner of a project may add to it.
public struct DatabaseCredential: Sendable, Hashable {
  /// The variables of the rules that replace the credential's.
  public enum Override: Sendable, Hashable {
    /// The rules decide as for a caller who is not signed in.
    case nobody
    /// The rules decide with these variables as `auth`: the member `uid`, and the claims in `token`.
    ///
    /// Other members are not kept.
    case claims(JSONObject)
  }

  /// The token: `owner`, an access token, or an ID token.
  public var token: String
  /// Whether it is the credential of an owner, whom no rules bind.
  public var isOwner: Bool
  /// The variables of the rules; `nil` for the credential's.
  ///
  /// Only an owner may set them.
  public var override: Override?

  /// A credential.
  public init(token: String, isOwner: Bool = false, override: Override? = nil) {
    self.token = token
    self.isOwner = isOwner
    self.override = override
  }
}
