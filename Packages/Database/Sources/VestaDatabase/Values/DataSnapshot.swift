public import Foundation
public import VestaDataCoding
import VestaDatabaseBackend
import VestaDatabaseModel

/// The data of a location at the time of an event or a read; it never changes.
public final class DataSnapshot: Sendable, CustomStringConvertible {
  /// The path.
  public let ref: DatabaseReference

  let indexed: IndexedNode

  init(_ ref: DatabaseReference, _ indexed: IndexedNode) {
    self.ref = ref
    self.indexed = indexed
  }

  /// The data at a path below; nothing, where nothing is.
  public func childSnapshot(forPath childPathString: String) -> DataSnapshot {
    let path = DatabasePath(childPathString)
    return DataSnapshot(ref.descendant(path), IndexedNode(indexed.node[path], index: .priority))
  }

  /// Whether there is anything at a path below.
  public func hasChild(_ childPathString: String) -> Bool { !indexed.node[DatabasePath(childPathString)].isEmpty }

  /// Whether there are children.
  public func hasChildren() -> Bool { indexed.node.childCount > 0 }

  /// Whether there is anything.
  public func exists() -> Bool { !indexed.node.isEmpty }

  /// The value with `.value` and `.priority`, as it can be written again.
  public func valueInExportFormat() -> Any? { indexed.node.exportValue }

  /// The value: dictionaries, arrays, strings, numbers; `NSNull` where nothing is.
  public var value: Any? { indexed.node.plainValue }

  /// How many children there are.
  public var childrenCount: UInt { UInt(indexed.node.childCount) }

  /// The last part of the path; empty at the root.
  public var key: String { ref.key ?? "" }

  /// The children, each a `DataSnapshot`, in the order of the query.
  public var children: NSEnumerator {
    var children: [DataSnapshot] = []
    indexed.visitChildren { key, node in
      children.append(DataSnapshot(ref.descendant(DatabasePath([key])), IndexedNode(node, index: .priority)))
      return true
    }
    return NSArray(array: children).objectEnumerator()
  }

  /// The priority; `NSNull` for none.
  public var priority: Any? { indexed.node.priority?.plainValue ?? NSNull() }

  /// Decodes the value.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - decoder: The decoder.
  /// - Throws: `DecodingError`; for a value that is not there `valueNotFound`, unless the type is optional.
  public func data<T: Decodable>(as type: T.Type, decoder: Database.Decoder = Database.Decoder()) throws -> T {
    try decoder.decode(T.self, from: value ?? NSNull())
  }

  /// The key and the value.
  public var description: String { "Snap (\(key)) \(value ?? NSNull())" }
}
