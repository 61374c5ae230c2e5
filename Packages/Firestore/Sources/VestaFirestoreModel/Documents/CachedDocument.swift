package import VestaFirestoreBackend

/// A document as a client knows it: the last state of the service, or the result of local writes on it.
///
/// Equality compares key, contents, version and pending writes, but not the create time and the read time.
package struct CachedDocument: Sendable, Hashable {
  /// The knowledge about the document.
  package enum Contents: Sendable, Hashable {
    /// Nothing: it has never been seen.
    case invalid
    /// It exists and has these fields.
    case found(MapValue)
    /// It does not exist.
    case missing
    /// It exists at the version, with fields that only the service knows.
    case unknown
  }

  /// Which writes are in it that the service has not sent back yet.
  package enum Pending: UInt8, Sendable, Hashable {
    /// None: it is what the service sent.
    case none = 0
    /// Writes that the service has not acknowledged; such a document has no version.
    case local = 1
    /// Writes that the service has acknowledged, and whose outcome it has not sent.
    case committed = 2
    /// The same, in a document of the service from before them that was sent after their acknowledgement.
    case completed = 3
  }

  private struct Parts: Sendable {
    let path: ResourcePath
    let name: String
    var contents: Contents
    var version: Timestamp
    var createTime: Timestamp?
    var readTime = Timestamp.zero
    var pending = Pending.none
  }

  /// Never changed: a document that changes gets another one.
  private final class Storage: Sendable {
    let parts: Parts

    init(_ parts: Parts) { self.parts = parts }
  }

  /// One reference, as documents are copied far more often than they are made: each set of results and each table of
  /// the cache has them.
  private var storage: Storage

  /// The path of the document.
  package var path: ResourcePath { storage.parts.path }
  /// The full name of the document.
  package var name: String { storage.parts.name }
  /// The knowledge about the document.
  package var contents: Contents { storage.parts.contents }
  /// The version of the contents; `.zero` for none.
  package var version: Timestamp { storage.parts.version }
  /// The create time of the document, where the service has sent it.
  package var createTime: Timestamp? { storage.parts.createTime }
  /// At which time the service was read; `.zero` for never.
  package var readTime: Timestamp {
    get { storage.parts.readTime }
    set { if newValue != readTime { change { $0.readTime = newValue } } }
  }
  /// Which writes are in it that the service has not sent back.
  package var pending: Pending { storage.parts.pending }

  private mutating func change(_ body: (inout Parts) -> Void) {
    var parts = storage.parts
    body(&parts)
    storage = Storage(parts)
  }

  /// A document.
  package init(
    _ name: ResourceName, _ contents: Contents, version: Timestamp = .zero, createTime: Timestamp? = nil,
    readTime: Timestamp = .zero
  ) {
    storage = Storage(
      Parts(
        path: name.path, name: name.description, contents: contents, version: version, createTime: createTime,
        readTime: readTime))
  }

  /// A document of the service's message.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a name that is no document's.
  package init(
    _ document: Document, likely: DatabaseName? = nil, readTime: Timestamp = .zero
  ) throws(FirestoreServiceError) {
    self.init(document, at: try ResourceName(document: document.name, likely: likely).path, readTime: readTime)
  }

  /// A document of the service's message, whose path is known to be the one of its name.
  package init(_ document: Document, at path: ResourcePath, readTime: Timestamp = .zero) {
    storage = Storage(
      Parts(
        path: path, name: document.name, contents: .found(document.fields), version: document.updateTime ?? .zero,
        createTime: document.createTime, readTime: readTime))
  }

  /// The fields; `nil` unless the document is known to exist with its fields.
  package var fields: MapValue? {
    if case .found(let fields) = storage.parts.contents { return fields }
    return nil
  }

  /// The document's message; `nil` unless it is known to exist with its fields.
  package var document: Document? {
    fields.map { Document(name: name, fields: $0, createTime: createTime, updateTime: version) }
  }

  /// Whether the document is known to exist with its fields.
  package var isFound: Bool { if case .found = storage.parts.contents { true } else { false } }
  /// Whether the document is known not to exist.
  package var isMissing: Bool { if case .missing = storage.parts.contents { true } else { false } }
  /// Whether anything is known about the document.
  package var isValid: Bool { if case .invalid = storage.parts.contents { false } else { true } }
  /// Whether writes are in it that the service has not acknowledged.
  package var hasLocalMutations: Bool { pending == .local }
  /// Whether acknowledged writes are in it whose outcome the service has not sent.
  package var hasCommittedMutations: Bool { pending == .committed || isCompleted }
  /// Whether they are in a document of the service that was sent after their acknowledgement.
  package var isCompleted: Bool { pending == .completed }
  /// Whether any writes are in it that the service has not sent back.
  package var hasPendingWrites: Bool { pending != .none }

  /// The value at a path, which may be the document's name.
  package func value(at path: FieldPath) -> Value? {
    path.isDocumentName ? .reference(name) : fields?[path]
  }

  /// Replaces the contents by the service's document: nothing is pending then.
  package mutating func become(_ contents: Contents, at version: Timestamp) {
    change { ($0.contents, $0.version, $0.pending) = (contents, version, .none) }
  }

  /// Replaces the contents by what local writes make of them; such a document has no version.
  package mutating func mutateLocally(to contents: Contents) {
    change { ($0.contents, $0.version, $0.pending) = (contents, .zero, .local) }
  }

  /// Replaces the contents by what an acknowledged write makes of them.
  package mutating func commit(_ contents: Contents, at version: Timestamp) {
    change { ($0.contents, $0.version, $0.pending) = (contents, version, .committed) }
  }

  /// Notes that acknowledged writes are in a document of the service that was sent after their acknowledgement.
  package mutating func complete() { if hasCommittedMutations { change { $0.pending = .completed } } }

  /// Whether the two are the same for listeners.
  package static func == (left: CachedDocument, right: CachedDocument) -> Bool {
    if left.storage === right.storage { return true }
    return left.version == right.version && left.pending == right.pending && left.path == right.path
      && left.contents == right.contents
  }

  /// Feeds the parts that equality compares to a hasher.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(version)
    hasher.combine(pending)
  }
}

extension Timestamp {
  /// The beginning of 1970, which means "no version".
  package static let zero = Timestamp(seconds: 0)
}
