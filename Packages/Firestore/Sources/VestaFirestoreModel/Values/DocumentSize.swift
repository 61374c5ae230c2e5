package import VestaFirestoreBackend

/// The sizes of documents and values as the service counts them.
package enum DocumentSize {
  /// A document: its name, its fields, and 32 bytes.
  package static func size(of document: Document) -> Int {
    size(ofName: document.name) + size(of: document.fields) + 32
  }

  /// A document's name, also in a reference: each identifier of its path and 1, and 16.
  package static func size(ofName name: String) -> Int {
    // The path begins after the fifth slash. Its slashes count for 1 each, and so does the end of its last identifier.
    var slashes = 0
    var before = 0
    for byte in name.utf8 {
      before += 1
      if byte == UInt8(ascii: "/") { slashes += 1 }
      if slashes == 5 { return 16 + name.utf8.count - before + 1 }
    }
    return 16
  }

  /// A map: its names as strings, and its values.
  package static func size(of map: MapValue) -> Int {
    map.reduce(0) { $0 + $1.name.utf8.count + 1 + size(of: $1.value) }
  }

  /// A value.
  package static func size(of value: Value) -> Int {
    switch value {
    case .null, .boolean: 1
    case .integer, .double, .timestamp: 8
    case .string(let text): text.utf8.count + 1
    case .bytes(let bytes): bytes.count
    case .reference(let name): size(ofName: name)
    case .geoPoint: 16
    case .array(let values): values.reduce(0) { $0 + size(of: $1) }
    case .map(let map): size(of: map)
    }
  }
}
