import VestaFirestoreBackend
import VestaFirestoreModel

/// The indexes that a program declares: from a `firestore.indexes.json`, or made in code.
///
/// The engine makes indexes when queries need them, so nothing has to be declared. A declared index is made when a
/// database is opened, stays although it is unused, and is all that counts when `requiresDeclaredIndexes` is on.
///
/// ```swift
/// var options = FirestoreServiceOptions()
/// options.indexes = try FirestoreIndexes(json: Data(contentsOf: url))
/// ```
public struct FirestoreIndexes: Sendable, Hashable {
  /// Which documents an index is over.
  public enum Scope: String, Sendable, Hashable, CaseIterable {
    /// Each collection by itself.
    case collection = "COLLECTION"
    /// All collections with one identifier.
    case collectionGroup = "COLLECTION_GROUP"
  }

  /// The kinds of fields in an index.
  public enum Mode: Sendable, Hashable {
    /// By its value, smaller ones first.
    case ascending
    /// By its value, larger ones first.
    case descending
    /// By the elements of an array.
    case contains
    /// For searches of the nearest vectors with a number of dimensions.
    case vector(dimension: Int)
  }

  /// A field of an index.
  public struct Field: Sendable, Hashable {
    let path: FieldPath

    /// The kind of the field in the index.
    public let mode: Mode

    /// The path of the field; `__name__` for the document's name.
    public var fieldPath: String { path.description }

    /// A field of an index.
    ///
    /// - Throws: `FirestoreIndexesError` for a string that is no path, and a dimension that no vector has.
    public init(_ fieldPath: String, _ mode: Mode) throws(FirestoreIndexesError) {
      path = try FirestoreIndexes.path(fieldPath)
      if case .vector(let dimension) = mode, !(1...FirestoreLimits.vectorDimension).contains(dimension) {
        throw FirestoreIndexesError(.invalidField, "The dimension \(dimension) is not between 1 and 2048.")
      }
      if path.isDocumentName, mode != .ascending, mode != .descending {
        throw FirestoreIndexesError(.invalidField, "__name__ can be ordered by, and nothing else.")
      }
      self.mode = mode
    }
  }

  /// An index of several fields, or one for the nearest vectors.
  public struct Index: Sendable, Hashable {
    /// The identifier of the collections.
    public let collectionGroup: String

    /// Which documents it is over.
    public let scope: Scope

    /// The fields in order; the name is last, whether it is given or not.
    public let fields: [Field]

    /// An index.
    ///
    /// - Throws: `FirestoreIndexesError` for no fields or a field twice, and for names and vectors that are not last.
    public init(collectionGroup: String, scope: Scope = .collection, fields: [Field]) throws(FirestoreIndexesError) {
      try FirestoreIndexes.check(collectionGroup)
      guard !fields.isEmpty else { throw FirestoreIndexesError(.invalidIndex, "An index has at least one field.") }
      for (index, field) in fields.enumerated() {
        if fields[..<index].contains(where: { $0.path == field.path }) {
          throw FirestoreIndexesError(.invalidIndex, "The field \(field.fieldPath) is in the index twice.")
        }
        if index < fields.count - 1, field.path.isDocumentName || field.isVector {
          throw FirestoreIndexesError(.invalidIndex, "The field \(field.fieldPath) can only be the last one.")
        }
      }
      guard fields.count(where: { $0.mode == .contains }) <= 1 else {
        throw FirestoreIndexesError(.invalidIndex, "An index can have the elements of one array.")
      }
      self.collectionGroup = collectionGroup
      self.scope = scope
      self.fields = fields
    }
  }

  /// The single-field indexes of a field and of the fields in it, in place of the ones that every field has.
  public struct FieldOverride: Sendable, Hashable {
    /// An index of one field.
    public struct Index: Sendable, Hashable {
      /// Which documents it is over.
      public let scope: Scope
      /// The kind of the field in the index.
      public let mode: Mode

      /// An index of one field.
      public init(scope: Scope = .collection, _ mode: Mode) {
        self.scope = scope
        self.mode = mode
      }
    }

    /// `nil` for every field of the collections.
    let path: FieldPath?

    /// The identifier of the collections.
    public let collectionGroup: String

    /// The indexes; none for an exempt field.
    public let indexes: [Index]

    /// Whether documents are to be deleted at the time in this field, which this engine does not do.
    public let isTimeToLive: Bool

    /// The path of the field; `*` for every field.
    public var fieldPath: String { path?.description ?? "*" }

    /// An override.
    ///
    /// - Throws: `FirestoreIndexesError` for a string that is no path.
    public init(
      collectionGroup: String, fieldPath: String, indexes: [Index], isTimeToLive: Bool = false
    ) throws(FirestoreIndexesError) {
      try FirestoreIndexes.check(collectionGroup)
      path = fieldPath == "*" ? nil : try FirestoreIndexes.path(fieldPath)
      self.collectionGroup = collectionGroup
      self.indexes = indexes
      self.isTimeToLive = isTimeToLive
    }
  }

  /// The indexes of several fields.
  public var indexes: [Index]

  /// The fields with other indexes than usual.
  public var fieldOverrides: [FieldOverride]

  /// Declared indexes; none by default.
  public init(indexes: [Index] = [], fieldOverrides: [FieldOverride] = []) {
    self.indexes = indexes
    self.fieldOverrides = fieldOverrides
  }

  private static func path(_ text: String) throws(FirestoreIndexesError) -> FieldPath {
    do {
      let path = try FieldPath(parsing: text)
      try path.checkForQuery()
      return path
    } catch {
      throw FirestoreIndexesError(.invalidField, error.message)
    }
  }

  private static func check(_ collectionGroup: String) throws(FirestoreIndexesError) {
    do { try PathRules.check(collectionGroup, kind: "Collection id") } catch {
      throw FirestoreIndexesError(.invalidCollection, error.message)
    }
  }
}

extension FirestoreIndexes.Field {
  var isVector: Bool {
    if case .vector = mode { return true }
    return false
  }
}

/// An error in a declaration of indexes.
public struct FirestoreIndexesError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of mistake; open, so that a later kind breaks no `switch`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind, such as "invalid-field".
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The string is no JSON.
    public static let malformed = Self("malformed")
    /// Something is missing, or of another type or value than the format has.
    public static let invalidEntry = Self("invalid-entry")
    /// The identifier of a collection cannot be one.
    public static let invalidCollection = Self("invalid-collection")
    /// A field cannot be in an index like this.
    public static let invalidField = Self("invalid-field")
    /// The fields do not make an index.
    public static let invalidIndex = Self("invalid-index")
    /// The format has it, and this engine does not.
    public static let unsupported = Self("unsupported")

    /// Lets `catch FirestoreIndexesError.Code.malformed` match.
    public static func ~= (code: Self, error: any Error) -> Bool { (error as? FirestoreIndexesError)?.code == code }
  }

  /// The kind of mistake.
  public let code: Code

  /// The position in the file, such as `indexes[2].fields[0].order`; empty outside of files.
  public let entry: String

  /// The cause, in a sentence.
  public let message: String

  init(_ code: Code, entry: String = "", _ message: String) {
    self.code = code
    self.entry = entry
    self.message = message
  }

  /// The same mistake at a place in a file.
  func at(_ location: String) -> FirestoreIndexesError { FirestoreIndexesError(code, entry: location, message) }

  /// Everything in one line.
  public var description: String {
    "indexes error \(code)\(entry.isEmpty ? "" : " (\(entry))"): \(message)"
  }
}
