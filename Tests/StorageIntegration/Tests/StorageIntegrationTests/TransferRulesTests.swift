import Foundation
import StorageHarness
import Testing
import VestaConcurrency
import VestaCore
import VestaFiles
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageBackendFakes
import VestaTesting

@testable import VestaStorage

/// The remains, the state and the reports of transfers.
@Suite struct TransferRulesTests: HookedSuite {
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

  // MARK: Progress

  @Test func `the progress calls of the async forms precede their return`() async throws {
    let reference = harness.storage.reference(withPath: "a")
    let target = URL(fileURLWithPath: directory.path(of: "target"))
    for round in 0..<20 {
      let log = Log<String>()
      _ = try await reference.putDataAsync(ClientTests.data(300_000)) { _ in log.add("up") }
      log.add("put")
      _ = try await reference.writeAsync(toFile: target) { _ in log.add("down") }
      log.add("written")
      let entries = log.entries
      #expect(entries.contains("up") && entries.contains("down"), "round \(round)")
      #expect(entries.lastIndex(of: "up").map { $0 < entries.firstIndex(of: "put") ?? 0 } == true, "round \(round)")
      #expect(entries.last == "written", "round \(round)")
    }
  }

  @Test func `a snapshot reads as Firebase's`() async throws {
    let task = harness.storage.reference(withPath: "a").putData(Data([1]))
    for try await _ in task.progressUpdates {}
    #expect(task.snapshot.description == "<State: Success>")
  }

  // MARK: Uploads that continue later

  @Test func `an upload that fails for a reason that passes is continued later, and any other is not`() async throws {
    let failures: [(StorageServiceError, Bool)] = [
      (StorageServiceError(.unavailable, "away"), true), (StorageServiceError(.internal, "locked"), true),
      (StorageServiceError(.invalidArgument, "wrong"), false),
      (StorageServiceError(.resourceExhausted, "full", reason: .diskFull), false),
    ]
    for (number, (failure, isKept)) in failures.enumerated() {
      let source = try file("source\(number)", ClientTests.data(1_000_000, UInt64(number)))
      let appended = Locked(0)
      let storage = storage { call, moment in
        guard call == .append, moment == .before else { return }
        appended.withLock { $0 += 1 }
        if appended.withLock({ $0 > 1 }) { throw failure }
      }
      storage.maxUploadRetryTime = 1
      await #expect(throws: StorageError.self) {
        try await storage.reference(withPath: "f\(number)").putFileAsync(from: source)
      }
      let resumed = harness.storage.resumeInterruptedUploads()
      #expect(resumed.count == (isKept ? 1 : 0), "\(failure)")
      for task in resumed { for try await _ in task.progressUpdates {} }
      let stored = try? await harness.storage.reference(withPath: "f\(number)").data(maxSize: 2_000_000)
      #expect(stored == (isKept ? ClientTests.data(1_000_000, UInt64(number)) : nil), "\(failure)")
    }
  }

  @Test func `an interrupted upload is continued once, however often that is asked for`() async throws {
    let source = try file("source", ClientTests.data(1_000_000))
    let isAway = Locked(false)
    let starts = Log<String>()
    let storage = storage { call, moment in
      if call == .start, moment == .after { starts.add("start") }
      if call == .append, isAway.withLock({ $0 }) { throw StorageServiceError(.unavailable, "away") }
      if call == .append { isAway.withLock { $0 = true } }
    }
    storage.maxUploadRetryTime = 1
    await #expect(throws: StorageError.self) {
      try await storage.reference(withPath: "a").putFileAsync(from: source)
    }
    let tasks = harness.storage.resumeInterruptedUploads() + harness.storage.resumeInterruptedUploads()
    #expect(tasks.count == 1)
    for task in tasks { for try await _ in task.progressUpdates {} }
    #expect(try await harness.storage.reference(withPath: "a").getMetadata().size == 1_000_000)
  }

  @Test func `a paused upload holds no file, and its file has to be the same when it is resumed`() async throws {
    for change in ["same", "other"] {
      let source = try file(change, ClientTests.data(1_000_000))
      let (reached, gate) = (Gate(), Gate())
      let storage = storage { call, moment in
        guard call == .append, moment == .after else { return }
        reached.open()
        try await gate.pass()
      }
      let task = storage.reference(withPath: change).putFile(from: source)
      await reached.wait()
      task.pause()
      gate.open()
      if change == "other" {
        try FileManager.default.removeItem(at: source)
        try ClientTests.data(1_000_000, 2).write(to: source)
      }
      task.resume()
      let end = await task.runner.end()
      #expect((end.error == nil) == (change == "same"), "\(change)")
      let stored = try? await harness.storage.reference(withPath: change).data(maxSize: 2_000_000)
      #expect(stored == (change == "same" ? ClientTests.data(1_000_000) : nil), "\(change)")
    }
  }

  @Test func `a file that is overwritten under its old modification time makes no object`() async throws {
    let source = try file("source", ClientTests.data(1_000_000))
    let isFirst = Locked(true)
    let storage = storage { call, moment in
      guard call == .append, moment == .after else { return }
      let isNow = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      guard isNow else { return }
      let identity = try OpenFile(reading: source.path).identity()
      let handle = try FileHandle(forWritingTo: source)
      try handle.write(contentsOf: ClientTests.data(1_000_000, 2))
      try handle.close()
      setTimes(of: source.path, identity)
      #expect(try OpenFile(reading: source.path).identity() == identity)
    }
    await #expect(throws: StorageError.self) {
      try await storage.reference(withPath: "a").putFileAsync(from: source)
    }
    await #expect(throws: StorageError.self) {
      try await harness.storage.reference(withPath: "a").getMetadata()
    }
  }

  // MARK: Leftovers of downloads

  @Test func `the remains of killed downloads of any size are removed by the next one, unless they are being written`()
    async throws
  {
    _ = try await harness.storage.reference(withPath: "a").putDataAsync(Data([1, 2, 3]))
    let location = URL(fileURLWithPath: directory.path(of: "book"))
    let folder = directory.path(of: "folder")
    let first = DownloadBook(directory: location)
    first.removeLeftovers()
    first.willWrite(besides: "\(folder)/x")
    var open: [FileBeside] = []
    for number in 0..<4 {
      let left = try FileBeside(named: first.temporaryName(), target: "\(folder)/\(number)")
      try left.append([9])
      if number == 0 { open.append(left) }
    }
    try Data([9]).write(to: URL(fileURLWithPath: "\(folder)/.other.vesta"))
    let storage = Storage(
      app: harness.app, bucket: "test-bucket", caller: harness.storage.caller,
      downloads: DownloadBook(directory: location))
    let target = URL(fileURLWithPath: directory.path(of: "elsewhere/target"))
    _ = try await storage.reference(withPath: "a").writeAsync(toFile: target)
    let names = try DurableFile.names(in: folder).sorted()
    #expect(names.count == 2 && names.contains(".other.vesta"))
    #expect(try Data(contentsOf: target) == Data([1, 2, 3]))
    withExtendedLifetime(open) {}
  }

  @Test func `a download to a file that another process downloads to leaves that one's file alone`() async throws {
    let data = ClientTests.data(5_000_000)
    let reference = harness.storage.reference(withPath: "a")
    _ = try await reference.putDataAsync(data)
    let target = URL(fileURLWithPath: directory.path(of: "target"))
    let location = URL(fileURLWithPath: directory.path(of: "book"))
    func storage(_ hook: @escaping @Sendable (HookedStorageBackend.Call) async throws -> Void) -> Storage {
      let backend = HookedStorageBackend(harness.backend) { call, moment in
        if moment == .before { try await hook(call) }
      }
      return Storage(
        app: harness.app, bucket: "test-bucket",
        caller: StorageCaller(backend: backend, auth: nil, appCheck: nil, clock: .system),
        downloads: DownloadBook(directory: location))
    }
    let (reached, gate, reads) = (Gate(), Gate(), Locked(0))
    let first = storage { call in
      guard call == .read else { return }
      reads.withLock { $0 += 1 }
      guard reads.withLock({ $0 == 3 }) else { return }
      reached.open()
      try await gate.pass()
    }
    let running = first.reference(withPath: "a").write(toFile: target)
    await reached.wait()
    // Another process is refused by the service, as by the lock of a store.
    let refused = storage { _ in throw StorageServiceError(.internal, "locked") }
    await #expect(throws: StorageError.self) { try await refused.reference(withPath: "a").writeAsync(toFile: target) }
    // And one that is not refused writes a separate file.
    _ = try await storage { _ in }.reference(withPath: "a").writeAsync(toFile: target)
    #expect(try Data(contentsOf: target) == data)
    try FileManager.default.removeItem(at: target)
    gate.open()
    for try await _ in running.progressUpdates {}
    #expect(try Data(contentsOf: target) == data)
  }

  // MARK: Places

  @Test func `transfers that wait for their turn take turns among instances, and one that waits for bytes keeps none`()
    async throws
  {
    let places = TransferPlaces(count: 1)
    let gate = Gate()
    let log = Log<String>()
    func storage(_ name: String) -> Storage {
      let backend = HookedStorageBackend(harness.backend) { call, moment in
        guard call == .put, moment == .before else { return }
        log.add(name)
        try await gate.pass()
      }
      var caller = StorageCaller(backend: backend, auth: nil, appCheck: nil, clock: .system)
      caller.places = places
      return Storage(app: harness.app, bucket: "test-bucket", caller: caller)
    }
    let (busy, other) = (storage("busy"), storage("other"))
    // A sequence that never gives a byte has no place while it is asked.
    let (stuck, _) = AsyncStream.makeStream(of: Data.self)
    let waiting = busy.reference(withPath: "stuck").putStream(stuck)
    var tasks = (0..<3).map { busy.reference(withPath: "b\($0)").putData(Data([1])) }
    await log.wait { $0.count == 1 }
    while places.counts.waiting < 2 { await Task.yield() }
    tasks.append(other.reference(withPath: "o").putData(Data([1])))
    while places.counts.waiting < 3 { await Task.yield() }
    gate.open()
    for task in tasks { for try await _ in task.progressUpdates {} }
    #expect(log.entries.prefix(3).contains("other"))
    waiting.cancel()
    await waiting.runner.cleanedUp()
    #expect(places.counts == (0, 0))
  }

  // MARK: Names

  @Test func `a download URL keeps every byte of a name`() throws {
    for name in ["\u{FEFF}bom", "e\u{301}", "é", "a%b", "a b", "日本"] {
      let url =
        "http://host/v0/b/test-bucket/o/" + (name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
      let reference = try harness.storage.reference(for: try #require(URL(string: url)))
      #expect(Array(reference.fullPath.utf8) == Array(name.utf8), "\(name)")
    }
  }

  @Test func `an empty URL names a storage for any bucket`() throws {
    let storage = Storage.storage(app: harness.app, url: "")
    #expect(try storage.reference(for: try #require(URL(string: "gs://other/a"))).bucket == "other")
  }
}

/// Sets the modification time of a file back to what it was.
private func setTimes(of path: String, _ identity: FileIdentity) {
  var times = [timespec(), timespec()]
  times[1].tv_sec = Int(identity.modifiedSeconds)
  times[1].tv_nsec = Int(identity.modifiedNanoseconds)
  _ = utimensat(AT_FDCWD, path, times, 0)
}
