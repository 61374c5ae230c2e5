import CVestaStoreFiles
import VestaConcurrency

/// Room on the disk that is kept for transactions which make room.
///
/// A file of zeros next to the store. On a full disk it is cut, piece by piece, while such a transaction writes, and
/// the piece of the disk that becomes free is written to at once. It is filled up again when there is room.
final class StoreReserve: Sendable {
  private struct State {
    var descriptor: Int32?
    var bytes = 0
    /// Whether a transaction may take from it.
    var isLent = false
    var lastFilling: ContinuousClock.Instant?
  }

  private let tuning: StoreTuning
  private let state: Locked<State>

  /// Opens the reserve, and makes it where there is none; where that cannot be done there is no reserve.
  init(path: String, tuning: StoreTuning) {
    self.tuning = tuning
    var state = State()
    if tuning.reserveBytes > 0, let descriptor = try? Platform.openFile(path) {
      (state.descriptor, state.bytes) = (descriptor, (try? Platform.size(of: path)) ?? 0)
    }
    self.state = Locked(state)
    fill()
  }

  deinit { close() }

  func close() {
    state.withLock { state in
      if let descriptor = state.descriptor { Platform.closeFile(descriptor) }
      state.descriptor = nil
    }
  }

  /// How much there is.
  var bytes: Int { state.withLock { $0.bytes } }

  /// Lets operations take from the reserve until it ends.
  func lend<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    state.withLock { $0.isLent = true }
    defer { state.withLock { $0.isLent = false } }
    return try await body()
  }

  /// Lets operations take from the reserve until it ends.
  func lending<Result>(_ body: () throws -> Result) rethrows -> Result {
    state.withLock { $0.isLent = true }
    defer { state.withLock { $0.isLent = false } }
    return try body()
  }

  /// Gives room for a number of bytes, if it is lent and there is any left.
  ///
  /// - Returns: How many bytes of the disk have become free.
  func take(_ count: Int) -> Int32 {
    // The file is cut under the lock, so that two who ask do not count the same bytes; nothing is called back.
    state.withLock { state in
      guard state.isLent, let descriptor = state.descriptor, state.bytes > 0 else { return 0 }
      let left = max(0, state.bytes - max(count, tuning.reservePiece))
      guard Platform.cut(descriptor, to: left) else { return 0 }
      defer { state.bytes = left }
      return Int32(clamping: state.bytes - left)
    }
  }

  /// Fills the reserve up where some of it was taken, as far as there is room; not more than once in an interval.
  func fill() {
    let (wanted, now) = (tuning.reserveBytes, tuning.now())
    state.withLock { state in
      guard state.bytes < wanted, let descriptor = state.descriptor else { return }
      if let last = state.lastFilling, now - last < tuning.reserveInterval { return }
      state.lastFilling = now
      let zeros = [UInt8](repeating: 0, count: tuning.reservePiece)
      while state.bytes < wanted {
        let piece = zeros.prefix(wanted - state.bytes)
        guard store_files_take_room(Int64(piece.count)) != 0 else { return }
        guard Platform.write(piece, to: descriptor, at: state.bytes) else { return }
        state.bytes += piece.count
      }
    }
  }
}
