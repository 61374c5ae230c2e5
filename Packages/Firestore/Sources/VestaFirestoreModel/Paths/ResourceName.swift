package import VestaFirestoreBackend

/// A database, `projects/{project}/databases/{database}`.
package struct DatabaseName: Sendable, Hashable, CustomStringConvertible {
  /// The project.
  package let project: String
  /// The database; `(default)` for the first one.
  package let database: String
  /// The parent of its outermost collections: `projects/{project}/databases/{database}/documents`.
  package let root: String
  /// The prefix of the names of all its documents: the root and a slash.
  package let documentsPrefix: String

  /// A database of a project.
  package init(project: String, database: String = "(default)") {
    self.project = project
    self.database = database
    root = "projects/\(project)/databases/\(database)/documents"
    documentsPrefix = root + "/"
  }

  /// A database by its name as requests have it.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a string of another form.
  package init(parsing name: String) throws(FirestoreServiceError) {
    let path = ResourcePath(splitting: name)
    guard let result = DatabaseName(beginning: path.segments), path.segments.count == 4 else {
      throw .invalid("Invalid database name \"\(name)\": it must be projects/{project}/databases/{database}.")
    }
    self = result
  }

  init?(beginning segments: [String]) {
    guard segments.count >= 4, segments[0] == "projects", segments[2] == "databases" else { return nil }
    guard !segments[1].isEmpty, !segments[3].isEmpty else { return nil }
    // Old clients escape the parentheses of the default database.
    let database = segments[3] == "%28default%29" ? "(default)" : segments[3]
    self.init(project: segments[1], database: database)
  }

  /// Whether the two have the same bytes.
  package static func == (left: DatabaseName, right: DatabaseName) -> Bool {
    UTF8Order.equal(left.project, right.project) && UTF8Order.equal(left.database, right.database)
  }

  /// Feeds the parts that equality compares to a hasher.
  package func hash(into hasher: inout Hasher) {
    UTF8Order.hash(project, into: &hasher)
    UTF8Order.hash(database, into: &hasher)
  }

  /// The name as requests have it.
  package var description: String { "projects/\(project)/databases/\(database)" }
}

/// A place in a database: the root, a collection or a document.
package struct ResourceName: Sendable, Hashable, CustomStringConvertible {
  /// The database.
  package let database: DatabaseName
  /// The path below `documents`.
  package let path: ResourcePath

  /// A place in a database.
  package init(database: DatabaseName, path: ResourcePath) {
    self.database = database
    self.path = path
  }

  /// A document by its full name.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - likely: The database that it is probably of, which makes reading the name quicker; any other is fine.
  /// - Throws: `INVALID_ARGUMENT` that quotes the name, for everything that is no name of a document.
  package init(document name: String, likely: DatabaseName? = nil) throws(FirestoreServiceError) {
    if let likely, let rest = name.utf8.dropping(prefix: likely.documentsPrefix.utf8) {
      database = likely
      path = ResourcePath(splitting: rest)
    } else {
      self = try ResourceName(unchecked: name, kind: "Document")
    }
    guard path.isDocument else {
      throw .invalid("Document name \"\(name)\" lacks an identifier: it must end with a collection and a document.")
    }
    try PathRules.check(path, name: name)
  }

  /// A parent of collections: the root or a document.
  ///
  /// - Throws: `INVALID_ARGUMENT` that quotes the name.
  package init(parent name: String) throws(FirestoreServiceError) {
    self = try ResourceName(unchecked: name, kind: "Parent")
    guard path.segments.isEmpty || path.isDocument else {
      throw .invalid("Parent name \"\(name)\" must be a document, or end with /documents.")
    }
    try PathRules.check(path, name: name)
  }

  private init(unchecked name: String, kind: String) throws(FirestoreServiceError) {
    let segments = ResourcePath(splitting: name).segments
    guard let database = DatabaseName(beginning: segments), segments.count >= 5, segments[4] == "documents" else {
      throw .invalid(
        "\(kind) name \"\(name)\" does not begin with projects/{project}/databases/{database}/documents."
      )
    }
    self.database = database
    path = ResourcePath(Array(segments[5...]))
  }

  /// The full name, as requests have it.
  package var description: String {
    path.segments.isEmpty ? database.root : database.documentsPrefix + path.description
  }
}

/// The rules of identifiers.
package enum PathRules {
  /// Checks the length of a path and each of its segments.
  ///
  /// - Throws: `INVALID_ARGUMENT` that names the segment.
  package static func check(_ path: ResourcePath, name: String) throws(FirestoreServiceError) {
    guard name.utf8.count <= FirestoreLimits.nameLength else {
      throw .invalid("The name is \(name.utf8.count) bytes long; at most \(FirestoreLimits.nameLength) are allowed.")
    }
    guard path.segments.count <= 2 * FirestoreLimits.collectionDepth else {
      throw .invalid("\"\(name)\" is deeper than \(FirestoreLimits.collectionDepth) collections.")
    }
    for (index, segment) in path.segments.enumerated() {
      try check(whole: segment, kind: index.isMultiple(of: 2) ? "Collection id" : "Document id")
    }
  }

  /// Checks one identifier.
  ///
  /// - Parameters:
  ///   - segment: The identifier.
  ///   - kind: The name of the thing in the message, such as "Collection id".
  package static func check(_ segment: String, kind: String) throws(FirestoreServiceError) {
    if segment.utf8.contains(UInt8(ascii: "/")) {
      throw .invalid("\(kind) \"\(segment)\" is invalid because it contains \"/\".")
    }
    try check(whole: segment, kind: kind)
  }

  /// Checks one identifier that has no slash in it.
  private static func check(whole segment: String, kind: String) throws(FirestoreServiceError) {
    if segment.isEmpty { throw .invalid("\(kind) cannot be empty.") }
    if segment == "." || segment == ".." {
      throw .invalid("\(kind) \"\(segment)\" is invalid because it is \".\" or \"..\".")
    }
    if segment.utf8.count > FirestoreLimits.segmentLength {
      throw .invalid("\(kind) is longer than \(FirestoreLimits.segmentLength) bytes.")
    }
    if isReserved(segment), kind == "Document id" ? ResourcePath.number(of: segment) == nil : !isEscaped(segment) {
      throw .invalid("\(kind) \"\(segment)\" is invalid because it is reserved.")
    }
  }

  /// Whether a collection's name is an escaped name, `__esc…__`.
  private static func isEscaped(_ name: String) -> Bool { name.utf8.starts(with: "__esc".utf8) }

  /// Whether a name begins and ends with two underscores.
  package static func isReserved(_ name: String) -> Bool {
    // Most names do not begin so, and this is checked for every name.
    guard name.utf8.first == UInt8(ascii: "_") else { return false }
    return name.utf8.count >= 4 && name.utf8.starts(with: "__".utf8) && name.utf8.suffix(2).elementsEqual("__".utf8)
  }
}
