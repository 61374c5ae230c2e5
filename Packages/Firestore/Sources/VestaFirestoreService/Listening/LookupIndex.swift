import VestaFirestoreIndexes

/// The targets of queries by the documents that a guard looked up to allow them.
///
/// A guard that is asked about a query may look at documents which the query does not return, such as the members of a
/// room. When one of them changes, the answer may be another one.
///
/// Example: ada's target 2, the messages of a room, was allowed as `rooms/x/members/ada` was there. When that document
/// is deleted, the guard is asked about target 2 again, before anything is sent.
struct LookupIndex {
  /// A target of a call.
  struct Place: Hashable {
    let call: WatchCallID
    let target: Int32
  }

  private var places: [PathKey: Set<Place>] = [:]
  private var lookedUp: [Place: Set<PathKey>] = [:]

  var isEmpty: Bool { lookedUp.isEmpty }

  /// Notes the documents that the latest answer about a target is based on, in place of earlier ones.
  mutating func set(_ pathKeys: Set<PathKey>, for place: Place) {
    remove(place)
    if pathKeys.isEmpty { return }
    lookedUp[place] = pathKeys
    for pathKey in pathKeys { places[pathKey, default: []].insert(place) }
  }

  /// Forgets a target.
  mutating func remove(_ place: Place) {
    for pathKey in lookedUp.removeValue(forKey: place) ?? [] {
      places[pathKey]?.remove(place)
      if places[pathKey]?.isEmpty == true { places[pathKey] = nil }
    }
  }

  /// The targets whose answers are based on some of the documents.
  func places(of pathKeys: some Sequence<PathKey>) -> Set<Place> {
    if isEmpty { return [] }
    return pathKeys.reduce(into: []) { found, pathKey in
      if let places = places[pathKey] { found.formUnion(places) }
    }
  }
}
