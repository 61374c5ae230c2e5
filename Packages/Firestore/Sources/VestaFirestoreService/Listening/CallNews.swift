import FirestoreInterop

/// What one moment brings to one call: for each document one message, for all targets together.
struct CallNews {
  private struct Item {
    var document: Document?
    var isDeleted = false
    var name: String
    var added: [Int32] = []
    var removed: [Int32] = []
  }

  private var items: [Place: Item] = [:]

  var isEmpty: Bool { items.isEmpty }

  mutating func add(_ document: Document, at place: Place, to targets: [Int32]) {
    var item = items[place] ?? Item(name: document.name)
    item.document = document
    item.added += targets
    items[place] = item
  }

  /// - Parameter document: What the document is now; `nil` when its content is not at hand, or it has gone.
  mutating func remove(
    _ name: String, at place: Place, from targets: [Int32], document: Document?, isDeleted: Bool
  ) {
    var item = items[place] ?? Item(name: name)
    if item.document == nil { item.document = document }
    item.isDeleted = isDeleted
    item.removed += targets
    items[place] = item
  }

  /// The messages in the order of names.
  func responses(readTime: Timestamp) -> [ListenResponse] {
    items.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }.map { _, item in
      if item.isDeleted {
        return .documentDelete(
          DocumentDelete(document: item.name, removedTargetIDs: item.removed.sorted(), readTime: readTime))
      }
      guard let document = item.document else {
        return .documentRemove(
          DocumentRemove(document: item.name, removedTargetIDs: item.removed.sorted(), readTime: readTime))
      }
      return .documentChange(
        DocumentChange(
          document: document, targetIDs: item.added.sorted(), removedTargetIDs: item.removed.sorted()))
    }
  }
}

/// Where to resume: the version up to which everything has been sent.
///
/// One token serves all targets of a call, as a global snapshot tells one for all of them; what a target has missed since
/// then is worked out from the log. So it outlives the process.
enum ResumeToken {
  private static let mark: UInt8 = 1

  static func encode(_ version: Int64) -> [UInt8] {
    var writer = ByteWriter(reserving: 9)
    writer.write(byte: mark)
    writer.write(int: version)
    return writer.bytes
  }

  /// `nil` for bytes that are no token.
  static func decode(_ token: [UInt8]) -> Int64? {
    guard token.count == 9, token[0] == mark else { return nil }
    var reader = ByteReader(token, from: 1)
    return try? reader.int()
  }
}
