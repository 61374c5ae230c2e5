import VestaConcurrency
import VestaDatabaseBackend
import VestaServiceInterop
import VestaTransportInterop

/// Knows which databases there are, where names are not free: in a server that is not for development.
///
/// Worked example: `?ns=shop` is neither configured nor a default database of the project. A client is answered 404,
/// and makes no database by writing. An owner writes to it, and with that it is there for clients as well.
///
/// A database without data that is not configured is forgotten when the server ends.
final class DatabaseNames: Sendable {
  private let host: any EndpointHost
  /// The databases that were found; only as many as there are.
  private let found = Locked<Set<String>>([])

  init(_ host: any EndpointHost) { self.host = host }

  /// Refuses a database that is not there.
  ///
  /// - Parameters:
  ///   - place: The database.
  ///   - context: The caller: owners make databases by writing to them.
  /// - Throws: `NOT_FOUND` for one that is not there, and what the administration throws.
  func check(_ place: DatabasePlace, for context: CallContext) async throws {
    if place.isGiven || found.withLock({ $0.contains(place.namespace) }) { return }
    // A host without administration cannot know its databases.
    guard let admin = try? host.backend((any DatabaseAdminBackend).self, project: place.project) else { return }
    if try await admin.databases(context: .owner).contains(place.namespace) {
      found.withLock { _ = $0.insert(place.namespace) }
      return
    }
    if context.caller != .nobody, (try? await admin.databases(context: context)) != nil { return }
    throw ServiceStatus(.notFound, Self.refusal(of: place.namespace))
  }

  /// The sentence about a database that is not there, as Firebase has it.
  static func refusal(of namespace: String) -> String {
    "Firebase error. Please ensure that you spelled the name of your Firebase correctly (\(namespace))"
  }
}
