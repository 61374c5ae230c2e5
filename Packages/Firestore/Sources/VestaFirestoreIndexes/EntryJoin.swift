import VestaStoreInterop

/// The entries of one alternative: the ones that all of its streams have and that pass its test.
package struct EntryJoin {
  private var streams: [EntryStream]
  private let test: SuffixTest
  /// The number of entries that it may read before it pauses.
  private var allowance = Int.max
  /// Why there was no entry the last time.
  private(set) var stop = Stop.end

  enum Stop {
    case end
    /// It may look at no more; the next call continues from there.
    case pause
    /// It has looked at as many as the call wanted; the next one continues from there.
    case slice
    /// The next entry, if there is one, is beyond the limit of the call.
    case beyond
  }

  package init(_ branch: QueryPlan.Branch, wanted: Int, in reader: any IndexedReader) {
    let isJumping = branch.scans.count > 1 || !branch.test.isEmpty
    let tuning = reader.entryTuning
    let batch = isJumping ? tuning.jumpingBatch : min(max(wanted, 1), tuning.largestBatch)
    streams = branch.scans.map { EntryStream($0, bounds: branch.bounds, batch: batch, in: reader) }
    test = branch.test
  }

  /// The number of entries that were read.
  ///
  /// Streams are looked at in place: a copy of one for each entry would cost more than the entry.
  package var scanned: Int {
    var sum = 0
    for index in streams.indices { sum += streams[index].scanned }
    return sum
  }

  /// The path key of an entry's document, and its row if the entry has it.
  func document(_ entry: EntryStream.Entry) -> (pathKey: PathKey, row: [UInt8]?) {
    (streams[0].pathKey(of: entry), streams[0].isOfDocuments ? entry.value : nil)
  }

  /// Whether its entries are one stream's, so that they can be counted without looking at them.
  package var isPlain: Bool { streams.count == 1 && test.isEmpty }

  /// The first entry; each stream in turn jumps to where another one is.
  ///
  /// - Parameters:
  ///   - limit: An entry after this one is of no interest.
  ///   - slice: How many entries this call may look at.
  /// - Returns: `nil` where there is none; `stop` says why.
  mutating func head(upTo limit: [UInt8]? = nil, lookingAt slice: Int = .max) async throws -> EntryStream.Entry? {
    stop = .end
    let (end, isOverflow) = scanned.addingReportingOverflow(slice)
    let most = min(allowance, isOverflow ? .max : end)
    while let entry = try await meeting(upTo: limit, most) {
      if test.isEmpty { return entry }
      if isBeyond(entry.suffix, limit) { return nil }
      switch test.verdict(entry.suffix) {
      case .fits: return entry
      case .seek(let suffix): streams[0].seek(suffix)
      case .end: return nil
      }
    }
    return nil
  }

  private mutating func meeting(upTo limit: [UInt8]?, _ most: Int) async throws -> EntryStream.Entry? {
    if mustStop(most) { return nil }
    guard var best = try await streams[0].head() else { return nil }
    if streams.count == 1 { return best }
    var agreed = 1
    var index = 0
    while agreed < streams.count {
      if mustStop(most) || isBeyond(best.suffix, limit) { return nil }
      index = (index + 1) % streams.count
      streams[index].seek(best.suffix)
      guard let entry = try await streams[index].head() else { return nil }
      if entry.suffix == best.suffix {
        agreed += 1
      } else {
        best = entry
        agreed = 1
      }
    }
    // The entries of the first stream say where the documents are.
    return index == 0 ? best : try await streams[0].head()
  }

  /// Says how many entries it may look at in all before a pause.
  mutating func allow(_ entries: Int) { (allowance, stop) = (entries, .end) }

  private mutating func mustStop(_ most: Int) -> Bool {
    guard scanned > most else { return false }
    stop = scanned > allowance ? .pause : .slice
    return true
  }

  private mutating func isBeyond(_ suffix: [UInt8], _ limit: [UInt8]?) -> Bool {
    guard let limit, limit.lexicographicallyPrecedes(suffix) else { return false }
    stop = .beyond
    return true
  }

  package mutating func advance() {
    for index in streams.indices { streams[index].advance() }
  }

  package mutating func count(atMost limit: Int) async throws -> Int { try await streams[0].count(atMost: limit) }
}

/// The entries of all alternatives in the order of the query, each once though several have it.
package struct EntryUnion {
  private var joins: [EntryJoin]
  private let firstSlice: Int

  package init(_ plan: QueryPlan, wanted: Int, in reader: any IndexedReader) {
    joins = plan.branches.map { EntryJoin($0, wanted: wanted, in: reader) }
    firstSlice = reader.entryTuning.slice
  }

  /// The number of entries that were read.
  package var scanned: Int {
    var sum = 0
    for index in joins.indices { sum += joins[index].scanned }
    return sum
  }

  /// Whether the last call has stopped because no more entries may be looked at.
  package var isPaused: Bool { joins.contains { $0.stop == .pause } }

  /// Says how many entries may be looked at in all before a pause.
  package mutating func allow(_ entries: Int) {
    for index in joins.indices { joins[index].allow(joins.count == 1 ? entries : max(8, entries / joins.count)) }
  }

  /// The next entry, and the number of an alternative that has it.
  ///
  /// - Returns: `nil` at the end, and at a pause.
  package mutating func next() async throws -> (entry: EntryStream.Entry, branch: Int)? {
    if joins.count == 1 {
      guard let entry = try await joins[0].head() else { return nil }
      joins[0].advance()
      return (entry, 0)
    }
    var first: (entry: EntryStream.Entry, branch: Int)?
    var same: [Int] = []
    // An alternative may look at many entries to find one that fits. It needs to look no further than the first one
    // that another alternative has, so all of them look in slices that grow.
    var open = Array(joins.indices)
    var slice = firstSlice
    while !open.isEmpty {
      var rest: [Int] = []
      for index in open {
        guard let head = try await joins[index].head(upTo: first?.entry.suffix, lookingAt: slice) else {
          if joins[index].stop == .pause { return nil }
          if joins[index].stop == .slice { rest.append(index) }
          continue
        }
        if let known = first {
          if known.entry.suffix == head.suffix {
            same.append(index)
            continue
          }
          guard head.suffix.lexicographicallyPrecedes(known.entry.suffix) else { continue }
        }
        first = (head, index)
        same = [index]
      }
      open = rest
      slice = slice > .max / 2 ? slice : 2 * slice
    }
    for index in same { joins[index].advance() }
    return first
  }

  /// Returns the path key of an entry's document, and its row if the entry has it.
  package func document(_ entry: EntryStream.Entry, _ branch: Int) -> (pathKey: PathKey, row: [UInt8]?) {
    joins[branch].document(entry)
  }

  /// Counts the entries from here on, or up to the next pause.
  package mutating func count(atMost limit: Int) async throws -> Int {
    if joins.count == 1, joins[0].isPlain { return try await joins[0].count(atMost: limit) }
    var count = 0
    while count < limit, try await next() != nil { count += 1 }
    return count
  }
}
