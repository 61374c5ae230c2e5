import Foundation
import StorageHarness
import Testing
import VestaCore
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageBackendFakes
import VestaTesting

@testable import VestaStorage

/// The stream of an object's chunks: when it opens the object, what it yields, and that it closes it, however it ends.
@Suite struct ContentsTests {
  /// An object behind a spy.
  private struct Spied {
    let reference: StorageReference
    let opened: Log<Int>
    let closed: Log<Int>
    let app: VestaApp

    /// Whether everything that was opened is closed.
    var isClosed: Bool { !opened.entries.isEmpty && closed.entries.count >= opened.entries.count }

    /// Waits for that.
    func end() async {
      let count = opened.entries.count
      await closed.wait { $0.count >= count }
    }
  }

  private static let length = 2_000_000
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func spied(
    failing: @escaping @Sendable (HookedStorageBackend.Call) throws -> Void = { _ in }
  ) async throws -> Spied {
    let harness = try StorageHarness(directory: directory.path)
    _ = try await harness.storage.reference(withPath: "a").putDataAsync(ClientTests.data(Self.length))
    let (opened, closed) = (Log<Int>(), Log<Int>())
    let hooked = HookedStorageBackend(harness.backend, whenClosed: { closed.add(1) }) { call, moment in
      if call == .open, moment == .after { opened.add(1) }
      if moment == .before { try failing(call) }
    }
    let caller = StorageCaller(backend: hooked, auth: nil, appCheck: nil, clock: .system)
    let storage = Storage(app: harness.app, bucket: "test-bucket", caller: caller)
    return Spied(reference: storage.reference(withPath: "a"), opened: opened, closed: closed, app: harness.app)
  }

  @Test func `the object is opened by the first read, its bytes arrive in order, and it is closed at the end`()
    async throws
  {
    let object = try await spied()
    var iterator = object.reference.contents(chunkSize: 100_000).makeAsyncIterator()
    #expect(object.opened.entries.isEmpty)
    var data = Data()
    while let chunk = try await iterator.next() {
      data += chunk
      #expect(object.opened.entries.count == 1)
    }
    #expect(data == ClientTests.data(Self.length))
    #expect(object.isClosed)
    let after = try await iterator.next()
    #expect(after == nil)
    await object.app.delete()
  }

  @Test func `an error is thrown once, and the object is closed`() async throws {
    let reads = Log<Int>()
    let object = try await spied { call in
      guard call == .read else { return }
      reads.add(1)
      if reads.entries.count == 3 { throw StorageServiceError(.permissionDenied, "No more.") }
    }
    var iterator = object.reference.contents(chunkSize: 100_000).makeAsyncIterator()
    for _ in 0..<2 {
      let chunk = try await iterator.next()
      #expect(chunk?.count == 100_000)
    }
    do {
      _ = try await iterator.next()
      Issue.record("no error")
    } catch let error as StorageError {
      #expect(error.code == .unauthorized)
    }
    #expect(object.isClosed)
    let after = try await iterator.next()
    #expect(after == nil)
    await object.app.delete()
  }

  @Test func `leaving the loop closes the object`() async throws {
    let object = try await spied()
    for try await _ in object.reference.contents(chunkSize: 100_000) { break }
    await object.end()
    #expect(object.opened.entries.count == 1)
    await object.app.delete()
  }

  @Test func `dropping the iterator closes the object`() async throws {
    let object = try await spied()
    do {
      var iterator = object.reference.contents(chunkSize: 100_000).makeAsyncIterator()
      _ = try await iterator.next()
    }
    await object.end()
    await object.app.delete()
  }

  @Test func `cancelling the reader's task ends the stream and closes the object`() async throws {
    let object = try await spied()
    let first = Gate()
    let reader = Task { [reference = object.reference] in
      var count = 0
      for try await chunk in reference.contents(chunkSize: 1_000) {
        count += chunk.count
        first.open()
        while !Task.isCancelled { await Task.yield() }
      }
      return count
    }
    await first.wait()
    reader.cancel()
    let error = await #expect(throws: StorageError.self) { try await reader.value }
    #expect(error?.code == .cancelled)
    await object.end()
    await object.app.delete()
  }
}
