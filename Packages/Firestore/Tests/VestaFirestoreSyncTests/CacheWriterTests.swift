import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreSync

/// When rows of the cache are written.
@Suite(.timeLimit(.minutes(5))) struct CacheWriterTests {
  private let clock = ManualClock()
  private let store = ModelStore()
  /// An entry for each commit.
  private let commits = Log<Void>()

  private func writer() -> CacheWriter {
    var options = SyncOptions()
    options.clock = clock.service
    options.tuning.cacheSeconds = 0.5
    let open = { @Sendable [store, commits] () async throws -> any OrderedStore in
      commits.add(())
      return store
    }
    return CacheWriter(open: open, prefix: [], options: options)
  }

  private func row(_ key: [UInt8]) -> CacheRow { CacheRow(key: key, value: [1]) }

  private func keys() async throws -> [[UInt8]] {
    try await store.read { reader in
      var keys: [[UInt8]] = []
      for key: [UInt8] in [[1], [2, 7], [3, 1], [3, 2]] where try await reader.get(key) != nil { keys.append(key) }
      return keys
    }
  }

  @Test func `rows of documents are written together after their time`() async throws {
    let writer = writer()
    writer.write([row([3, 1])])
    clock.advance(by: .milliseconds(499))
    writer.write([row([3, 2])])
    #expect(commits.entries.isEmpty && clock.deadlines.count == 1)
    clock.advance(by: .milliseconds(1))
    try await writer.flush()
    #expect(try await keys() == [[3, 1], [3, 2]])
    #expect(commits.entries.count == 1)
  }

  @Test func `rows of a pending write are written at once, with the rows before them`() async throws {
    let writer = writer()
    writer.write([row([3, 1])])
    writer.write([row([2, 7])])
    await commits.wait { !$0.isEmpty }
    try await writer.flush()
    #expect(try await keys() == [[2, 7], [3, 1]])
    #expect(commits.entries.count == 1)
  }

  @Test func `rows are not written before the writer begins, and a flush begins`() async throws {
    let writer = writer()
    writer.add([row([2, 7])])
    #expect(commits.entries.isEmpty && clock.deadlines.isEmpty)
    try await writer.flush()
    #expect(try await keys() == [[2, 7]])
    writer.begin()
    #expect(clock.deadlines.isEmpty)
  }
}
