import VestaFirestoreBackend
package import VestaFirestoreModel
package import VestaStoreInterop

/// Names of documents as the ends of index entries have them, ascending.
///
/// In an index over one collection that is the last segment, written as in the documents' own keys, so that the
/// documents of a collection are an index like others. In an index over a group it is the whole path.
package struct NameCoding: Hashable, Sendable {
  /// The collection; `nil` for a group.
  package let collection: ResourcePath?

  package func bytes(_ path: ResourcePath) -> [UInt8] {
    guard collection != nil else {
      var encoder = IndexEncoder()
      encoder.append(path: path)
      return encoder.bytes
    }
    var encoder = KeyEncoder()
    encoder.append(segment: path.lastSegment)
    return encoder.bytes
  }

  /// The names that have a relation to another one, which may be of a document anywhere.
  package func range(_ relation: Predicate.Relation, _ path: ResourcePath) -> KeyRange {
    switch position(of: path) {
    case .at(let name):
      let after = KeyRange(prefix: name).upper
      switch relation {
      case .less: return KeyRange(from: [], to: name)
      case .lessOrEqual: return KeyRange(from: [], to: after)
      case .greater: return KeyRange(from: after ?? name, to: nil)
      case .greaterOrEqual: return KeyRange(from: name, to: nil)
      }
    case .behind(let name):
      let after = KeyRange(prefix: name).upper
      switch relation {
      case .less, .lessOrEqual: return KeyRange(from: [], to: after)
      case .greater, .greaterOrEqual: return KeyRange(from: after ?? name, to: nil)
      }
    case .first: return relation == .less || relation == .lessOrEqual ? .nothing : .all
    case .last: return relation == .less || relation == .lessOrEqual ? .all : .nothing
    }
  }

  /// The bytes of a name that is one of these; `nil` for a document elsewhere.
  package func exact(_ path: ResourcePath) -> [UInt8]? {
    if case .at(let name) = position(of: path) { return name }
    return nil
  }

  private enum Position {
    case at([UInt8])
    /// Right after a name, before the next one.
    case behind([UInt8])
    case first
    case last
  }

  private func position(of path: ResourcePath) -> Position {
    guard let collection else { return .at(bytes(path)) }
    let count = collection.segments.count
    guard path.hasPrefix(collection), path.segments.count > count else { return path < collection ? .first : .last }
    let name = bytes(ResourcePath(Array(path.segments.prefix(count + 1))))
    return path.segments.count == count + 1 ? .at(name) : .behind(name)
  }
}
