import VestaBytes

internal import VestaFirestoreModel

/// How applications write paths.
///
/// The messages are the Firebase SDK's; the one about the number of segments goes on with what to write.
enum UserPath {
  /// The path of a string, with slashes at its ends tolerated; stops the program for anything else.
  static func parse(_ string: String, below parent: ResourcePath = ResourcePath([]), kind: Kind) -> ResourcePath {
    let path = ResourcePath(parent.segments + segments(of: string, kind: kind))
    precondition(
      path.segments.count.isMultiple(of: 2) == (kind == .document), wrongCount(path, kind: kind))
    return path
  }

  enum Kind {
    case document
    case collection

    var name: String { self == .document ? "document" : "collection" }
  }

  /// The id of collections of a group; stops the program for a path.
  static func groupID(_ string: String) -> CollectionID {
    precondition(!string.isEmpty, "Collection ID cannot be nil or empty.")
    precondition(
      !string.utf8.contains(UInt8(ascii: "/")),
      "Invalid collection ID (\(string)). Collection IDs must not contain / in them.")
    return CollectionID(string)
  }

  private static func segments(of string: String, kind: Kind) -> [String] {
    // By bytes: as a character, a slash with an accent on it would be no slash.
    var segments = string[...].utf8.split(separator: UInt8(ascii: "/"))
    // One slash at either end is tolerated; another empty segment lies between two slashes.
    if segments.count > 1, segments.last?.isEmpty == true { segments.removeLast() }
    if segments.count > 1, segments.first?.isEmpty == true { segments.removeFirst() }
    precondition(segments != [""], "\(kind == .document ? "Document" : "Collection") path cannot be nil or empty.")
    precondition(
      !segments.contains(where: \.isEmpty), "Invalid path (\(string)). Paths must not contain // in them.")
    return segments
  }

  static func wrongCount(_ path: ResourcePath, kind: Kind) -> String {
    let parity = kind == .document ? "even" : "odd"
    let remedy =
      kind == .document
      ? "Write document(\"\(path)/ID\") for a document of this collection, or collection(\"\(path)\") for all of them."
      : "Write document(\"\(path)\") for this document, or collection(\"\(path)/NAME\") for a collection below it."
    return "Invalid \(kind.name) reference. \(kind == .document ? "Document" : "Collection") references must have an "
      + "\(parity) number of segments, but \(path) has \(path.segments.count). \(remedy)"
  }
}

/// Identifiers of new documents.
enum AutoID {
  /// 20 random letters and digits.
  static func make() -> String { SystemRandom.alphanumeric(20) }
}
