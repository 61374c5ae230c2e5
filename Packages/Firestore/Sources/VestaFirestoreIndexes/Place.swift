package import VestaFirestoreModel
package import VestaStoreInterop

/// Where a document stands, as its key has it; see `Keys`.
package struct Place: Hashable, Sendable {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// The place of a document by its path.
  package init(_ path: ResourcePath) {
    var key = KeyEncoder(continuing: Place.prefix(of: path.parent))
    key.append(segment: path.lastSegment)
    bytes = key.bytes
  }

  /// What the places of a collection's documents begin with.
  package static func prefix(of collection: ResourcePath) -> [UInt8] {
    var key = KeyEncoder()
    key.append(path: collection)
    key.appendNull()
    return key.bytes
  }

  /// The path of the document.
  ///
  /// - Throws: `StoreError.Code.malformedKey`.
  package func path() throws -> ResourcePath {
    var segments: [String] = []
    for element in try KeyDecoder.elements(of: bytes) {
      switch element {
      case .null: continue
      default: segments.append(try Place.segment(element))
      }
    }
    return ResourcePath(segments)
  }

  /// The segment that an element of a key stands for.
  package static func segment(_ element: KeyElement) throws -> String {
    switch element {
    case .string(let text): return text
    case .int(let number): return "__id\(number)__"
    default:
      throw StoreError(.malformedKey, operation: "read a document's key", message: "\(element) is no part of a path.")
    }
  }
}

extension KeyEncoder {
  package mutating func append(path: ResourcePath) {
    for segment in path.segments { append(segment: segment) }
  }

  package mutating func append(segment: String, _ direction: KeyDirection = .ascending) {
    if let number = ResourcePath.number(of: segment) {
      append(int: number, direction)
    } else {
      append(string: segment, direction)
    }
  }
}
