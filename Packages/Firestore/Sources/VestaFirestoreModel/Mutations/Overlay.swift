import VestaFirestoreBackend

/// One mutation that does to a document what all pending mutations do together.
///
/// A local document is the service's document with its overlay, so that reading it does not replay the queue.
package struct Overlay: Sendable, Hashable {
  /// The largest identifier of the batches that it combines.
  package let largestBatchID: Int
  /// The equivalent mutation, without transforms and preconditions.
  package let mutation: Mutation

  /// An overlay of one document.
  package init(largestBatchID: Int, _ mutation: Mutation) {
    self.largestBatchID = largestBatchID
    self.mutation = mutation
  }

  /// The mutation that turns the service's document into a local one.
  ///
  /// - Parameters:
  ///   - document: The document with all pending mutations.
  ///   - mutated: The fields that these have changed.
  ///   - isBaseFound: Whether the service's document is cached. Without it a patch would not say what is in the others.
  /// - Returns: `nil` when nothing is pending.
  package static func mutation(of document: CachedDocument, mutated: MutatedFields, isBaseFound: Bool = true)
    -> Mutation?
  {
    guard document.hasLocalMutations else { return nil }
    switch isBaseFound ? mutated : .all {
    case .all:
      guard let fields = document.fields else { return Mutation(document.path, .delete) }
      return Mutation(document.path, .set(fields))
    case .paths(let paths):
      return paths.isEmpty ? nil : Mutation(document.path, patch(of: document.fields ?? [:], paths))
    }
  }

  private static func patch(of fields: MapValue, _ paths: Set<FieldPath>) -> Mutation.Change {
    var values = MapValue()
    var mask: [FieldPath] = []
    for path in paths.sorted() where !mask.contains(path) {
      var path = path
      // A field that was removed from a map may have made that map: the map itself is what has to be there.
      if fields[path] == nil, path.names.count > 1 { path = FieldPath(Array(path.names.dropLast())) }
      if mask.contains(path) { continue }
      if let value = fields[path] { values.set(value, at: path) }
      mask.append(path)
    }
    return .patch(values, mask: FieldMask(mask))
  }
}
