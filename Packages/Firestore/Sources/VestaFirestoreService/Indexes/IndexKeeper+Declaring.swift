import VestaBytes
import VestaConcurrency
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaStoreInterop

/// Indexes that are declared, by the options or at run time.
extension IndexKeeper {
  /// Declares indexes in place of those before, keeps them for the next start, and makes them in the background.
  ///
  /// - Throws: `ABORTED` where the condition does not hold for those before.
  func declare(_ indexes: FirestoreIndexes, as text: String, if condition: IndexesCondition) async throws {
    let (shapes, keys, rows) = (DeclaredIndexes(indexes).shapes, keys, rows)
    try await store.write { transaction in
      let current = try await transaction.get(keys.declared).map { try DeclaredRow(fieldBytes: $0).text }
      guard condition.holds(for: current) else { throw IndexesCondition.changed }
      try await transaction.put(DeclaredRow(text: text).fieldBytes(), for: keys.declared)
      try await rows.declaring(Set(shapes)).register(shapes, used: [:], in: transaction)
      try await rows.change(in: transaction)
    }
    use(DeclaredIndexes(indexes))
    try await declare()
  }

  /// The text of what was declared at run time.
  func declaredText() async throws -> String? {
    let keys = keys
    return try await store.read { try await $0.get(keys.declared).map { try DeclaredRow(fieldBytes: $0).text } }
  }

  func use(declared bytes: [UInt8]) throws {
    let text = try DeclaredRow(fieldBytes: bytes).text
    guard let indexes = try? FirestoreIndexes(json: text), indexes != declared.source else { return }
    use(DeclaredIndexes(indexes))
  }

  func use(_ declared: DeclaredIndexes) {
    state.withLock { ($0.declared, $0.declaredShapes) = (declared, Set(declared.shapes)) }
  }

  /// Registers the declared indexes and makes the unfinished ones, in the background and one after the other.
  func declare() async throws {
    let keys = keys
    if let text = try await store.read({ try await $0.get(keys.declared) }) { try use(declared: text) }
    let declared = self.declared
    if declared.shapes.isEmpty { return }
    let known = try await store.read { try await self.catalogue(in: $0).byShape }
    let missing = declared.shapes.filter { known[$0] == nil }
    if !missing.isEmpty {
      let rows = rows
      try await store.write { try await rows.register(missing, used: [:], in: $0) }
    }
    build(declared.shapes.filter { known[$0]?.row.isReady != true })
  }
}

/// The indexes that were declared at run time, as they were sent.
private struct DeclaredRow: FieldRecord {
  var text = ""

  init() {}

  init(text: String) { self.text = text }

  mutating func visit(_ visitor: inout some RecordVisitor) throws { try visitor.field(1, &text) }
}
