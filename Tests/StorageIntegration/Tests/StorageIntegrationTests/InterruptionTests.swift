import Foundation
import StorageHarness
import Testing
import VestaConcurrency
import VestaCore
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageBackendFakes
import VestaTesting

@testable import VestaStorage

/// Pauses, cancellations and sessions that meet each other.
@Suite struct InterruptionTests: HookedSuite {
  let directory: TemporaryDirectory
  let harness: StorageHarness

  init() throws {
    directory = try TemporaryDirectory()
    harness = try StorageHarness(directory: directory.path + "/data")
  }

  private func file(_ name: String, _ data: Data) throws -> URL {
    let url = URL(fileURLWithPath: directory.path(of: name))
    try data.write(to: url)
    return url
  }

  @Test func `a pause while a sequence has nothing yet does not end the sequence`() async throws {
    let data = ClientTests.data(900_000)
    let (pieces, source) = AsyncStream.makeStream(of: Data.self)
    let asked = Log<Int>()
    source.yield(data[0..<300_000])
    let task = harness.storage.reference(withPath: "a").putStream(Watched(base: pieces) { asked.add(1) })
    for round in 1...2 {
      // The sequence was asked for the next piece and waits for it.
      await asked.wait { $0.count == round + 1 }
      for _ in 0..<100 { await Task.yield() }
      task.pause()
      for _ in 0..<100 { await Task.yield() }
      task.resume()
      for _ in 0..<100 { await Task.yield() }
      source.yield(data[round * 300_000..<(round + 1) * 300_000])
    }
    source.finish()
    for try await _ in task.progressUpdates {}
    #expect(try await harness.storage.reference(withPath: "a").data(maxSize: 10_000_000) == data)
  }

  @Test func `a cancelled upload of a sequence that never continues ends, and frees its session`() async throws {
    let cancelled = Gate()
    let storage = storage { call, moment in if call == .cancel, moment == .after { cancelled.open() } }
    let (pieces, source) = AsyncStream.makeStream(of: Data.self)
    source.yield(Data(count: 300_000))
    let task = storage.reference(withPath: "a").putStream(pieces)
    for try await snapshot in task.progressUpdates where snapshot.progress?.completedUnitCount ?? 0 > 0 { break }
    task.cancel()
    await #expect(throws: StorageError.self) { for try await _ in task.progressUpdates {} }
    await cancelled.wait()
    withExtendedLifetime(source) {}
  }

  @Test func `a sequence that throws CancellationError fails its upload`() async throws {
    let pieces = AsyncThrowingStream<Data, any Error>(unfolding: { throw CancellationError() })
    let task = harness.storage.reference(withPath: "a").putStream(pieces)
    let error = await #expect(throws: StorageError.self) { for try await _ in task.progressUpdates {} }
    #expect(error?.code == .cancelled)
  }

  @Test func `two uploads of one file at once have separate sessions`() async throws {
    let data = ClientTests.data(3_000_000)
    let url = try file("file", data)
    let starts = Locked(0)
    let (gate, reached) = (Gate(), Gate())
    let storage = storage { call, moment in
      if call == .start, moment == .before { starts.withLock { $0 += 1 } }
      guard call == .append, moment == .after else { return }
      reached.open()
      try await gate.pass()
    }
    let first = storage.reference(withPath: "a").putFile(from: url)
    await reached.wait()
    let second = storage.reference(withPath: "a").putFile(from: url)
    while starts.withLock({ $0 }) < 2, second.snapshot.status == .resume { await Task.yield() }
    first.cancel()
    gate.open()
    for try await _ in second.progressUpdates {}
    #expect(try await storage.reference(withPath: "a").data(maxSize: 10_000_000) == data)
    #expect(starts.withLock { $0 } == 2)
    await #expect(throws: StorageError.self) { for try await _ in first.progressUpdates {} }
  }

  @Test func `a file that is uploaded again after its object was deleted makes an object`() async throws {
    let url = try file("file", ClientTests.data(300_000))
    let reference = harness.storage.reference(withPath: "a")
    for round in 0..<12 {
      let stored = try await reference.putFileAsync(from: url)
      try await reference.delete()
      let again = try await reference.putFileAsync(from: url)
      #expect(again.generation > stored.generation, "round \(round)")
      _ = try await reference.getMetadata()
    }
  }

  @Test func `a session that was finished before the process was killed does not stand for a deleted object`()
    async throws
  {
    let url = try file("file", ClientTests.data(600_000))
    let storage = storage { _, _ in }
    let book = storage.uploads
    let kept = Log<[String: Data]>()
    let spying = self.storage { call, moment in
      guard call == .finalize, moment == .before else { return }
      kept.add(try snapshot(of: book.directory))
    }
    _ = try await spying.reference(withPath: "a").putFileAsync(from: url)
    while !(try snapshot(of: book.directory)).isEmpty { await Task.yield() }
    try await storage.reference(withPath: "a").delete()
    // As if the process had been killed after the service had finished, and before the client knew.
    for (name, data) in kept.entries.last ?? [:] { try data.write(to: book.directory.appending(path: name)) }
    let restarted = self.storage { _, _ in }
    _ = try await restarted.reference(withPath: "a").putFileAsync(from: url)
    _ = try await storage.reference(withPath: "a").getMetadata()
  }

  @Test func `interrupted uploads whose files are deleted or have changed are not continued, and forgotten`()
    async throws
  {
    let storage = storage { call, moment in
      if call == .append, moment == .before { try await Gate().pass() }
    }
    let urls = try ["same", "changed", "gone"].map { try file($0, ClientTests.data(600_000)) }
    let kept = Gate()
    let tasks = urls.map { storage.reference(withPath: $0.lastPathComponent).putFile(from: $0) }
    while try snapshot(of: storage.uploads.directory).count < 3 { await Task.yield() }
    let entries = try snapshot(of: storage.uploads.directory)
    for task in tasks { task.cancel() }
    while !(try snapshot(of: storage.uploads.directory)).isEmpty { await Task.yield() }
    for (name, data) in entries { try data.write(to: storage.uploads.directory.appending(path: name)) }
    try ClientTests.data(500_000, 9).write(to: urls[1])
    try FileManager.default.removeItem(at: urls[2])
    let next = self.storage { _, _ in }
    let resumed = next.resumeInterruptedUploads()
    #expect(resumed.map(\.snapshot.reference.fullPath) == ["same"])
    for task in resumed { for try await _ in task.progressUpdates {} }
    while !(try snapshot(of: storage.uploads.directory)).isEmpty { await Task.yield() }
    kept.open()
  }

  @Test(arguments: 0..<8) func `an upload can be paused, resumed and cancelled at every chunk`(chunk: Int) async throws
  {
    let data = ClientTests.data(2_000_000)
    let url = try file("file", data)
    for ending in ["resume", "cancel"] {
      let (reached, count) = (Gate(), Locked(0))
      let gate = Gate()
      let storage = storage { call, moment in
        guard call == .append, moment == .after,
          count.withLock({
            $0 += 1; return $0
          }) == chunk + 1
        else { return }
        reached.open()
        try await gate.pass()
      }
      let reference = storage.reference(withPath: ending)
      let task = reference.putFile(from: url)
      await reached.wait()
      task.pause()
      gate.open()
      if ending == "resume" {
        task.resume()
        for try await _ in task.progressUpdates {}
        #expect(try await reference.data(maxSize: 10_000_000) == data)
        // Eight chunks, and perhaps the one whose answer was lost.
        #expect(count.withLock { $0 } <= 9)
      } else {
        task.cancel()
        let error = await #expect(throws: StorageError.self) { for try await _ in task.progressUpdates {} }
        #expect(error?.code == .cancelled)
        await #expect(throws: StorageError.self) { try await reference.getMetadata() }
      }
    }
  }

  @Test(arguments: 0..<4) func `a download can be paused, resumed and cancelled at every chunk`(chunk: Int) async throws
  {
    let data = ClientTests.data(3_500_000)
    _ = try await harness.storage.reference(withPath: "a").putDataAsync(data)
    for ending in ["resume", "cancel"] {
      let (reached, count, gate) = (Gate(), Locked(0), Gate())
      let storage = storage { call, _ in
        guard call == .read,
          count.withLock({
            $0 += 1; return $0
          }) == chunk + 1
        else { return }
        reached.open()
        try await gate.pass()
      }
      let target = URL(fileURLWithPath: directory.path(of: ending))
      let task = storage.reference(withPath: "a").write(toFile: target)
      await reached.wait()
      task.pause()
      gate.open()
      if ending == "resume" {
        task.resume()
        for try await _ in task.progressUpdates {}
        #expect(try Data(contentsOf: target) == data)
      } else {
        task.cancel()
        await #expect(throws: StorageError.self) { for try await _ in task.progressUpdates {} }
        while try FileManager.default.contentsOfDirectory(atPath: directory.path).contains(where: {
          $0.hasSuffix(".vesta") || $0 == ending
        }) { await Task.yield() }
      }
    }
  }

  @Test(arguments: [300_000, 5_000_000])
  func `a running download that is paused and resumed at once writes the whole object`(size: Int) async throws {
    let data = ClientTests.data(size)
    let reference = harness.storage.reference(withPath: "a")
    _ = try await reference.putDataAsync(data)
    let target = URL(fileURLWithPath: directory.path(of: "target"))
    try Data("precious".utf8).write(to: target)
    let task = reference.write(toFile: target)
    let isFirst = Locked(true)
    task.observe(.progress) { snapshot in
      let isNow = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      guard isNow else { return }
      snapshot.task.pause()
      snapshot.task.resume()
    }
    for try await _ in task.progressUpdates {}
    await task.runner.cleanedUp()
    #expect(try Data(contentsOf: target) == data)
  }

  @Test func `a download that is cancelled while it reads leaves its target, also after it has settled`() async throws {
    let reference = harness.storage.reference(withPath: "a")
    _ = try await reference.putDataAsync(ClientTests.data(9_000_000))
    for form in ["task", "async", "app"] {
      let (reached, gate) = (Gate(), Gate())
      let storage = storage { call, moment in
        guard call == .read else { return }
        reached.open()
        // The service is not notified of the cancellation: the chunk arrives after it.
        await gate.wait()
      }
      let target = URL(fileURLWithPath: directory.path(of: form))
      try Data("precious".utf8).write(to: target)
      let task = storage.reference(withPath: "a").write(toFile: target)
      let caller = Task { try await task.runner.finish(nil, of: task) }
      await reached.wait()
      let closing = Task { if form == "app" { await storage.close() } }
      if form == "task" { task.cancel() }
      if form == "async" { caller.cancel() }
      let result = await caller.result
      #expect(throws: StorageError.self) { try result.get() }
      gate.open()
      await closing.value
      await task.runner.cleanedUp()
      #expect(try Data(contentsOf: target) == Data("precious".utf8), "\(form)")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: directory.path).allSatisfy { !$0.hasSuffix(".vesta") })
    }
  }

  @Test func `a callback may call every member of the task and the reference`() async throws {
    let log = Log<String>()
    let reference = harness.storage.reference(withPath: "a")
    let task = reference.putData(ClientTests.data(3_000_000))
    task.observe(.progress) { snapshot in
      snapshot.task.pause()
      snapshot.task.resume()
      snapshot.task.enqueue()
      snapshot.task.removeObserver(withHandle: snapshot.task.observe(.success) { _ in })
      _ = snapshot.task.snapshot.progress?.fractionCompleted
      snapshot.reference.child("b").putData(Data([1]))
      snapshot.reference.getMetadata { (_: Result<StorageMetadata, any Error>) in }
      log.add("progress")
    }
    task.observe(.success) { snapshot in
      snapshot.task.cancel()
      snapshot.task.removeAllObservers()
      log.add("success")
    }
    await log.wait { $0.contains("success") }
    #expect(task.snapshot.status == .success)
    #expect(log.entries.contains("progress"))
  }

  @Test func `a file that is cut or removed while it is uploaded makes no object`() async throws {
    for change in ["cut", "removed"] {
      let url = try file(change, ClientTests.data(2_000_000))
      let appended = Locked(0)
      let storage = storage { call, moment in
        guard call == .append, moment == .after,
          appended.withLock({
            $0 += 1; return $0
          }) == 2
        else { return }
        if change == "cut" {
          let handle = try FileHandle(forWritingTo: url)
          try handle.truncate(atOffset: 700_000)
          try handle.close()
        } else {
          try FileManager.default.removeItem(at: url)
        }
      }
      let reference = storage.reference(withPath: change)
      if change == "cut" {
        await #expect(throws: StorageError.self) { try await reference.putFileAsync(from: url) }
        await #expect(throws: StorageError.self) { try await reference.getMetadata() }
      } else {
        // The open file is still there as a whole.
        #expect(try await reference.putFileAsync(from: url).size == 2_000_000)
      }
    }
  }
}

private func snapshot(of directory: URL) throws -> [String: Data] {
  guard FileManager.default.fileExists(atPath: directory.path) else { return [:] }
  var files: [String: Data] = [:]
  for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name.hasSuffix(".upload") {
    files[name] = try? Data(contentsOf: directory.appending(path: name))
  }
  return files
}

/// A sequence that reports each time it is asked for an element.
private struct Watched<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable where Base.Element: Sendable {
  let base: Base
  let isAsked: @Sendable () -> Void

  func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator(), isAsked: isAsked) }

  struct Iterator: AsyncIteratorProtocol {
    var base: Base.AsyncIterator
    let isAsked: @Sendable () -> Void

    mutating func next() async throws -> Base.Element? {
      isAsked()
      return try await base.next(isolation: #isolation)
    }
  }
}

/// Downloads that continue in the next process.
@Suite struct DownloadContinuationTests {
  let directory: TemporaryDirectory
  let harness: StorageHarness
  var target: URL { URL(fileURLWithPath: directory.path(of: "target")) }

  init() throws {
    directory = try TemporaryDirectory()
    harness = try StorageHarness(directory: directory.path + "/data")
  }

  private func storage(
    _ name: String, _ hook: @escaping @Sendable (HookedStorageBackend.Call) async throws -> Void
  ) -> Storage {
    let caller = StorageCaller(
      backend: HookedStorageBackend(harness.backend) { call, _ in try await hook(call) }, auth: nil, appCheck: nil,
      clock: .system)
    return Storage(
      app: harness.app, bucket: "test-bucket", caller: caller,
      downloads: DownloadBook(directory: URL(fileURLWithPath: directory.path(of: "book"))))
  }

  /// Downloads five chunks, and then hangs as a process does that is killed.
  private func interrupted() async throws -> StorageDownloadTask {
    let (reached, reads) = (Gate(), Locked(0))
    let first = storage("first") { call in
      guard call == .read,
        reads.withLock({
          $0 += 1; return $0
        }) == 6
      else { return }
      reached.open()
      await Gate().wait()
    }
    let task = first.reference(withPath: "a").write(toFile: target)
    await reached.wait()
    return task
  }

  /// Takes the file of a hanging download away from it, as the end of its process would: the remaining file is
  /// not open anywhere.
  private func kill() throws {
    for name in try temporaries {
      let path = directory.path(of: name)
      try FileManager.default.moveItem(atPath: path, toPath: path + ".open")
      try FileManager.default.copyItem(atPath: path + ".open", toPath: path)
      try FileManager.default.removeItem(atPath: path + ".open")
    }
  }

  private var temporaries: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(".vesta") }
    }
  }

  @Test func `a download continues in the next process, and fetches the missing bytes alone`() async throws {
    let data = ClientTests.data(9_500_000)
    _ = try await harness.storage.reference(withPath: "a").putDataAsync(data)
    let hanging = try await interrupted()
    try kill()
    let reads = Locked(0)
    let next = storage("next") { call in if call == .read { reads.withLock { $0 += 1 } } }
    _ = try await next.reference(withPath: "a").writeAsync(toFile: target)
    #expect(try Data(contentsOf: target) == data)
    #expect(reads.withLock { $0 } == 5)
    #expect(try temporaries.isEmpty)
    #expect(next.downloads.entry(StorageLocation(bucket: "test-bucket", path: "a"), target.path) == nil)
    withExtendedLifetime(hanging) {}
  }

  @Test func `a download whose object was replaced, or whose file was changed, begins again`() async throws {
    for change in ["replaced", "damaged", "longer", "gone"] {
      var data = ClientTests.data(9_500_000)
      _ = try await harness.storage.reference(withPath: "a").putDataAsync(data)
      let hanging = try await interrupted()
      try kill()
      let left = try #require(try temporaries.first)
      let path = directory.path(of: left)
      switch change {
      case "replaced":
        data = ClientTests.data(7_000_000, 2)
        _ = try await harness.storage.reference(withPath: "a").putDataAsync(data)
      case "damaged": try Data(count: 3_000_000).write(to: URL(fileURLWithPath: path))
      case "longer": try Data(count: 12_000_000).write(to: URL(fileURLWithPath: path))
      default: try FileManager.default.removeItem(atPath: path)
      }
      _ = try await storage("next") { _ in }.reference(withPath: "a").writeAsync(toFile: target)
      #expect(try Data(contentsOf: target) == data, "\(change)")
      #expect(try temporaries.isEmpty, "\(change)")
      try FileManager.default.removeItem(at: target)
      withExtendedLifetime(hanging) {}
    }
  }

  @Test func `two downloads to one file at once do not share what they write`() async throws {
    let data = ClientTests.data(9_500_000)
    _ = try await harness.storage.reference(withPath: "a").putDataAsync(data)
    let storage = harness.storage
    let target = target
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { _ = try await storage.reference(withPath: "a").writeAsync(toFile: target) }
      }
      try await group.waitForAll()
    }
    #expect(try Data(contentsOf: target) == data)
    while !(try temporaries.isEmpty) { await Task.yield() }
  }
}
