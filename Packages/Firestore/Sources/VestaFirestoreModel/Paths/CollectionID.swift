import VestaFirestoreBackend

/// The identifier of collections, such as `messages` of all collections `rooms/*/messages`.
///
/// Two of them are equal when their bytes are, as keys are. Swift's `==` of strings compares by canonical equivalence,
/// and would take two collections for one.
package struct CollectionID: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  private let id: UTF8String

  /// The identifier in a string, taken as it is.
  package init(_ string: String) { id = UTF8String(string) }

  package init(rawValue: String) { self.init(rawValue) }

  package init(stringLiteral value: String) { self.init(value) }

  /// The identifier as a string.
  package var rawValue: String { id.string }

  package var description: String { rawValue }

  // Written out: the operators that the standard library has for raw values compare strings.
  package static func == (left: CollectionID, right: CollectionID) -> Bool { left.id == right.id }

  package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension ResourcePath {
  /// The identifier of the collection, if the path names one: its last segment.
  package var collectionID: CollectionID { CollectionID(lastSegment) }

  /// The path of a collection below.
  package func appending(_ id: CollectionID) -> ResourcePath { appending(id.rawValue) }
}
