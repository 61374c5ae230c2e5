internal import Foundation
internal import VestaFirestoreModel
internal import VestaFirestoreSync

/// A change of a document among the results of a query.
public enum DocumentChangeType: Int, Sendable {
  /// The document was added to the results.
  case added = 0
  /// The document changed and is still among the results.
  case modified = 1
  /// The document left the results.
  case removed = 2
}

/// A change of one document among the results of a query.
public final class DocumentChange: Sendable, Hashable {
  /// The kind of change.
  public let type: DocumentChangeType
  /// The document after the change; before it, for a removal.
  public let document: QueryDocumentSnapshot
  /// The position before the change, when the earlier changes of the list have been applied; `UInt(NSNotFound)` for an
  /// added document.
  public let oldIndex: UInt
  /// The position after the change; `UInt(NSNotFound)` for a removed document.
  public let newIndex: UInt

  init(type: DocumentChangeType, document: QueryDocumentSnapshot, oldIndex: Int?, newIndex: Int?) {
    self.type = type
    self.document = document
    self.oldIndex = UInt(oldIndex ?? NSNotFound)
    self.newIndex = UInt(newIndex ?? NSNotFound)
  }

  /// Whether two changes are the same.
  public static func == (left: DocumentChange, right: DocumentChange) -> Bool {
    left.type == right.type && left.document == right.document && left.oldIndex == right.oldIndex
      && left.newIndex == right.newIndex
  }

  /// Hashes type, document and positions.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(type)
    hasher.combine(document)
    hasher.combine(oldIndex)
    hasher.combine(newIndex)
  }
}

/// Computes the positions of changes, one change after the other.
struct ChangeList {
  let snapshot: ViewSnapshot
  let makeDocument: (CachedDocument) -> QueryDocumentSnapshot

  func changes(includingMetadata: Bool) -> [DocumentChange] {
    if snapshot.oldDocuments.isEmpty {
      return snapshot.changes.enumerated().map { index, change in
        DocumentChange(type: .added, document: makeDocument(change.document), oldIndex: nil, newIndex: index)
      }
    }
    var documents = snapshot.oldDocuments
    return snapshot.changes.compactMap { change in
      if change.kind == .metadata, !includingMetadata { return nil }
      return self.change(change, in: &documents)
    }
  }

  private func change(_ change: DocumentViewChange, in documents: inout DocumentSet) -> DocumentChange {
    let path = change.document.path
    let oldIndex = change.kind == .added ? nil : documents.index(of: path)
    documents.remove(path)
    if change.kind != .removed { documents.insert(change.document) }
    let newIndex = change.kind == .removed ? nil : documents.index(of: path)
    return DocumentChange(
      type: type(of: change.kind), document: makeDocument(change.document), oldIndex: oldIndex, newIndex: newIndex)
  }

  private func type(of kind: DocumentViewChange.Kind) -> DocumentChangeType {
    switch kind {
    case .added: .added
    case .removed: .removed
    case .modified, .metadata: .modified
    }
  }
}
