package import VestaFirestoreBackend

/// Reads the paths of documents from their names, one after the other.
///
/// The results of a query are of one collection most of the time. So its name is taken apart once, and of each document
/// the last segment alone.
package struct DocumentPaths {
  private let database: DatabaseName
  private var collection = ResourcePath.root
  /// The beginning of the names of the collection's documents; empty for no collection.
  private var beginning = ""
  /// Whether the last name was one of the database.
  package private(set) var isOfDatabase = true

  /// Paths in a database; names of another one are read as well.
  package init(in database: DatabaseName) { self.database = database }

  /// The path of a document.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a name that is no document's.
  package mutating func path(of name: String) throws(FirestoreServiceError) -> ResourcePath {
    if let path = try pathInCollection(of: name) { return path }
    let found = try ResourceName(document: name, likely: database)
    isOfDatabase = found.database == database
    collection = found.path.parent
    beginning = String(decoding: name.utf8.dropLast(found.path.lastSegment.utf8.count), as: UTF8.self)
    return found.path
  }

  /// The path of a document of the collection before; `nil` for another one.
  private func pathInCollection(of name: String) throws(FirestoreServiceError) -> ResourcePath? {
    guard !beginning.isEmpty, name.utf8.count <= FirestoreLimits.nameLength,
      let rest = name.utf8.dropping(prefix: beginning.utf8), !rest.contains(UInt8(ascii: "/"))
    else { return nil }
    let segment = String(Substring(rest))
    try PathRules.check(segment, kind: "Document id")
    return collection.appending(segment)
  }
}
