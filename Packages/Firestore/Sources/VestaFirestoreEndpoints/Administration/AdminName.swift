import VestaBytes
import VestaServiceInterop

/// The resource name of a part of a database: `projects/P/databases/D/collectionGroups/C/fields/F`; pure.
struct AdminName: Equatable {
  /// `projects/P/databases/D`.
  let database: String
  /// The id of the collections.
  let group: String
  /// The index or the field; empty for the collection group itself.
  let id: String

  /// The name of a collection group.
  init(group name: String) throws(ServiceStatus) {
    let parts = try Self.parts(of: name, count: 6)
    self.init(parts, id: "")
  }

  /// The name of a resource in a collection group; the path of a field may have slashes.
  ///
  /// - Parameter kind: `indexes` or `fields`.
  init(_ name: String, in kind: String) throws(ServiceStatus) {
    let parts = try Self.parts(of: name, count: 8)
    guard parts[6] == kind else { throw Self.wrong(name) }
    self.init(parts, id: String(parts[7]))
  }

  private init(_ parts: [Substring], id: String) {
    database = parts[..<4].joined(separator: "/")
    (group, self.id) = (String(parts[5]), id)
  }

  private static func parts(of name: String, count: Int) throws(ServiceStatus) -> [Substring] {
    let parts = name.parts(at: "/", maxSplits: count - 1)
    guard parts.count == count, !parts.contains(""), parts[0] == "projects", parts[2] == "databases",
      parts[4] == "collectionGroups", count > 6 || !parts[5].hasByte("/")
    else { throw wrong(name) }
    return parts
  }

  private static func wrong(_ name: String) -> ServiceStatus {
    ServiceStatus(
      .invalidArgument, "The name \"\(name.prefix(200))\" is not one of a collection group or of a resource in it.")
  }

  /// The project of a name that begins with `projects/P`.
  static func project(of name: String) throws(ServiceStatus) -> String {
    let parts = name.parts(at: "/", maxSplits: 2)
    guard parts.count > 1, parts[0] == "projects", !parts[1].isEmpty else {
      throw ServiceStatus(
        .invalidArgument, "The name \"\(name.prefix(200))\" does not begin with projects/<project>.")
    }
    return String(parts[1])
  }
}
