import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// Production's rules about the indexes that queries need: a function of the query and of what is declared.
///
/// An index can serve an alternative of a query if it ends with what is ordered by, in the same directions, and begins
/// with fields that are asked for by equality. Several that end alike are merged, so that equalities alone need indexes
/// of single fields, which every field of a collection has. Nothing is read backwards.
struct IndexRules {
  let declared: DeclaredIndexes

  /// The index that an alternative lacks.
  enum Finding: Equatable {
    /// An index that is not declared.
    case missing(IndexDefinition)
    /// An index of one field, which every field has unless it is exempt, or which groups do not have by themselves.
    case missingField(IndexDefinition)
    /// A vector index.
    case missingVector(IndexDefinition)
  }

  /// The declared indexes that a query counts on; missing ones as findings.
  func verdict(on query: NormalQuery, figures: [FieldPath] = []) -> (used: [IndexDefinition], findings: [Finding]) {
    guard let collectionID = query.collectionID else { return ([], []) }
    var used: [IndexDefinition] = []
    var findings: [Finding] = []
    let query = figures.isEmpty ? query : query.ordered(alsoBy: figures)
    for conjunction in query.filter.conjunctions {
      let wanted = Wanted(conjunction, query, collectionID)
      switch choice(for: wanted) {
      case .success(let indexes): used += indexes.filter { !used.contains($0) }
      case .failure(let lack): if !findings.contains(lack.finding) { findings.append(lack.finding) }
      }
    }
    return (used, findings)
  }

  private struct Lack: Error {
    let finding: Finding
  }

  /// The needs of an alternative.
  private struct Wanted {
    let collectionID: CollectionID
    let scope: FirestoreIndexes.Scope
    var equal: [FieldPath] = []
    var contained: [FieldPath] = []
    var suffix: [IndexDefinition.Field] = []
    let isNameDescending: Bool
    var vector: IndexDefinition.Field?

    init(_ conjunction: [Predicate], _ query: NormalQuery, _ collectionID: CollectionID) {
      self.collectionID = collectionID
      scope = query.allDescendants ? .collectionGroup : .collection
      for predicate in conjunction where !predicate.path.isDocumentName {
        switch predicate.test {
        case .equal: if !equal.contains(predicate.path) { equal.append(predicate.path) }
        case .contains: if !contained.contains(predicate.path) { contained.append(predicate.path) }
        case .compare, .notIn: continue
        }
      }
      equal.sort()
      isNameDescending = query.orders.first { $0.path.isDocumentName }?.descending ?? false
      for order in query.orders where !order.path.isDocumentName && !equal.contains(order.path) {
        suffix.append(IndexDefinition.Field(order.path, order.descending ? .descending : .ascending))
      }
      if let search = query.findNearest, let path = try? FieldPath(parsing: search.vectorField) {
        let dimension = NearestVectors.dimension(of: search.queryVector)
        vector = IndexDefinition.Field(path, .vector(dimension: dimension))
      }
    }

    /// The one index that has all of it.
    var whole: IndexDefinition {
      let head =
        equal.map { IndexDefinition.Field($0, .ascending) } + contained.map { IndexDefinition.Field($0, .contains) }
      return IndexDefinition(
        collectionID: collectionID, scope: scope, fields: head + suffix + [vector].compactMap(\.self),
        isNameDescending: isNameDescending)
    }
  }

  private func choice(for wanted: Wanted) -> Result<[IndexDefinition], Lack> {
    if wanted.vector != nil { return vectorIndex(for: wanted) }
    let asked = wanted.equal.count + wanted.contained.count
    if asked == 0, wanted.suffix.isEmpty, !wanted.isNameDescending { return .success([]) }
    let composites = declared.source.indexes.compactMap { index in covered(by: index, wanted) }
    if let whole = composites.first(where: { $0.paths.count == asked }) { return .success([whole.index]) }
    // Indexes of single fields first: they are always ready.
    var rest = Set(wanted.equal.map { Asked(path: $0, isElement: false) })
    rest.formUnion(wanted.contained.map { Asked(path: $0, isElement: true) })
    let single = rest.filter { hasField($0, wanted) }
    if asked == 0, let only = wanted.suffix.first, wanted.suffix.count == 1, hasOrder(only, wanted) {
      return .success([])
    }
    rest.subtract(single)
    var used: [IndexDefinition] = []
    while !rest.isEmpty {
      guard let best = composites.max(by: { $0.paths.intersection(rest).count < $1.paths.intersection(rest).count }),
        !best.paths.isDisjoint(with: rest)
      else { return .failure(Lack(finding: finding(wanted, rest))) }
      used.append(best.index)
      rest.subtract(best.paths)
    }
    if asked == 0 { return .failure(Lack(finding: finding(wanted, rest))) }
    return .success(used)
  }

  private struct Asked: Hashable {
    var path: FieldPath
    var isElement: Bool
  }

  /// Returns the part of the needs that a declared index serves; `nil` when it cannot be used.
  private func covered(
    by index: FirestoreIndexes.Index, _ wanted: Wanted
  ) -> (index: IndexDefinition, paths: Set<Asked>)? {
    let definition = IndexDefinition(index)
    guard definition.collectionID == wanted.collectionID, definition.scope == wanted.scope,
      definition.isNameDescending == wanted.isNameDescending, definition.fields.count >= wanted.suffix.count,
      Array(definition.fields.suffix(wanted.suffix.count)) == wanted.suffix
    else { return nil }
    var paths: Set<Asked> = []
    for field in definition.fields.dropLast(wanted.suffix.count) {
      let isElement = field.mode == .contains
      guard (isElement ? wanted.contained : wanted.equal).contains(field.path), !field.isVector else { return nil }
      paths.insert(Asked(path: field.path, isElement: isElement))
    }
    return (definition, paths)
  }

  /// Whether an index of one field alone serves the conditions on that field.
  private func hasField(_ asked: Asked, _ wanted: Wanted) -> Bool {
    guard wanted.suffix.isEmpty else { return false }
    let mode: FirestoreIndexes.Mode =
      asked.isElement ? .contains : wanted.isNameDescending ? .descending : .ascending
    if asked.isElement, wanted.isNameDescending { return false }
    return declared.hasField(asked.path, mode, in: wanted.collectionID, wanted.scope)
  }

  private func hasOrder(_ field: IndexDefinition.Field, _ wanted: Wanted) -> Bool {
    (field.mode == .descending) == wanted.isNameDescending
      && declared.hasField(field.path, field.mode, in: wanted.collectionID, wanted.scope)
  }

  private func finding(_ wanted: Wanted, _ rest: Set<Asked>) -> Finding {
    let whole = wanted.whole
    var fields = whole.fields
    // Equalities alone are merged, so the fields without an index are what is missing.
    if wanted.suffix.isEmpty {
      fields = fields.filter { rest.contains(Asked(path: $0.path, isElement: $0.mode == .contains)) }
    }
    guard let first = fields.first, fields.count == 1 || wanted.suffix.isEmpty,
      !(first.mode == .contains && wanted.isNameDescending),
      first.mode == .contains || wanted.suffix.isEmpty || (first.mode == .descending) == wanted.isNameDescending
    else { return .missing(whole) }
    var field = first
    if wanted.suffix.isEmpty, wanted.isNameDescending { field.mode = .descending }
    return .missingField(
      IndexDefinition(
        collectionID: whole.collectionID, scope: whole.scope, fields: [field],
        isNameDescending: field.mode == .descending))
  }

  private func vectorIndex(for wanted: Wanted) -> Result<[IndexDefinition], Lack> {
    let whole = wanted.whole
    for index in declared.source.indexes {
      let definition = IndexDefinition(index)
      guard definition.collectionID == wanted.collectionID, definition.scope == wanted.scope,
        definition.fields.last == wanted.vector
      else { continue }
      let head = Set(definition.fields.dropLast().map { Asked(path: $0.path, isElement: $0.mode == .contains) })
      let asked = whole.fields.dropLast().map { Asked(path: $0.path, isElement: $0.mode == .contains) }
      if head == Set(asked) { return .success([definition]) }
    }
    return .failure(Lack(finding: .missingVector(whole)))
  }
}

extension NearestVectors {
  /// Returns the number of a vector's elements; zero for other values.
  static func dimension(of value: Value) -> Int { value.vectorElements?.count ?? 0 }
}
