/// The installation of an app, as its remote backends show it to other services: Remote Config and Messaging know an
/// app by it.
///
/// The library of the remote service of installations provides it. A token may end earlier than its lifetime says, as
/// when a server for development has forgotten everything: a service that refuses it is reported by
/// ``tokenWasRefused(_:)``, and the next credential has another one.
///
/// Promises of every implementation (`InstallationSourceContracts` checks them):
/// - The credential stays the same until its token is refused or near its end; its token is that of its id.
/// - Concurrent callers get one credential.
/// - The refusal of a token that is not the current one changes nothing.
public protocol InstallationSource: Sendable {
  /// The id of the installation and a valid token; both are fetched where they are not there yet.
  ///
  /// - Throws: `InstallationsServiceError`, also while the service has asked for a pause.
  func credential() async throws(InstallationsServiceError) -> InstallationCredential

  /// Notes that a service has refused a token as `UNAUTHENTICATED`.
  func tokenWasRefused(_ token: String)
}

/// The id of an installation, and a token that proves it.
public struct InstallationCredential: Sendable, Hashable {
  /// The id.
  public var id: String

  /// The token.
  public var token: String

  /// A credential.
  public init(id: String, token: String) {
    self.id = id
    self.token = token
  }
}
