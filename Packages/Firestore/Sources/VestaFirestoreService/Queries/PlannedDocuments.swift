import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The documents of a plan's entries, read some at a time.
struct PlannedDocuments {
  private let snapshot: Snapshot
  private var entries: EntryUnion
  /// How many documents were read, and how many bytes they have.
  private(set) var read = 0
  private(set) var bytes = 0
  /// How many of them were read by name, besides their entries.
  private var fetched = 0

  /// - Parameter wanted: How many entries are likely to be wanted.
  init(_ plan: QueryPlan, wanted: Int, in snapshot: Snapshot) {
    self.snapshot = snapshot
    entries = EntryUnion(plan, wanted: wanted, in: snapshot)
  }

  /// How many entries were looked at.
  var scanned: Int { entries.scanned }

  /// How many rows were read.
  var cost: Int { entries.scanned + fetched }

  /// Whether the last call has stopped because no more rows may be read.
  var isPaused: Bool { entries.isPaused }

  /// Says how many rows may be read in all before a pause.
  mutating func allow(_ rows: Int) { entries.allow(rows == .max ? .max : max(0, rows - fetched)) }

  /// How many documents of the size of those before are likely to fit.
  func fitting(_ room: Int) -> Int {
    let each = read == 0 ? 0 : bytes / read
    return each == 0 ? .max : max(1, room / each)
  }

  /// Passes an entry by; false at the end, and at a pause.
  mutating func skip() async throws -> Bool { try await entries.next() != nil }

  /// The next documents, read together; none at the end, and at a pause.
  ///
  /// - Returns: `nil` for an entry whose document has gone.
  mutating func next(_ count: Int) async throws -> [Document?] {
    var places: [Place] = []
    var rows: [[UInt8]?] = []
    while places.count < count, let (entry, branch) = try await entries.next() {
      let (place, row) = entries.document(entry, branch)
      if !snapshot.past.isEmpty, snapshot.past[place] != nil { continue }
      places.append(place)
      rows.append(row)
    }
    read += places.count
    let absent = places.indices.filter { rows[$0] == nil }
    if !absent.isEmpty {
      fetched += absent.count
      for (index, row) in zip(absent, try await snapshot.rows(at: absent.map { places[$0] })) { rows[index] = row }
    }
    return try zip(places, rows).map { place, row in
      guard let row else { return nil }
      bytes += row.count
      return try StoredDocument(place: place, row: row).document(in: snapshot.name)
    }
  }
}
