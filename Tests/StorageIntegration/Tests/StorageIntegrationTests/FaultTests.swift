import Foundation
import StorageHarness
import Testing
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageBackendFakes
import VestaTesting

@testable import VestaStorage

/// The client over a service that loses requests and answers, and other failures on the way.
@Suite struct FaultTests: HookedSuite {
  let directory: TemporaryDirectory
  let harness: StorageHarness

  init() throws {
    directory = try TemporaryDirectory()
    harness = try StorageHarness(directory: directory.path + "/data")
  }

  @Test func `transfers succeed although one call in five is lost`() async throws {
    for seed in 0..<6 as Range<UInt64> {
      let random = Locked(SplitMix(seed: seed))
      let flaky = storage { _, _ in
        if random.withLock({ $0.oneIn(5) }) { throw StorageServiceError(.unavailable, "lost") }
      }
      let length = [1000, 300_000, 2_000_000][Int(seed % 3)]
      let data = ClientTests.data(length, seed)
      let reference = flaky.reference(withPath: "flaky\(seed)")
      let url = URL(fileURLWithPath: directory.path(of: "source\(seed)"))
      try data.write(to: url)
      _ = seed < 3 ? try await reference.putDataAsync(data) : try await reference.putFileAsync(from: url)
      #expect(try await reference.data(maxSize: 10_000_000) == data, "seed \(seed)")
      let target = URL(fileURLWithPath: directory.path(of: "target\(seed)"))
      _ = try await reference.writeAsync(toFile: target)
      #expect(try Data(contentsOf: target) == data, "seed \(seed)")
      var streamed = Data()
      for try await chunk in reference.contents() { streamed += chunk }
      #expect(streamed == data, "seed \(seed)")
    }
  }

  @Test func `a sequence succeeds although answers are lost`() async throws {
    let random = Locked(SplitMix(seed: 5))
    let flaky = storage { call, moment in
      guard call == .append || call == .finalize else { return }
      if random.withLock({ $0.oneIn(3) }) { throw StorageServiceError(.unavailable, "lost \(moment)") }
    }
    let data = ClientTests.data(2_222_222)
    let pieces = AsyncStream<Data> { continuation in
      for start in stride(from: 0, to: data.count, by: 77_777) {
        continuation.yield(data[start..<min(start + 77_777, data.count)])
      }
      continuation.finish()
    }
    let task = flaky.reference(withPath: "stream").putStream(pieces)
    for try await _ in task.progressUpdates {}
    #expect(try await flaky.reference(withPath: "stream").data(maxSize: 10_000_000) == data)
  }

  @Test func `a service that stays away ends the transfer with its last error`() async throws {
    let calls = Log<HookedStorageBackend.Call>()
    let gone = storage { call, _ in
      calls.add(call)
      throw StorageServiceError(.unavailable, "away")
    }
    gone.maxUploadRetryTime = 3
    gone.maxOperationRetryTime = 3
    await #expect(throws: StorageError.self) { try await gone.reference(withPath: "a").putDataAsync(Data([1])) }
    #expect(calls.drain() == [.put, .put, .put])
    await #expect(throws: StorageError.self) { try await gone.reference(withPath: "a").getMetadata() }
    #expect(calls.drain() == [.get, .get, .get])
  }

  @Test func `an upload is paused, continues where it stopped, and sends nothing twice`() async throws {
    let (gate, reached) = (Gate(isOpen: true), Gate())
    let appended = Locked(0)
    let slow = storage { call, moment in
      guard call == .append, moment == .before else { return }
      let count = appended.withLock {
        $0 += 1; return $0
      }
      if count == 4 {
        gate.close()
        reached.open()
      }
      try await gate.pass()
    }
    let data = ClientTests.data(3_000_000)
    let task = slow.reference(withPath: "a").putData(data)
    let statuses = Log<StorageTaskStatus>()
    for status in [StorageTaskStatus.pause, .resume, .success, .failure] {
      task.observe(status) { statuses.add($0.status) }
    }
    await reached.wait()
    task.pause()
    await statuses.wait { $0.contains(.pause) }
    #expect(task.snapshot.status == .pause)
    gate.open()
    task.resume()
    for try await _ in task.progressUpdates {}
    #expect(try await slow.reference(withPath: "a").data(maxSize: 10_000_000) == data)
    await statuses.wait { $0.contains(.success) }
    #expect(!statuses.entries.contains(.failure))
    // Twelve chunks, and the one that was under way when it was paused.
    #expect(appended.withLock { $0 } <= 13)
  }

  @Test func `a download is paused, and continues where it stopped`() async throws {
    let data = ClientTests.data(4_000_000)
    _ = try await harness.storage.reference(withPath: "a").putDataAsync(data)
    let (gate, reached) = (Gate(isOpen: true), Gate())
    let reads = Locked(0)
    let slow = storage { call, _ in
      guard call == .read else { return }
      if reads.withLock({
        $0 += 1; return $0
      }) == 2 {
        gate.close()
        reached.open()
      }
      try await gate.pass()
    }
    let target = URL(fileURLWithPath: directory.path(of: "down"))
    let task = slow.reference(withPath: "a").write(toFile: target)
    let statuses = Log<StorageTaskStatus>()
    task.observe(.pause) { statuses.add($0.status) }
    await reached.wait()
    task.pause()
    await statuses.wait { $0 == [.pause] }
    #expect(!FileManager.default.fileExists(atPath: target.path))
    gate.open()
    task.resume()
    for try await _ in task.progressUpdates {}
    #expect(try Data(contentsOf: target) == data)
    #expect(reads.withLock { $0 } <= 6)
  }

  @Test func `an object that is replaced while it is downloaded is received whole`() async throws {
    let (old, new) = (ClientTests.data(3_000_000, 1), ClientTests.data(2_000_000, 2))
    _ = try await harness.storage.reference(withPath: "a").putDataAsync(old)
    let reads = Locked(0)
    let backend = harness.backend
    let replacing = storage { call, _ in
      guard call == .read,
        reads.withLock({
          $0 += 1; return $0
        }) == 2
      else { return }
      try await upload(new, to: ObjectName(bucket: "test-bucket", name: "a"), backend)
      throw StorageServiceError(.unavailable, "lost")
    }
    #expect(try await replacing.reference(withPath: "a").data(maxSize: 10_000_000) == new)
  }

  @Test func `content that changes on the way is not taken for the object`() async throws {
    let data = ClientTests.data(600_000)
    _ = try await harness.storage.reference(withPath: "a").putDataAsync(data)
    let folder = directory.path(of: "data")
    let blobs = try #require(FileManager.default.subpaths(atPath: folder)).filter {
      $0.contains("storage-content/blobs/")
    }
    for blob in blobs {
      let path = "\(folder)/\(blob)"
      guard var bytes = FileManager.default.contents(atPath: path), !bytes.isEmpty else { continue }
      bytes[bytes.count / 2] ^= 1
      try bytes.write(to: URL(fileURLWithPath: path))
    }
    let target = URL(fileURLWithPath: directory.path(of: "damaged"))
    let error = await #expect(throws: StorageError.self) {
      try await harness.storage.reference(withPath: "a").writeAsync(toFile: target)
    }
    #expect(error?.code == .nonMatchingChecksum)
    #expect(!FileManager.default.fileExists(atPath: target.path))
    await #expect(throws: StorageError.self) {
      for try await _ in harness.storage.reference(withPath: "a").contents() {}
    }
  }

  @Test func `a file that changes while it is uploaded makes no object`() async throws {
    let url = URL(fileURLWithPath: directory.path(of: "file"))
    try ClientTests.data(2_000_000).write(to: url)
    let changing = storage { call, moment in
      guard call == .append, moment == .after else { return }
      let file = try FileHandle(forWritingTo: url)
      try file.seek(toOffset: 10)
      try file.write(contentsOf: Data([UInt8.random(in: 0...255)]))
      try file.close()
    }
    let error = await #expect(throws: StorageError.self) {
      try await changing.reference(withPath: "a").putFileAsync(from: url)
    }
    #expect(error?.localizedDescription.contains("changed while it was uploaded") == true)
    await #expect(throws: StorageError.self) { try await harness.storage.reference(withPath: "a").getMetadata() }
  }

  // Twelve chunks make the file, and seven have arrived. The next start may send chunks of another length.
  @Test(arguments: [(256 * 1024, 5), (1024 * 1024, 2)] as [(Int64, Int)])
  func `an upload continues in the next start of the app, and sends the missing bytes alone`(
    chunkLength: Int64, missing: Int
  ) async throws {
    let data = ClientTests.data(3_000_000)
    let url = URL(fileURLWithPath: directory.path(of: "file"))
    try data.write(to: url)
    let (reached, appended) = (Gate(), Locked(0))
    let first = storage { call, moment in
      guard call == .append, moment == .before else { return }
      if appended.withLock({
        $0 += 1; return $0
      }) == 8 {
        reached.open()
        try await Gate().pass()
      }
    }
    let interrupted = first.reference(withPath: "a").putFile(from: url)
    await reached.wait()
    // The transfer is not notified that its app ends, as when a process is killed.
    await harness.app.delete()
    let next = try StorageHarness(directory: directory.path + "/data", name: harness.app.name)
    let sent = Locked(0)
    let hooked = HookedStorageBackend(next.backend) { call, moment in
      if call == .append, moment == .before { sent.withLock { $0 += 1 } }
    }
    let caller = StorageCaller(backend: hooked, auth: nil, appCheck: nil, clock: .system)
    let storage = Storage(
      app: next.app, bucket: "test-bucket", caller: caller,
      uploads: UploadSessionBook(directory: first.uploads.directory))
    storage.uploadChunkSizeBytes = chunkLength
    let resumed = storage.resumeInterruptedUploads()
    #expect(resumed.count == 1)
    for task in resumed { for try await _ in task.progressUpdates {} }
    #expect(try await storage.reference(withPath: "a").data(maxSize: 10_000_000) == data)
    #expect(sent.withLock { $0 } == missing)
    #expect(storage.resumeInterruptedUploads().isEmpty)
    withExtendedLifetime(interrupted) {}
  }

  @Test func `a full disk is a quota error, and nothing is lost`() async throws {
    let full = storage { call, moment in
      if call == .append, moment == .before {
        throw StorageServiceError(.resourceExhausted, "The disk is full.", reason: .diskFull)
      }
    }
    _ = try await harness.storage.reference(withPath: "a").putDataAsync(Data([1]))
    let error = await #expect(throws: StorageError.self) {
      try await full.reference(withPath: "a").putDataAsync(ClientTests.data(1_000_000))
    }
    #expect(error?.code == .quotaExceeded)
    #expect(try await harness.storage.reference(withPath: "a").data(maxSize: 10) == Data([1]))
  }

  @Test func `thousands of small transfers at once all arrive`() async throws {
    let root = harness.storage.reference()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<2000 {
        group.addTask {
          let data = ClientTests.data(number % 500, UInt64(number))
          let reference = root.child("many/\(number)")
          _ = try await reference.putDataAsync(data)
          let back = try await reference.data(maxSize: 1000)
          #expect(back == data)
        }
      }
      try await group.waitForAll()
    }
    #expect(try await root.child("many").listAll().items.count == 2000)
  }
}

/// Uploads past the client.
private func upload(_ data: Data, to name: ObjectName, _ backend: any StorageBackend) async throws {
  let context = CallContext()
  let id = try await backend.startUpload(UploadRequest(object: name), context: context)
  _ = try await backend.appendToUpload(id, offset: 0, bytes: [UInt8](data), context: context)
  _ = try await backend.finalizeUpload(id, expected: ContentDigest(), context: context)
}
