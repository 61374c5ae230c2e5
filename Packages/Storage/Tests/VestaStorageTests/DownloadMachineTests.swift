import Testing
import VestaServiceInterop
import VestaStorageBackend

@testable import VestaStorage

@Suite struct DownloadMachineTests {
  static func object(_ size: Int64, generation: Int64 = 5) -> StorageObject {
    StorageObject(
      name: ObjectName(bucket: "b", name: "n"), generation: generation, size: size, crc32c: 0, md5: nil, timeCreated: 0,
      updated: 0, metadata: ObjectMetadata())
  }

  static let lost = StorageServiceError(.unavailable, "lost")
  static let replaced = StorageServiceError(.failedPrecondition, "replaced", reason: .precondition)

  @Test func `a download opens, reads and ends`() {
    var machine = DownloadMachine(retrySeconds: 600)
    #expect(machine.begin() == .open(offset: 0, generation: nil))
    #expect(machine.opened(Self.object(10)) == .read)
    #expect(machine.received(6) == .read)
    #expect(machine.received(4) == .succeed)
    #expect(machine.completed == 10 && machine.total == 10)
  }

  @Test func `an empty object has nothing to read`() {
    var machine = DownloadMachine(retrySeconds: 600)
    _ = machine.begin()
    #expect(machine.opened(Self.object(0)) == .succeed)
  }

  @Test func `after a failure the same generation is opened where the download stopped`() {
    var machine = DownloadMachine(retrySeconds: 600)
    _ = machine.begin()
    _ = machine.opened(Self.object(10))
    _ = machine.received(6)
    #expect(machine.failed(Self.lost, jitter: 0) == .wait(seconds: 1))
    #expect(machine.waited() == .open(offset: 6, generation: 5))
  }

  @Test func `after a pause it goes on in the same way`() {
    var machine = DownloadMachine(retrySeconds: 600)
    _ = machine.begin()
    _ = machine.opened(Self.object(10))
    _ = machine.received(3)
    #expect(machine.begin() == .open(offset: 3, generation: 5))
  }

  @Test func `an object that was replaced meanwhile is read from its beginning, or not at all`() {
    var machine = DownloadMachine(retrySeconds: 600)
    _ = machine.begin()
    _ = machine.opened(Self.object(10))
    _ = machine.received(6)
    #expect(machine.failed(Self.replaced, jitter: 0) == .restart)
    #expect(machine.restarted() == .open(offset: 0, generation: nil))
    var stream = DownloadMachine(canRestart: false, retrySeconds: 600)
    _ = stream.begin()
    _ = stream.opened(Self.object(10))
    #expect(stream.failed(Self.replaced, jitter: 0) == .fail(Self.replaced))
  }

  @Test func `the download of an object that is replaced again and again starts again a bounded number of times`() {
    var machine = DownloadMachine(retrySeconds: 600)
    _ = machine.begin()
    for _ in 0..<3 {
      _ = machine.opened(Self.object(10))
      #expect(machine.failed(Self.replaced, jitter: 0) == .restart)
      _ = machine.restarted()
    }
    _ = machine.opened(Self.object(10))
    #expect(machine.failed(Self.replaced, jitter: 0) == .fail(Self.replaced))
  }

  @Test func `an object beyond the limit is refused before it is read`() {
    var machine = DownloadMachine(maxSize: 9, retrySeconds: 600)
    _ = machine.begin()
    #expect(machine.opened(Self.object(10)) == .fail(StorageError.downloadSizeExceeded(total: 10, maxSize: 9)))
  }

  @Test func `content that ends early or goes on too long is a failure`() {
    for count in [0, 11] {
      var machine = DownloadMachine(retrySeconds: 600)
      _ = machine.begin()
      _ = machine.opened(Self.object(10))
      guard case .fail = machine.received(count) else {
        Issue.record("\(count) bytes were taken")
        continue
      }
    }
  }

  @Test func `a single byte is progress, which renews the budget of retries`() {
    var machine = DownloadMachine(retrySeconds: 600)
    _ = machine.begin()
    _ = machine.opened(Self.object(2))
    #expect(machine.failed(Self.lost, jitter: 0) == .wait(seconds: 1))
    _ = machine.waited()
    _ = machine.opened(Self.object(2))
    #expect(machine.failed(Self.lost, jitter: 0) == .wait(seconds: 2))
    _ = machine.waited()
    _ = machine.opened(Self.object(2))
    #expect(machine.received(1) == .read)
    #expect(machine.failed(Self.lost, jitter: 0) == .wait(seconds: 1))
    _ = machine.waited()
    _ = machine.opened(Self.object(2))
    #expect(machine.received(1) == .succeed)
  }

  @Test func `a download continues after the bytes that an earlier process has left, in their generation`() {
    var machine = DownloadMachine(retrySeconds: 10)
    machine.found(length: 40, generation: 7)
    #expect(machine.begin() == .open(offset: 40, generation: 7))
    #expect(machine.failed(StorageServiceError(.failedPrecondition, "", reason: .precondition), jitter: 0) == .restart)
    #expect(machine.restarted() == .open(offset: 0, generation: nil))
    #expect(machine.completed == 0)
  }
}
