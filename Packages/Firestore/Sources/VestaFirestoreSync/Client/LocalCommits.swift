import VestaConcurrency
import VestaFirestoreBackend

/// The first stages of writes: when each of them would survive the end of the process.
///
/// With rows, a write survives from its row on. Without one, because the engine in the process is about to commit it,
/// it survives from the engine's answer on, or from the rows that are made when the network is disabled or the client
/// ends.
///
/// Worked example: the engine's store is full, and a write has no row. The engine refuses the write stream; the machine
/// asks for `keepWrites`, the write gets a row, and its first stage is over when the row is durable, or has failed.
final class LocalCommits: Sendable {
  private let writer: CacheWriter?
  private let withoutRows = Locked<[CallbackID: Completion]>([:])

  init(_ writer: CacheWriter?) { self.writer = writer }

  /// How many writes wait for the engine.
  var count: Int { withoutRows.withLock { $0.count } }

  /// Makes the rows of a write, and finishes its first stage when they are durable.
  func commit(_ machine: ClientMachine, _ write: SyncWrite, _ id: CallbackID) {
    guard let writer else { return write.local.finish(nil) }
    if machine.makesRowsOfWrites { return writer.add(machine.takeRows(), completions: [write.local]) }
    withoutRows.withLock { $0[id] = write.local }
    write.remote.whenDone { [withoutRows] _ in
      // Where the engine does not take the write, it has got rows before its caller is notified.
      withoutRows.withLock { $0.removeValue(forKey: id) }?.finish(nil)
    }
  }

  /// Makes rows of the pending writes that have none.
  func keepAll(_ machine: ClientMachine) {
    let waiting = withoutRows.withLock { writes in
      defer { writes = [:] }
      return writes.sorted { $0.key < $1.key }.map(\.value)
    }
    if !waiting.isEmpty { writer?.write(machine.takeRows(), completions: waiting) }
  }
}
