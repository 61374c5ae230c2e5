import Foundation
import Synchronization
import Testing
import VestaConcurrency
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaStorageService

/// Tasks of the program that compute on all threads of Swift's pool, until they are told to end.
private final class ComputingTasks: Sendable {
  private let isOver = Atomic(false)
  private let running = Atomic(0)
  private let outlasted = Atomic(0)
  private static let count = ProcessInfo.processInfo.activeProcessorCount

  /// Begins as many as there are cores, and waits on the calling thread until all of them run.
  func begin() {
    for _ in 0..<Self.count { Task { self.compute() } }
    while running.load(ordering: .acquiring) < Self.count {}
  }

  /// Not suspended before it is told to end, or before a test that is wrong has waited for long.
  private func compute() {
    running.add(1, ordering: .acquiringAndReleasing)
    while running.load(ordering: .acquiring) < Self.count {}
    let end = ContinuousClock.now + .seconds(20)
    while !isOver.load(ordering: .acquiring) {
      guard ContinuousClock.now < end else {
        outlasted.add(1, ordering: .acquiringAndReleasing)
        return
      }
    }
  }

  /// - Returns: Whether all of them ran until now.
  func end() -> Bool {
    isOver.store(true, ordering: .releasing)
    return outlasted.load(ordering: .acquiring) == 0
  }
}

/// The threads that the engine needs.
@Suite(.timeLimit(.minutes(10))) struct ThreadTests {
  /// In a separate process, so that other tests are not held up, and hold up nothing.
  @Test func `an upload in parts does not wait for tasks that compute on all threads of tasks`() async {
    await #expect(processExitsWith: .success) { try await Self.upload() }
  }

  private static func upload() async throws {
    let directory = try TemporaryDirectory()
    var options = StorageServiceOptions()
    (options.inlineLimit, options.checkpointInterval) = (16, 100)
    let engine = StorageEngine(
      options: options, crypto: BarredCrypto(countsBytes: true),
      content: .provided(FileBlobStore(directory: directory.path(of: "blobs"))), clock: .system,
      openStore: { ModelStore() })
    // A call before, so that the store is open.
    let name = ObjectName(bucket: "bucket", name: "a")
    _ = try await engine.putObject(UploadRequest(object: name), content: [1], context: .owner)

    // As on the event loop of a server: separate threads serve the calls.
    let serving = Task(executorPreference: BlockingPool(limit: 2)) {
      let computing = ComputingTasks()
      computing.begin()
      let id = try await engine.startUpload(UploadRequest(object: name), context: .owner)
      for part in 0..<4 {
        let bytes = [UInt8](repeating: 7, count: 150)
        _ = try await engine.appendToUpload(id, offset: Int64(part * 150), bytes: bytes, context: .owner)
      }
      let object = try await engine.finalizeUpload(id, expected: ContentDigest(), context: .owner)
      return (object, isBeforeTheirEnd: computing.end())
    }
    let (object, isBeforeTheirEnd) = try await serving.value
    // An error is the failure of an exit test.
    guard isBeforeTheirEnd, object.size == 600, object.md5 == BarredCrypto.digest(of: 600) else {
      throw StorageServiceError(.internal, "\(object), before the end of the other tasks: \(isBeforeTheirEnd)")
    }
    try await engine.close()
  }
}
