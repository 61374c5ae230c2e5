import CVestaStoreFiles
import VestaStoreInterop

/// The version of the last commit that readers see, known without reading the file.
///
/// A row with the version would be an additional page in every commit. Instead a reader looks at this value before its
/// snapshot begins and after its first read: if no commit became visible in between, the value is its version.
/// `store_stamp` says when a commit becomes visible.
///
/// Example: the value is 7. A reader reads 7, begins, gets a row, and reads 7 again: it sees version 7. Had commit 8
/// become visible in between, it would not know which of the two it sees. It begins again, with commits held up.
// Sound as @unchecked Sendable: the stamp is an atomic and a mutex, and the writer's part is the writer's alone.
final class VisibleVersion: @unchecked Sendable {
  private let stamp: OpaquePointer

  /// - Throws: `StoreError.Code.inputOutput` when there is no memory.
  init(_ version: StoreVersion, path: String) throws {
    guard let stamp = store_stamp_make(version.rawValue) else {
      throw StoreError(.inputOutput, operation: "open", path: path)
    }
    self.stamp = stamp
  }

  deinit { store_stamp_free(stamp) }

  /// The version of the last commit; `nil` while another one becomes visible.
  var settled: StoreVersion? {
    let value = store_stamp_read(stamp)
    return value & 1 == 0 ? StoreVersion(rawValue: value / 2) : nil
  }

  /// Does something short while no commit becomes visible, with the version of the last one.
  func whileSettled<Result>(_ body: (StoreVersion) throws -> Result) rethrows -> Result {
    store_stamp_enter(stamp)
    defer { store_stamp_leave(stamp) }
    return try body(StoreVersion(rawValue: store_stamp_read(stamp) / 2))
  }

  /// Learns from the syncs of a writer's log when its commits become visible.
  func watch(_ connection: Connection) throws {
    guard store_files_watch(connection.handle, stamp) == 0 else {
      throw StoreError(.inputOutput, operation: "open", path: connection.path)
    }
  }

  /// Runs a COMMIT.
  ///
  /// - Parameters:
  ///   - syncs: Whether the commit syncs the log before it becomes visible.
  ///   - commit: Returns the version that is visible now, whatever the outcome of the commit.
  func change(syncs: Bool, _ commit: () -> StoreVersion) {
    store_stamp_expect(stamp, syncs ? 1 : 0)
    store_stamp_settle(stamp, commit().rawValue)
  }
}
