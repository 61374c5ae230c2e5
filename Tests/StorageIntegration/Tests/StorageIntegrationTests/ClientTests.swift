import Foundation
import StorageHarness
import Testing
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaStorage
import VestaStorageBackend
import VestaTesting

/// The client on the real engine.
@Suite struct ClientTests {
  let directory: TemporaryDirectory
  let harness: StorageHarness
  var root: StorageReference { harness.storage.reference() }

  init() throws {
    directory = try TemporaryDirectory()
    harness = try StorageHarness(directory: directory.path + "/data")
  }

  /// Content in which no two blocks are alike: random numbers, repeated with a number before each.
  static func data(_ length: Int, _ seed: UInt64 = 1) -> Data {
    var random = SplitMix(seed: seed)
    let block = random.bytes(min(length, 1 << 16))
    var data = Data(block)
    var number: UInt32 = 0
    while data.count < length {
      number += 1
      withUnsafeBytes(of: number) { data.append(contentsOf: $0) }
      data.append(contentsOf: block)
    }
    return Data(data.prefix(length))
  }

  func file(_ name: String, _ data: Data) throws -> URL {
    let url = URL(fileURLWithPath: directory.path(of: name))
    try data.write(to: url)
    return url
  }

  @Test(arguments: [0, 1, 70_000, 262_144, 262_145, 3_000_000])
  func `data is uploaded and downloaded`(length: Int) async throws {
    let data = Self.data(length)
    let metadata = StorageMetadata()
    metadata.customMetadata = ["a": "b"]
    let stored = try await root.child("a/b").putDataAsync(data, metadata: metadata)
    #expect(stored.size == Int64(length))
    #expect(stored.path == "a/b")
    #expect(stored.name == "b")
    #expect(stored.bucket == "test-bucket")
    #expect(stored.customMetadata == ["a": "b"])
    #expect(stored.contentType == "application/octet-stream")
    #expect(stored.md5Hash?.count == 24)
    #expect(stored.isFile)
    #expect(try await root.child("a/b").data(maxSize: 10_000_000) == data)
  }

  @Test func `a file is uploaded with the type of its extension and downloaded to a file`() async throws {
    let data = Self.data(2_500_000)
    let stored = try await root.child("pic").putFileAsync(from: try file("x.JPG", data))
    #expect(stored.contentType == "image/jpeg")
    let target = URL(fileURLWithPath: directory.path(of: "new/folder/y"))
    let url = try await root.child("pic").writeAsync(toFile: target)
    #expect(url == target)
    #expect(try Data(contentsOf: target) == data)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path(of: "new/folder")) == ["y"])
  }

  @Test func `directories, links and missing files are refused`() async throws {
    let real = try file("real", Data([1]))
    let link = directory.path(of: "link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: real.path)
    for path in [directory.path, link, directory.path(of: "none")] {
      await #expect(throws: StorageErrorCode.unknown) {
        do {
          _ = try await root.child("a").putFileAsync(from: URL(fileURLWithPath: path))
        } catch let error as StorageError { throw error.code }
      }
    }
  }

  @Test func `a sequence is uploaded with back-pressure and downloaded in chunks`() async throws {
    let data = Self.data(1_400_000)
    let pieces = AsyncStream<Data> { continuation in
      for start in stride(from: 0, to: data.count, by: 99_999) {
        continuation.yield(data[start..<min(start + 99_999, data.count)])
      }
      continuation.finish()
    }
    let task = root.child("stream").putStream(pieces)
    for try await _ in task.progress {}
    #expect(task.snapshot.status == .success)
    var down = Data()
    for try await chunk in root.child("stream").contents(chunkSize: 100_000) {
      #expect(chunk.count <= 100_000)
      down += chunk
    }
    #expect(down == data)
  }

  @Test func `a download of more than the limit is refused with the sizes`() async throws {
    _ = try await root.child("a").putDataAsync(Data(count: 100))
    do {
      _ = try await root.child("a").data(maxSize: 99)
      Issue.record("nothing was thrown")
    } catch let error as StorageError where error.code == .downloadSizeExceeded {
    }
    #expect(try await root.child("a").data(maxSize: 100).count == 100)
  }

  @Test func `metadata is changed by what differs`() async throws {
    let metadata = StorageMetadata()
    metadata.contentType = "text/plain"
    metadata.cacheControl = "no-store"
    metadata.customMetadata = ["a": "1", "b": "2"]
    _ = try await root.child("a").putDataAsync(Data([1]), metadata: metadata)
    let read = try await root.child("a").getMetadata()
    read.cacheControl = nil
    read.customMetadata?["a"] = nil
    read.customMetadata?["c"] = "3"
    let updated = try await root.child("a").updateMetadata(read)
    #expect(updated.cacheControl == nil)
    #expect(updated.contentType == "text/plain")
    #expect(updated.customMetadata == ["b": "2", "c": "3"])
    #expect(updated.metageneration == 2)
    let fresh = StorageMetadata()
    fresh.contentLanguage = "de"
    let last = try await root.child("a").updateMetadata(fresh)
    #expect(last.customMetadata == ["b": "2", "c": "3"])
    #expect(last.contentLanguage == "de")
  }

  @Test func `a listing has references, and listAll all of them`() async throws {
    for name in ["x", "d/1", "d/2", "d/e/3"] { _ = try await root.child(name).putDataAsync(Data([1])) }
    let all = try await root.child("d").listAll()
    #expect(all.items.map(\.fullPath) == ["d/1", "d/2"])
    #expect(all.prefixes.map(\.fullPath) == ["d/e"])
    let page = try await root.list(maxResults: 1)
    #expect(page.prefixes.map(\.fullPath) == ["d"])
    let next = try await root.list(maxResults: 1, pageToken: try #require(page.pageToken))
    #expect(next.items.map(\.fullPath) == ["x"])
    #expect(next.pageToken == nil)
  }

  @Test func `a download URL names the object and its token`() async throws {
    _ = try await root.child("ä b/c").putDataAsync(Data([1]))
    let url = try await root.child("ä b/c").downloadURL()
    #expect(
      url.absoluteString.hasPrefix(
        "https://firebasestorage.googleapis.com:443/v0/b/test-bucket/o/%C3%A4%20b%2Fc?alt=media&token="))
    let back = try harness.storage.reference(for: url)
    #expect(back.fullPath == "ä b/c")
  }

  @Test func `an absent object is not found, and neither is a deleted one`() async throws {
    _ = try await root.child("a").putDataAsync(Data([1]))
    try await root.child("a").delete()
    for operation in [
      { _ = try await root.child("a").getMetadata() }, { _ = try await root.child("a").data(maxSize: 1) },
      { try await root.child("a").delete() }, { _ = try await root.child("a").downloadURL() },
    ] {
      do {
        try await operation()
        Issue.record("nothing was thrown")
      } catch let error as StorageError where error.code == .objectNotFound {
      }
    }
  }

  @Test func `observers see the way of an upload on the callback queue`() async throws {
    let log = Log<StorageTaskStatus>()
    let task = root.child("a").putData(Self.data(2_000_000))
    for status in [StorageTaskStatus.progress, .success, .failure, .pause, .resume] {
      task.observe(status) { log.add($0.status) }
    }
    await log.wait { $0.contains(.success) }
    #expect(log.entries.last == .success)
    #expect(!log.entries.contains(.failure))
    let late = Log<StorageTaskStatus>()
    task.observe(.success) { late.add($0.status) }
    await late.wait { $0 == [.success] }
    #expect(task.snapshot.metadata?.size == 2_000_000)
    #expect(task.snapshot.progress?.completedUnitCount == 2_000_000)
  }

  @Test func `completion handlers are called once with the value or the error`() async throws {
    let log = Log<String>()
    root.child("a").putData(Data([1, 2])) { (metadata: StorageMetadata?, error: (any Error)?) in
      log.add("put \(metadata?.size ?? -1) \(error == nil)")
    }
    await log.wait { $0.count == 1 }
    root.child("a").getData(maxSize: 10) { (result: Result<Data, any Error>) in
      log.add("get \((try? result.get())?.count ?? -1)")
    }
    await log.wait { $0.count == 2 }
    root.child("b").getMetadata { (metadata: StorageMetadata?, error: (any Error)?) in
      log.add("none \(metadata == nil) \(error != nil)")
    }
    await log.wait { $0.count == 3 }
    root.child("a").delete { error in log.add("delete \(error == nil)") }
    await log.wait { $0.count == 4 }
    #expect(log.entries == ["put 2 true", "get 2", "none true true", "delete true"])
  }

  @Test func `cancelling the Swift task cancels the transfer`() async throws {
    let started = Gate()
    let endless = AsyncStream<Data>(unfolding: {
      started.open()
      return Data(count: 300_000)
    })
    let reference = root.child("a")
    let upload = Task {
      let task = reference.putStream(endless)
      await started.wait()
      task.cancel()
      for try await _ in task.progressUpdates {}
    }
    await #expect(throws: StorageError.self) { try await upload.value }
    let cancelled = Task {
      await started.wait()
      withUnsafeCurrentTask { $0?.cancel() }
      return try await reference.putDataAsync(Self.data(5_000_000))
    }
    do {
      _ = try await cancelled.value
      Issue.record("nothing was thrown")
    } catch let error as StorageError where error.code == .cancelled {
    }
  }

  @Test func `deleting the app ends its transfers`() async throws {
    let endless = AsyncStream<Data>(unfolding: { Data(count: 100_000) })
    let task = root.child("a").putStream(endless)
    await harness.app.delete()
    await #expect(throws: StorageError.self) { for try await _ in task.progressUpdates {} }
    let late = root.child("b").putData(Data([1]))
    await #expect(throws: StorageError.self) { for try await _ in late.progressUpdates {} }
  }

  @Test func `bad names reach the app as errors that say what is wrong`() async throws {
    do {
      _ = try await root.putDataAsync(Data([1]))
      Issue.record("nothing was thrown")
    } catch let error as StorageError where error.code == .invalidArgument {
    }
    do {
      _ = try await root.child("a\nb").putDataAsync(Data([1]))
      Issue.record("nothing was thrown")
    } catch let error as StorageError {
      #expect(error.localizedDescription.contains("line break"))
    }
  }
}
