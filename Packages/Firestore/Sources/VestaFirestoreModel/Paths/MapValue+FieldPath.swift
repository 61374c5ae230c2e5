package import VestaFirestoreBackend

extension MapValue {
  /// The value at a path; `nil` where there is none, or something else than a map is on the way.
  package subscript(path: FieldPath) -> Value? { value(at: path.names[...]) }

  private func value(at names: ArraySlice<String>) -> Value? {
    guard let first = names.first, let value = self[first] else { return nil }
    if names.count == 1 { return value }
    guard case .map(let map) = value else { return nil }
    return map.value(at: names.dropFirst())
  }

  /// Puts a value at a path; a value on the way that is no map becomes one.
  package mutating func set(_ value: Value, at path: FieldPath) { set(value, at: path.names[...]) }

  private mutating func set(_ value: Value, at names: ArraySlice<String>) {
    guard let first = names.first else { return }
    if names.count == 1 {
      self[first] = value
      return
    }
    guard case .map(var map)? = self[first] else {
      var map = MapValue()
      map.set(value, at: names.dropFirst())
      self[first] = .map(map)
      return
    }
    // Taken out while it is changed: a map that is shared would be copied for each of its fields.
    self[first] = .null
    map.set(value, at: names.dropFirst())
    self[first] = .map(map)
  }

  /// Takes the value at a path away; maps on the way stay, also empty ones.
  package mutating func remove(at path: FieldPath) { remove(at: path.names[...]) }

  private mutating func remove(at names: ArraySlice<String>) {
    guard let first = names.first else { return }
    if names.count == 1 {
      self[first] = nil
      return
    }
    guard case .map(var map)? = self[first] else { return }
    self[first] = .null
    map.remove(at: names.dropFirst())
    self[first] = .map(map)
  }

  /// Returns the values at the paths, with the maps on the way.
  package func projected(to paths: [FieldPath]) -> MapValue {
    var result = MapValue()
    // Shorter paths go last: they bring all of a map of which a longer one took a part.
    for path in paths.sorted(by: { $0.names.count > $1.names.count }) {
      if let value = self[path] { result.set(value, at: path) }
    }
    return result
  }
}
