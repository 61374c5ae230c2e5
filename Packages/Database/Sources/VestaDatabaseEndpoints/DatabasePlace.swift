import VestaServiceInterop
import VestaTransportInterop

/// The database that a request is about, and the project that it belongs to.
struct DatabasePlace: Sendable, Hashable {
  let namespace: String
  let project: String
  /// Whether the database is there without having been made: a default one of its project, a configured one, and each
  /// one in a server for development.
  let isGiven: Bool

  private static let suffix = "-default-rtdb"
  /// The domains whose first label names a database.
  private static let domains = [".firebaseio.com", ".firebasedatabase.app", ".localhost"]

  /// - Parameters:
  ///   - name: The parameter `ns`; `nil` for none.
  ///   - authority: The host that the client has reached.
  /// - Throws: `INVALID_ARGUMENT` for what can be no name.
  init(_ name: String?, at authority: String, in host: any EndpointHost) throws(ServiceStatus) {
    namespace = name ?? Self.label(of: authority) ?? host.defaultProject + Self.suffix
    guard Self.isName(namespace) else {
      throw ServiceStatus(.invalidArgument, "\"\(namespace.prefix(100))\" cannot be a database.")
    }
    if let known = host.project(ofDatabase: namespace) {
      (project, isGiven) = (known, true)
    } else if namespace.hasSuffix(Self.suffix), namespace.utf8.count > Self.suffix.utf8.count {
      (project, isGiven) = (String(namespace.dropLast(Self.suffix.count)), true)
    } else {
      // A project has further databases by other names; a suite of tests has a project for each of its names.
      project = host.isDevelopment ? namespace : host.defaultProject
      isGiven = project == namespace
    }
  }

  private static func label(of authority: String) -> String? {
    let name = authority.prefix { $0 != ":" }.lowercased()
    guard domains.contains(where: { name.hasSuffix($0) }) else { return nil }
    return name.split(separator: ".").first.map { String($0) }
  }

  private static func isName(_ text: String) -> Bool {
    (1...100).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in byte &- 48 < 10 || (byte | 32) &- 97 < 26 || "-.:_".utf8.contains(byte) }
  }
}
