import CVestaStoreTrace
import VestaTesting

/// The calls of SQLite on the files of a store.
struct FileTrace {
  enum Event: Equatable {
    case created(String)
    case written(String, at: Int, [UInt8])
    case cut(String, to: Int)
    case synced(String)
    case deleted(String, isDurable: Bool)
    /// Something that the test has noted: a transaction was acknowledged, or the store is open.
    case marked(Int)
  }

  let events: [Event]

  /// Records what happens to the files of stores below a directory while `body` runs; one recording at a time.
  static func record(below directory: String, _ body: () async throws -> Void) async throws -> FileTrace {
    guard store_trace_begin(directory) == 0 else { throw Failure() }
    do {
      try await body()
    } catch {
      _ = store_trace_end()
      throw error
    }
    return FileTrace(events: (0..<store_trace_end()).map { event(store_trace_event_at($0)) })
  }

  static func mark(_ number: Int) { store_trace_mark(Int64(number)) }

  private static func event(_ event: store_trace_event) -> Event {
    let path = event.path.map { String(cString: $0) } ?? ""
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    return switch Int(event.kind) {
    case STORE_TRACE_CREATE: .created(name)
    case STORE_TRACE_WRITE:
      // Unsafe buffer, copied at once: the recording owns the bytes.
      .written(name, at: Int(event.offset), Array(UnsafeBufferPointer(start: event.bytes, count: Int(event.length))))
    case STORE_TRACE_TRUNCATE: .cut(name, to: Int(event.offset))
    case STORE_TRACE_SYNC: .synced(name)
    case STORE_TRACE_DELETE: .deleted(name, isDurable: event.offset != 0)
    default: .marked(Int(event.offset))
    }
  }
}

/// Works out what a loss of power leaves of files; pure.
///
/// A sync makes the bytes of its file durable. Of later writes, any sector may have reached the disk and any other not,
/// in any order; a file that was to be cut may have been or not. Names are durable once their directory was synced,
/// which SQLite does with the first sync of a log and when it deletes a journal; until then the disk has the first few
/// of the changes of names.
struct PowerLoss {
  private struct File {
    var durable: [UInt8] = []
    var pending: [Change] = []

    mutating func sync() {
      for change in pending { change.apply(to: &durable) }
      pending = []
    }
  }

  private enum Change {
    case written(Int, [UInt8])
    case cut(Int)

    func apply(to bytes: inout [UInt8]) {
      switch self {
      case .written(let offset, let new):
        PowerLoss.extend(&bytes, to: offset + new.count)
        bytes.replaceSubrange(offset..<(offset + new.count), with: new)
      case .cut(let size):
        PowerLoss.extend(&bytes, to: size)
        bytes.removeLast(bytes.count - size)
      }
    }
  }

  private enum NameChange { case created(String), deleted(String) }

  private var files: [String: File]
  private var names: Set<String>
  private var pendingNames: [NameChange] = []
  private var synced: Set<String> = []

  /// Plays events.
  ///
  /// - Parameters:
  ///   - events: The events until the power was lost.
  ///   - existing: The file that is there before, and whose name is not durable yet.
  ///   - ignoresSyncs: Of which files syncs do nothing, as with a store that does not sync them.
  init(
    after events: ArraySlice<FileTrace.Event>, existing: String,
    ignoringSyncs ignoresSyncs: (String) -> Bool = { _ in false }
  ) {
    files = [existing: File()]
    names = []
    pendingNames = [.created(existing)]
    for event in events {
      switch event {
      case .created(let name):
        files[name] = File()
        pendingNames.append(.created(name))
      case .written(let name, let offset, let bytes): files[name]?.pending.append(.written(offset, bytes))
      case .cut(let name, let size): files[name]?.pending.append(.cut(size))
      case .synced(let name):
        if name != existing, synced.insert(name).inserted { syncNames() }
        if !ignoresSyncs(name) { files[name]?.sync() }
      case .deleted(let name, let isDurable):
        pendingNames.append(.deleted(name))
        synced.remove(name)
        if isDurable { syncNames() }
      case .marked: break
      }
    }
  }

  private mutating func syncNames() {
    for change in pendingNames { apply(change) }
    pendingNames = []
  }

  private mutating func apply(_ change: NameChange) {
    switch change {
    case .created(let name): names.insert(name)
    case .deleted(let name): names.remove(name)
    }
  }

  /// The files that are there when the power is back.
  func image(_ random: inout SplitMix) -> [String: [UInt8]] {
    var copy = self
    for change in pendingNames.prefix(random.below(pendingNames.count + 1)) { copy.apply(change) }
    let (arrived, sector) = ([0, 10, 50, 90, 100][random.below(5)], [512, 4_096][random.below(2)])
    return copy.files.filter { copy.names.contains($0.key) }.sorted { $0.key < $1.key }.reduce(into: [:]) {
      image, file in
      var bytes = file.value.durable
      for change in file.value.pending { Self.apply(change, to: &bytes, arrived: arrived, sector: sector, &random) }
      image[file.key] = bytes
    }
  }

  private static func apply(
    _ change: Change, to bytes: inout [UInt8], arrived: Int, sector: Int, _ random: inout SplitMix
  ) {
    guard case .written(let offset, let new) = change else {
      if random.oneIn(2) { change.apply(to: &bytes) }
      return
    }
    var start = 0
    while start < new.count {
      let end = min(new.count, start + sector - (offset + start) % sector)
      if random.below(100) < arrived {
        Change.written(offset + start, Array(new[start..<end])).apply(to: &bytes)
      } else if random.oneIn(5) {
        // The file has grown, and the bytes have not arrived.
        extend(&bytes, to: offset + end)
      }
      start = end
    }
  }

  private static func extend(_ bytes: inout [UInt8], to count: Int) {
    if bytes.count < count { bytes += [UInt8](repeating: 0, count: count - bytes.count) }
  }
}
