import VestaFirestoreModel
import VestaStoreInterop

/// Where a document stands, as its key has it; see `Keys`.
struct Place: Hashable, Sendable {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// The place of a document by its path.
  init(_ path: ResourcePath) {
    var key = KeyEncoder()
    for segment in path.segments.dropLast() { key.append(segment: segment) }
    key.appendNull()
    key.append(segment: path.lastSegment)
    bytes = key.bytes
  }

  /// The path of the document.
  ///
  /// - Throws: `StoreError.Code.malformedKey`.
  func path() throws -> ResourcePath {
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
  static func segment(_ element: KeyElement) throws -> String {
    switch element {
    case .string(let text): return text
    case .int(let number): return "__id\(number)__"
    default:
      throw StoreError(.malformedKey, operation: "read a document's key", message: "\(element) is no part of a path.")
    }
  }
}
