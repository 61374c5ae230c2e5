package import VestaFirestoreModel
package import VestaStoreInterop

/// The position of a document in the order of keys; see `Keys`.
package struct PathKey: Hashable, Sendable {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// The path key of a document by its path.
  package init(_ path: ResourcePath) {
    var key = KeyEncoder(continuing: PathKey.prefix(of: path.parent))
    key.append(segment: path.lastSegment)
    bytes = key.bytes
  }

  /// Returns the prefix of the path keys of a collection's documents.
  package static func prefix(of collection: ResourcePath) -> [UInt8] {
    var key = KeyEncoder()
    key.append(path: collection)
    key.appendNull()
    return key.bytes
  }

  /// The prefix of the path keys of all documents of the same collection.
  package var collectionPrefix: [UInt8] { Array(PathKey.collectionPrefix(in: bytes[...])) }

  /// The part of a path key, or of what follows it in a key, up to the null after the collection.
  package static func collectionPrefix(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var index = bytes.startIndex
    while index < bytes.endIndex {
      switch bytes[index] {
      case 0x01: return bytes[...index]
      case 0x10...0x20: index += 1 + abs(Int(bytes[index]) - 0x18)
      default:
        // A string: it ends with a zero byte that is followed by a one.
        index += 1
        while index + 1 < bytes.endIndex, bytes[index] != 0 || bytes[index + 1] != 0x01 { index += 1 }
        index += 2
      }
    }
    return bytes
  }

  /// The identifier of the collection whose path keys begin with these bytes.
  ///
  /// - Throws: `BytesError.Code.malformed`.
  package static func collectionID(ofPrefix prefix: [UInt8]) throws -> CollectionID {
    guard let last = try KeyDecoder.elements(of: prefix).dropLast().last else { return "" }
    return CollectionID(try segment(last))
  }

  /// The path of the document.
  ///
  /// - Throws: `StoreError.Code.malformedKey`.
  package func path() throws -> ResourcePath {
    var segments: [String] = []
    for element in try KeyDecoder.elements(of: bytes) {
      switch element {
      case .null: continue
      default: segments.append(try PathKey.segment(element))
      }
    }
    return ResourcePath(segments)
  }

  /// The path segment of an element of a key.
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
