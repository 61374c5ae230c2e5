internal import VestaFirestoreModel

/// The path of a field: one name, or the names of maps within each other.
///
/// Strings name fields as well, with dots between the names; a `FieldPath` can hold names that contain dots and other
/// special characters.
///
/// ```swift
/// query.whereField(FieldPath(["address", "zip.code"]), isEqualTo: "10115")
/// ```
public final class FieldPath: Sendable, Hashable, CustomStringConvertible {
  /// The names, the outermost map first.
  let names: [String]

  /// Creates a field path from names.
  ///
  /// - Parameter fieldNames: At least one name, none of them empty; anything else stops the program, as in the Firebase
  ///   SDK.
  public init(_ fieldNames: [String]) {
    precondition(!fieldNames.isEmpty, "Invalid field path. Provided names must not be empty.")
    for (index, name) in fieldNames.enumerated() {
      precondition(!name.isEmpty, "Invalid field name at index \(index). Field names must not be empty.")
    }
    names = fieldNames
  }

  private init(checked: [String]) { names = checked }

  /// The sentinel for the id of a document, in queries and orders.
  public static func documentID() -> FieldPath { FieldPath(checked: ["__name__"]) }

  /// The path of a string as applications write it: names between dots.
  ///
  /// - Throws: `invalidArgument` with the Firebase SDK's message.
  static func parsing(_ string: String) throws -> FieldPath { FieldPath(checked: try FieldPathRules.names(of: string)) }

  /// The path in the form of the model.
  var model: ModelFieldPath { ModelFieldPath(names) }

  /// Whether two paths have the same names.
  public static func == (left: FieldPath, right: FieldPath) -> Bool { left.model == right.model }

  /// Hashes the names.
  public func hash(into hasher: inout Hasher) { hasher.combine(model) }

  /// The names between dots, quoted where that is needed.
  public var description: String { model.description }
}

/// How applications may write field paths as strings.
enum FieldPathRules {
  /// The names of a path such as `address.city`.
  ///
  /// - Throws: `invalidArgument` with the Firebase SDK's message.
  static func names(of path: String) throws -> [String] {
    if path.utf8.contains(where: isReserved) {
      throw FirestoreErrorCode.invalid(
        "Invalid field path (\(path)). Paths must not contain '~', '*', '/', '[', or ']'")
    }
    let names = path[...].utf8.split(separator: UInt8(ascii: "."))
    if names.contains(where: \.isEmpty) {
      throw FirestoreErrorCode.invalid(
        "Invalid field path (\(path)). Paths must not be empty, begin with '.', end with '.', or contain '..'")
    }
    return names
  }

  private static func isReserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "~"), UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "["), UInt8(ascii: "]"): true
    default: false
    }
  }
}
