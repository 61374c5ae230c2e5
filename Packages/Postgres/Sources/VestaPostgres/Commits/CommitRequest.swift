import VestaConcurrency
import VestaStoreInterop

/// A transaction whose body has returned, or a floor, on its way into the store.
final class CommitRequest: Sendable {
  enum Outcome: Sendable {
    case committed(Int64)
    /// Another commit has made it wrong: the body runs again.
    case conflict
    case failed(StoreError)
  }

  /// The changes; none for a floor.
  let version: Int64
  let changes: WriteBuffer
  let reads: ChangedKeys
  /// The snapshot that it has read; `nil` where it has read nothing.
  let readVersion: Int64?
  let isFloor: Bool
  let turn = Turn<Outcome>()
  /// When it began to wait.
  let since: ContinuousClock.Instant

  init(version: Int64, changes: WriteBuffer, reads: ChangedKeys, readVersion: Int64?, since: ContinuousClock.Instant) {
    self.version = version
    self.changes = changes
    self.reads = reads
    self.readVersion = readVersion
    self.since = since
    isFloor = false
  }

  init(floor version: Int64, since: ContinuousClock.Instant) {
    self.version = version
    changes = WriteBuffer()
    reads = ChangedKeys()
    readVersion = nil
    self.since = since
    isFloor = true
  }
}

/// A transaction that has met others too often, and is run without concurrent commits.
final class LoneTransaction: Sendable {
  /// Runs the body; `nil` where it changes nothing or throws.
  let run: @Sendable () async -> CommitRequest?
  let turn = Turn<CommitRequest.Outcome?>()

  init(_ run: @escaping @Sendable () async -> CommitRequest?) { self.run = run }
}

/// The decision about a unit: which of the waiting requests can be committed together, one after the other; pure.
struct CommitUnit {
  /// The versions that are committed, each with its changes.
  private(set) var commits: [(version: Int64, changes: ChangedKeys)] = []
  private(set) var accepted: [CommitRequest] = []
  private(set) var refused: [CommitRequest] = []
  /// All changes as one.
  private(set) var changes = WriteBuffer()
  private(set) var version: Int64
  private(set) var floor: Int64
  private(set) var hasLong: Bool

  /// Whether it raises the floor at most.
  var isEmpty: Bool { commits.isEmpty }

  /// - Parameters:
  ///   - requests: The waiting requests.
  ///   - last: The state of the store.
  ///   - log: The recent commits, up to its version.
  init(_ requests: [CommitRequest], _ last: CommitState, log: ConflictLog) {
    version = last.version
    floor = last.floor
    hasLong = last.hasLong
    for request in requests.sorted(by: { $0.version < $1.version }) { add(request, log) }
  }

  private mutating func add(_ request: CommitRequest, _ log: ConflictLog) {
    if request.isFloor {
      floor = max(floor, request.version)
      return accepted.append(request)
    }
    // No version is at or below one that was shown.
    guard request.version > max(version, floor), !hasChanged(request, log) else { return refused.append(request) }
    version = request.version
    commits.append((version, ChangedKeys(request.changes)))
    changes.add(request.changes)
    hasLong = hasLong || request.changes.putsLong
    accepted.append(request)
  }

  private func hasChanged(_ request: CommitRequest, _ log: ConflictLog) -> Bool {
    guard let readVersion = request.readVersion else { return false }
    return log.hasChanged(request.reads, since: readVersion) || commits.contains { $0.changes.meets(request.reads) }
  }

  /// The statements that make it so, the end of the transaction included.
  ///
  /// - Parameter last: The state of the store, as it is before.
  func statements(
    in schema: Schema, unit: [UInt8], _ last: CommitState, forgettingBefore horizon: Int64?
  ) -> [Statement] {
    var statements: [Statement] = changes.ranges.flatMap { schema.delete($0, hasLong: last.hasLong) }
    for areLong in hasLong ? [false, true] : [false] { statements += entries(areLong: areLong, in: schema) }
    if !commits.isEmpty {
      statements.append(
        schema.note(commits.map { ($0.version, $0.changes.bytes(upTo: schema.tuning.changedBytes)) }, unit: unit))
    }
    if let horizon { statements.append(schema.forget(before: horizon)) }
    statements.append(schema.set(CommitState(version: version, floor: floor, hasLong: hasLong)))
    statements.append(Schema.commit)
    return statements
  }

  /// The statements that delete and put the entries of one of the two tables.
  private func entries(areLong: Bool, in schema: Schema) -> [Statement] {
    let here = hasLong ? changes.values.filter { ($0.key.count > Schema.longestIndexedKey) == areLong } : changes.values
    let deleted = here.filter { $0.value == nil }.map(\.key)
    var statements = deleted.isEmpty ? [] : [schema.delete(deleted, areLong: areLong)]
    let kept = here.compactMap { key, value in value.map { (key, $0) } }
    for part in CommitUnit.parts(kept.sorted { $0.0.lexicographicallyPrecedes($1.0) }, schema.tuning) {
      statements.append(schema.put(part.map(\.0), part.map(\.1), areLong: areLong))
    }
    return statements
  }

  /// Parts of some megabytes and thousands of entries, in the order of the keys: so two units never lock rows
  /// crosswise.
  private static func parts(
    _ entries: [([UInt8], [UInt8])], _ tuning: PostgresTuning
  ) -> [ArraySlice<([UInt8], [UInt8])>] {
    var parts: [ArraySlice<([UInt8], [UInt8])>] = []
    var start = 0
    var size = 0
    for (index, entry) in entries.enumerated() {
      size += entry.0.count + entry.1.count
      if size > tuning.partBytes || index - start >= tuning.partEntries {
        parts.append(entries[start...index])
        (start, size) = (index + 1, 0)
      }
    }
    if start < entries.count { parts.append(entries[start...]) }
    return parts
  }
}
