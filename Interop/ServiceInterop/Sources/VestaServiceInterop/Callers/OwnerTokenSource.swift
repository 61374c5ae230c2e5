/// Returns the credential with which a program calls as the owner of a project on another machine, such as the access
/// token of a service account.
///
/// Remote backends look for it in the app; without one the calls of an owner are refused before they are sent.
public protocol OwnerTokenSource: Sendable {
  /// The bearer token, which is asked for at each call.
  ///
  /// - Throws: `ServiceStatus`, which fails the call.
  func token() async throws(ServiceStatus) -> String
}
