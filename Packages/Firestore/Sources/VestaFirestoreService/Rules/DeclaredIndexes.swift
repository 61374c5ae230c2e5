import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// The declared indexes as the engine needs them: shapes to make, fields that must not have any.
struct DeclaredIndexes: Sendable {
  let source: FirestoreIndexes
  /// The shapes that are made when a database is opened, and never dropped.
  let shapes: [IndexShape]

  init(_ source: FirestoreIndexes) {
    self.source = source
    var shapes: [IndexShape] = []
    var known: Set<IndexShape> = []
    // An index serves both directions, so one that only has them turned is not made again.
    let wanted = source.indexes.compactMap { IndexDefinition($0).shape } + source.fieldOverrides.flatMap(\.shapes)
    for shape in wanted where !known.contains(shape.turned) && known.insert(shape).inserted { shapes.append(shape) }
    self.shapes = shapes
  }

  /// Whether an index must not be made: one of a single field that is exempt.
  func forbid(_ shape: IndexShape) -> Bool {
    guard let part = shape.parts.first, shape.parts.count == 1,
      let override = override(of: part.path, in: shape.collectionID)
    else { return false }
    return !override.indexes.contains { ($0.mode == .contains) == (part.kind == .contains) }
  }

  /// Whether production has an index of one field.
  func hasField(
    _ path: FieldPath, _ mode: FirestoreIndexes.Mode, in collectionID: CollectionID, _ scope: FirestoreIndexes.Scope
  ) -> Bool {
    guard let override = override(of: path, in: collectionID) else { return scope == .collection }
    return override.indexes.contains(.init(scope: scope, mode))
  }

  /// The override that applies to a field: that of the field itself, of a map it is in, or of all fields.
  private func override(of path: FieldPath, in collectionID: CollectionID) -> FirestoreIndexes.FieldOverride? {
    source.fieldOverrides.filter { override in
      CollectionID(override.collectionGroup) == collectionID && (override.path.map(path.hasPrefix) ?? true)
    }.max { ($0.path?.names.count ?? 0) < ($1.path?.names.count ?? 0) }
  }
}

extension FirestoreIndexes.Index {
  /// The name has the direction of the field before it, unless it is given.
  var isNameDescending: Bool { fields.last?.mode == .descending }
}

extension IndexDefinition {
  /// The shape that the engine makes: the index without its vectors, which are measured one by one.
  ///
  /// - Returns: `nil` when nothing is left but the name, in which order the documents are anyway.
  var shape: IndexShape? {
    let parts = fields.compactMap { field in
      IndexShape.Kind(field.mode).map { IndexShape.Part(path: field.path, kind: $0) }
    }
    if parts.isEmpty, scope == .collection || !fields.isEmpty { return nil }
    return IndexShape(
      collectionID: collectionID, isGroup: scope == .collectionGroup, parts: parts, isNameDescending: isNameDescending)
  }
}

extension FirestoreIndexes.FieldOverride {
  /// The indexes over groups; those over collections are made when they are needed, as for all fields.
  var shapes: [IndexShape] {
    guard let path else { return [] }
    return indexes.filter { $0.scope == .collectionGroup }.compactMap { index in
      guard let kind = IndexShape.Kind(index.mode) else { return nil }
      return IndexShape(
        collectionID: CollectionID(collectionGroup), isGroup: true, parts: [IndexShape.Part(path: path, kind: kind)],
        isNameDescending: kind == .descending)
    }
  }
}

extension IndexShape.Kind {
  /// - Returns: `nil` for vectors.
  init?(_ mode: FirestoreIndexes.Mode) {
    switch mode {
    case .ascending: self = .ascending
    case .descending: self = .descending
    case .contains: self = .contains
    case .vector: return nil
    }
  }
}
