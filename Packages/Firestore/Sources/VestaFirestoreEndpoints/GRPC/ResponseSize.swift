import VestaFirestoreBackend

/// Looks at responses until they have more than a number of bytes: a document of a megabyte costs no more than a few.
struct ResponseSize {
  private var left: Int

  /// Whether responses have no more than about `limit` bytes.
  static func isSmall(_ responses: [ListenResponse], upTo limit: Int) -> Bool {
    var size = ResponseSize(left: limit)
    return responses.allSatisfy { size.hasRoom(for: $0) }
  }

  private mutating func hasRoom(for response: ListenResponse) -> Bool {
    switch response {
    case .documentChange(let change):
      take(change.document.name.utf8.count) && hasRoom(for: change.document.fields)
    case .documentDelete(let delete): take(delete.document.utf8.count)
    case .documentRemove(let remove): take(remove.document.utf8.count)
    case .filter(let filter): take(filter.unchangedNames?.bitmap.count ?? 0)
    case .targetChange: take(0)
    }
  }

  private mutating func hasRoom(for map: MapValue) -> Bool {
    for (name, value) in map {
      guard take(name.utf8.count), hasRoom(for: value) else { return false }
    }
    return true
  }

  private mutating func hasRoom(for value: Value) -> Bool {
    switch value {
    case .string(let text), .reference(let text): return take(text.utf8.count)
    case .bytes(let bytes): return take(bytes.count)
    case .array(let values):
      for value in values where !hasRoom(for: value) { return false }
      return true
    case .map(let map): return hasRoom(for: map)
    case .null, .boolean, .integer, .double, .timestamp, .geoPoint: return take(0)
    }
  }

  /// Counts what a value has besides its length, too.
  private mutating func take(_ count: Int) -> Bool {
    left -= count + 8
    return left >= 0
  }
}
