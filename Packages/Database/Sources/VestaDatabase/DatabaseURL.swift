import Foundation
import VestaBytes
import VestaDatabaseBackend

/// The address of a database: its host, its namespace, and perhaps a path in it.
struct DatabaseURL: Sendable, Hashable {
  let host: String
  let isSecure: Bool
  let namespace: String
  let path: DatabasePath

  /// The address without the path.
  var root: String { "\(isSecure ? "https" : "http")://\(host)" }

  /// Reads an address; an error says what is wrong with it.
  init(_ text: String) throws(DatabaseError) {
    let (scheme, rest, query) = Self.split(text)
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    host = rest[..<slash].lowercased()
    guard !host.isEmpty else { throw DatabaseError(.other, "Cannot connect to nil or empty host.") }
    let hasPort = host.contains(":")
    isSecure = !hasPort || scheme == "https" || scheme == "wss"
    let parts = rest[slash...].parts(at: "/", omittingEmpty: true).map { part in
      (try? PercentEncoding.decode(part.replacing("+", with: " "))) ?? String(part)
    }
    path = DatabasePath(parts.map { DatabaseKey($0) })
    let labels = host.prefix { $0 != ":" }.split(separator: ".")
    let item = query.split(separator: "&").first { $0.hasPrefix("ns=") }?.dropFirst(3)
    namespace = String(item ?? labels.first ?? "")
  }

  /// The scheme in lower case, the host with the path, and the query.
  private static func split(_ text: String) -> (scheme: String, rest: Substring, query: Substring) {
    var rest = Substring(text)
    var scheme = "https"
    if let colon = rest.range(of: "://") {
      scheme = rest[..<colon.lowerBound].lowercased()
      rest = rest[colon.upperBound...]
    }
    guard let mark = rest.firstIndex(of: "?") else { return (scheme, rest, "") }
    return (scheme, rest[..<mark], rest[rest.index(after: mark)...])
  }

  init(host: String, isSecure: Bool, namespace: String) {
    self.host = host
    self.isSecure = isSecure
    self.namespace = namespace
    path = .root
  }
}
