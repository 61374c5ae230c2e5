import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// A request of administration over REST, as the call and the message that it means; pure.
struct AdminRESTRequest {
  /// The name of the call: `ListIndexes`.
  let call: String
  /// The message of the call.
  let message: JSONValue

  /// Whether a path is one of administration: a list of databases, or a part of a database other than its documents.
  static func isMeant(by path: Substring) -> Bool {
    let parts = path.parts(at: "/")
    guard parts.count > 4, parts[1] == "v1", parts[2] == "projects", parts[4] == "databases" else { return false }
    return parts.count < 7 || !(parts[6] == "documents" || parts[6].hasPrefix("documents:"))
  }

  /// Reads a request.
  ///
  /// - Throws: `NOT_FOUND` for a path that means no call, `INVALID_ARGUMENT` for a body or a query that the call does
  ///   not have.
  init(_ method: HTTPMethod, path: Substring, query: Substring?, body: [UInt8]) throws(ServiceStatus) {
    var parts = try Self.parts(of: path)
    let verb = method == .post ? Self.removeVerb(from: &parts) : ""
    guard let (call, member) = Self.call(method, parts, verb) else { throw RESTPlace.nothing(at: path) }
    let isList = !parts.count.isMultiple(of: 2)
    let name = (isList ? parts.dropLast() : parts[...]).joined(separator: "/")
    var object = Self.message(member, name, try RESTBody.object(body))
    try RESTQuery.bind(query, to: &object, isWhole: member == .whole)
    (self.call, message) = (call, .object(object))
  }

  /// The ids after the version, decoded.
  private static func parts(of path: Substring) throws(ServiceStatus) -> [String] {
    var parts: [String] = []
    for part in path.parts(at: "/").dropFirst(2) {
      guard let text = try? PercentEncoding.decode(part), !text.isEmpty else { throw RESTPlace.nothing(at: path) }
      parts.append(text)
    }
    return parts
  }

  /// The verb after the last colon; empty for none.
  private static func removeVerb(from parts: inout [String]) -> String {
    guard let last = parts.last, let colon = last.lastIndex(of: ":") else { return "" }
    parts[parts.count - 1] = String(last[..<colon])
    return String(last[last.index(after: colon)...])
  }

  private static func message(_ member: Member, _ name: String, _ body: JSONObject) -> JSONObject {
    var (object, named) = (JSONObject(), body)
    named["name"] = .string(name)
    switch member {
    case .name: object["name"] = .string(name)
    case .parent: object["parent"] = .string(name)
    case .whole: object = named
    case .new(let member):
      object["parent"] = .string(name)
      object[member] = .object(body)
    case .changed(let member): object[member] = .object(named)
    }
    return object
  }

  /// The members of a message for the path and the body.
  private enum Member: Equatable {
    /// The path is the name; there is no body.
    case name
    /// The path is that of the parent; there is no body.
    case parent
    /// The body is the message, and the path its name.
    case whole
    /// The body is a member, and the path that of the parent.
    case new(String)
    /// The body is a member, and the path its name.
    case changed(String)
  }

  private static func call(_ method: HTTPMethod, _ parts: [String], _ verb: String) -> (String, Member)? {
    guard verb.isEmpty else { return call(verb, parts.count) }
    let kinds = stride(from: 0, to: parts.count, by: 2).map { parts[$0] }.joined(separator: "/")
    let isList = !parts.count.isMultiple(of: 2)
    return switch (method, kinds, isList) {
    case (.get, "projects/databases", true): ("ListDatabases", .parent)
    case (.post, "projects/databases", true): ("CreateDatabase", .new("database"))
    case (.get, "projects/databases", false): ("GetDatabase", .name)
    case (.patch, "projects/databases", false): ("UpdateDatabase", .changed("database"))
    case (.delete, "projects/databases", false): ("DeleteDatabase", .name)
    case (.get, "projects/databases/operations", true): ("ListOperations", .name)
    case (.get, "projects/databases/operations", false): ("GetOperation", .name)
    case (.delete, "projects/databases/operations", false): ("DeleteOperation", .name)
    case (.get, "projects/databases/collectionGroups/indexes", true): ("ListIndexes", .parent)
    case (.post, "projects/databases/collectionGroups/indexes", true): ("CreateIndex", .new("index"))
    case (.get, "projects/databases/collectionGroups/indexes", false): ("GetIndex", .name)
    case (.delete, "projects/databases/collectionGroups/indexes", false): ("DeleteIndex", .name)
    case (.get, "projects/databases/collectionGroups/fields", true): ("ListFields", .parent)
    case (.get, "projects/databases/collectionGroups/fields", false): ("GetField", .name)
    case (.patch, "projects/databases/collectionGroups/fields", false): ("UpdateField", .changed("field"))
    default: nil
    }
  }

  private static func call(_ verb: String, _ count: Int) -> (String, Member)? {
    switch (verb, count) {
    case ("exportDocuments", 4): ("ExportDocuments", .whole)
    case ("importDocuments", 4): ("ImportDocuments", .whole)
    case ("bulkDeleteDocuments", 4): ("BulkDeleteDocuments", .whole)
    case ("cancel", 6): ("CancelOperation", .whole)
    default: nil
    }
  }
}

/// Bodies of REST.
enum RESTBody {
  /// The object of a body; an empty one for no body.
  static func object(_ body: [UInt8]) throws(ServiceStatus) -> JSONObject {
    guard !body.isEmpty else { return JSONObject() }
    do {
      return try JSONObject(json: body, limits: JSONLimits(maximumDepth: 200))
    } catch {
      throw ServiceStatus(.invalidArgument, "Invalid JSON payload received. \(error.message).")
    }
  }
}
