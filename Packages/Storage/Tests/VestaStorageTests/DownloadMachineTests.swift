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

  /// A machine whose target is prepared and has nothing.
  static func machine(maxSize: Int64? = nil, canRestart: Bool = true) -> DownloadMachine {
    var machine = DownloadMachine(maxSize: maxSize, canRestart: canRestart, retrySeconds: 600)
    _ = machine.begin()
    _ = machine.prepared(nil)
    return machine
  }

  @Test func `a download prepares, opens, reads, checks, publishes and ends`() {
    var machine = DownloadMachine(retrySeconds: 600)
    #expect(machine.begin() == .prepare)
    #expect(machine.prepared(nil) == .open(offset: 0, generation: nil))
    #expect(machine.opened(Self.object(10)) == .read)
    #expect(machine.received(6) == .read)
    #expect(machine.received(4) == .check)
    #expect(machine.completed == 10 && machine.total == 10)
    #expect(machine.checked(isWhole: true) == .publish)
    #expect(machine.published() == .succeed)
  }

  @Test func `an attempt that follows a stopped one repeats what that one had not finished`() {
    var machine = DownloadMachine(retrySeconds: 600)
    _ = machine.begin()
    // Stopped while preparing.
    #expect(machine.begin() == .prepare)
    _ = machine.prepared(nil)
    _ = machine.opened(Self.object(10))
    #expect(machine.received(10) == .check)
    #expect(machine.isOneAttempt)
    // Stopped before it published.
    #expect(machine.begin() == .open(offset: 10, generation: 5))
    #expect(!machine.isOneAttempt)
    #expect(machine.opened(Self.object(10)) == .check)
    #expect(machine.checked(isWhole: true) == .publish)
  }

  @Test func `content of several attempts that is wrong is fetched again, and of one attempt is a failure`() {
    var machine = Self.machine()
    _ = machine.opened(Self.object(10))
    _ = machine.received(10)
    #expect(machine.checked(isWhole: false) == .fail(StorageError.nonMatchingChecksum))
    var continued = Self.machine()
    _ = continued.opened(Self.object(10))
    _ = continued.received(4)
    _ = continued.begin()
    _ = continued.opened(Self.object(10))
    #expect(continued.received(6) == .check)
    #expect(continued.checked(isWhole: false) == .restart)
    #expect(continued.restarted() == .open(offset: 0, generation: nil))
    #expect(continued.isOneAttempt)
  }

  @Test func `an empty object has nothing to read`() {
    var machine = Self.machine()
    #expect(machine.opened(Self.object(0)) == .check)
  }

  @Test func `after a failure the same generation is opened where the download stopped`() {
    var machine = Self.machine()
    _ = machine.opened(Self.object(10))
    _ = machine.received(6)
    #expect(machine.failed(Self.lost, jitter: 0) == .wait(seconds: 1))
    #expect(machine.waited() == .open(offset: 6, generation: 5))
  }

  @Test func `after a pause it continues in the same way`() {
    var machine = Self.machine()
    _ = machine.opened(Self.object(10))
    _ = machine.received(3)
    #expect(machine.begin() == .open(offset: 3, generation: 5))
  }

  @Test func `an object that was replaced in between is read from its beginning, or not at all`() {
    var machine = Self.machine()
    _ = machine.opened(Self.object(10))
    _ = machine.received(6)
    #expect(machine.failed(Self.replaced, jitter: 0) == .restart)
    #expect(machine.restarted() == .open(offset: 0, generation: nil))
    var stream = Self.machine(canRestart: false)
    _ = stream.opened(Self.object(10))
    #expect(stream.failed(Self.replaced, jitter: 0) == .fail(Self.replaced))
  }

  @Test func `the download of an object that is replaced again and again starts again a bounded number of times`() {
    var machine = Self.machine()
    for _ in 0..<3 {
      _ = machine.opened(Self.object(10))
      #expect(machine.failed(Self.replaced, jitter: 0) == .restart)
      _ = machine.restarted()
    }
    _ = machine.opened(Self.object(10))
    #expect(machine.failed(Self.replaced, jitter: 0) == .fail(Self.replaced))
  }

  @Test func `an object beyond the limit is refused before it is read`() {
    var machine = Self.machine(maxSize: 9)
    #expect(machine.opened(Self.object(10)) == .fail(StorageError.downloadSizeExceeded(total: 10, maxSize: 9)))
  }

  @Test func `content that ends early or is too long is a failure`() {
    for count in [0, 11] {
      var machine = Self.machine()
      _ = machine.opened(Self.object(10))
      guard case .fail = machine.received(count) else {
        Issue.record("\(count) bytes were taken")
        continue
      }
    }
  }

  @Test func `a single byte is progress, which renews the budget of retries`() {
    var machine = Self.machine()
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
    #expect(machine.received(1) == .check)
  }

  @Test func `a download continues after the bytes that an earlier process has left, in their generation`() {
    var machine = DownloadMachine(retrySeconds: 10)
    _ = machine.begin()
    #expect(machine.prepared(DownloadStart(generation: 7, length: 40)) == .open(offset: 40, generation: 7))
    #expect(!machine.isOneAttempt)
    #expect(machine.failed(StorageServiceError(.failedPrecondition, "", reason: .precondition), jitter: 0) == .restart)
    #expect(machine.restarted() == .open(offset: 0, generation: nil))
    #expect(machine.completed == 0)
  }
}
