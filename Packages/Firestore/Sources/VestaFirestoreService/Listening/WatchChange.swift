import FirestoreInterop
import FirestoreModel

/// A document before and after some commits.
struct WatchChange {
  let place: Place
  let path: ResourcePath
  let name: String
  let before: Document?
  let after: Document?

  var states: [Document] { [before, after].compactMap(\.self) }

  /// What is different between a version and a moment, each document once.
  static func all(after version: Int64, in snapshot: Snapshot) async throws -> [WatchChange] {
    var order: [Place] = []
    var before: [Place: [UInt8]?] = [:]
    for change in try await snapshot.changes(after: version) where before[change.place] == nil {
      before[change.place] = .some(change.before)
      order.append(change.place)
    }
    return try zip(order, try await snapshot.rows(at: order)).compactMap { place, row in
      let old = before[place] ?? nil
      guard old != nil || row != nil else { return nil }
      let path = try place.path()
      func document(_ row: [UInt8]?) throws -> Document? {
        try row.map { StoredDocument(place: place, path: path, row: try DocumentRow($0)).document(in: snapshot.name) }
      }
      return WatchChange(
        place: place, path: path, name: ResourceName(database: snapshot.name, path: path).description,
        before: try document(old), after: try document(row))
    }
  }

  /// Whether the document was in, and whether it is.
  func membership(in subject: WatchSubject) -> (wasIn: Bool, isIn: Bool) {
    (
      before.map { subject.matches($0, at: place) } ?? false,
      after.map { subject.matches($0, at: place) } ?? false
    )
  }

  func tell(_ news: inout CallNews, _ targets: [Int32], isIn: Bool) {
    if isIn, let after {
      news.add(after, at: place, to: targets)
    } else {
      news.remove(name, at: place, from: targets, document: after, isDeleted: after == nil)
    }
  }
}

/// What is different between two states of a limited query.
struct ViewDifference {
  private var added: [Place: Document] = [:]
  private var removed: [Place: (name: String, now: Document?)] = [:]

  init(from old: [Place: Document], to new: [Place: Document], in snapshot: Snapshot) async throws {
    for (place, document) in new
    where old[place]?.updateTime != document.updateTime
      || old[place]?.createTime != document.createTime
    {
      added[place] = document
    }
    let gone = old.keys.filter { new[$0] == nil }
    for (place, stored) in zip(gone, try await snapshot.documents(at: gone)) {
      removed[place] = (old[place]?.name ?? "", stored?.document(in: snapshot.name))
    }
  }

  func tell(_ news: inout CallNews, _ targets: [Int32]) {
    for (place, document) in added { news.add(document, at: place, to: targets) }
    for (place, (name, now)) in removed {
      news.remove(name, at: place, from: targets, document: now, isDeleted: now == nil)
    }
  }
}
