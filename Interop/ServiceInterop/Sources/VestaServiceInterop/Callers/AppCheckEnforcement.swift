/// The products that refuse calls without a valid App Check token; a program provides it as a component of a project.
///
/// ```swift
/// Component(AppCheckEnforcement.self, caching: .shared) { _ in AppCheckEnforcement(["firestore", "storage"]) }
/// ```
///
/// Owners need no token. Callable functions say for themselves whether they need one.
public struct AppCheckEnforcement: Sendable, Hashable {
  /// The products: "firestore", "database", "storage", "remoteconfig", "messaging".
  public var products: Set<String>

  /// An enforcement.
  public init(_ products: Set<String> = []) { self.products = products }

  /// The products that can be named.
  public static let known: Set<String> = ["firestore", "database", "storage", "remoteconfig", "messaging"]
}
