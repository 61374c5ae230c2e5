import Testing
import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

@testable import VestaStorage

@Suite struct UploadMachineTests {
  static let object = StorageObject(
    name: ObjectName(bucket: "b", name: "n"), generation: 1, size: 10, crc32c: 0, md5: nil, timeCreated: 0, updated: 0,
    metadata: ObjectMetadata())
  static let lost = StorageServiceError(.unavailable, "lost")
  static let gone = StorageServiceError(.notFound, "gone", reason: .uploadGone)

  static func machine(single: Bool = false, repeatable: Bool = true, seconds: Double = 600) -> UploadMachine {
    UploadMachine(isSingleCall: single, isRepeatable: repeatable, retrySeconds: seconds)
  }

  @Test func `an upload in chunks starts, sends and finalizes`() {
    var machine = Self.machine()
    #expect(machine.begin(hasSession: false) == .start)
    #expect(machine.started() == .send(offset: 0))
    #expect(machine.acknowledged(received: 6, isLast: false) == .send(offset: 6))
    #expect(machine.acknowledged(received: 10, isLast: true) == .finalize)
    #expect(machine.finished(Self.object) == .succeed(Self.object))
  }

  @Test func `a small upload is one call, and tried again as a whole`() {
    var machine = Self.machine(single: true)
    #expect(machine.begin(hasSession: false) == .putWhole)
    #expect(machine.failed(Self.lost, jitter: 0) == .wait(seconds: 1))
    #expect(machine.waited() == .putWhole)
  }

  @Test func `after a failure it asks how much has arrived and continues there`() {
    var machine = Self.machine()
    _ = machine.begin(hasSession: false)
    _ = machine.started()
    #expect(machine.failed(Self.lost, jitter: 0.5) == .wait(seconds: 1.5))
    #expect(machine.waited() == .query)
    #expect(machine.queried(UploadStatus(state: .active, received: 7, crc32c: 3)) == .verify(received: 7, crc32c: 3))
    #expect(machine.verified(isSame: true) == .send(offset: 7))
  }

  @Test func `an answer without progress does not renew the budget of retries`() {
    var machine = Self.machine()
    _ = machine.begin(hasSession: false)
    _ = machine.started()
    #expect(machine.failed(Self.lost, jitter: 0) == .wait(seconds: 1))
    _ = machine.waited()
    _ = machine.queried(UploadStatus(state: .active, received: 0, crc32c: 0))
    #expect(machine.verified(isSame: true) == .send(offset: 0))
    #expect(machine.acknowledged(received: 0, isLast: false) == .send(offset: 0))
    #expect(machine.failed(Self.lost, jitter: 0) == .wait(seconds: 2))
    _ = machine.waited()
    _ = machine.queried(UploadStatus(state: .active, received: 0, crc32c: 0))
    _ = machine.verified(isSame: true)
    _ = machine.acknowledged(received: 1, isLast: false)
    #expect(machine.failed(Self.lost, jitter: 0) == .wait(seconds: 1))
  }

  @Test func `an upload that is found finished is finalized again`() {
    var machine = Self.machine()
    #expect(machine.begin(hasSession: true) == .query)
    #expect(machine.queried(UploadStatus(state: .final, received: 10, crc32c: 3)) == .finalize)
  }

  @Test func `other content, and an ended session, start the upload again, three times`() {
    var machine = Self.machine()
    _ = machine.begin(hasSession: true)
    _ = machine.queried(UploadStatus(state: .active, received: 7, crc32c: 3))
    #expect(machine.verified(isSame: false) == .start)
    _ = machine.started()
    #expect(machine.failed(Self.gone, jitter: 0) == .start)
    _ = machine.started()
    #expect(machine.failed(Self.gone, jitter: 0) == .start)
    _ = machine.started()
    #expect(machine.failed(Self.gone, jitter: 0) == .fail(Self.gone))
  }

  @Test func `an upload whose source cannot be read again does not start again`() {
    var machine = Self.machine(repeatable: false)
    _ = machine.begin(hasSession: false)
    _ = machine.started()
    #expect(machine.failed(Self.gone, jitter: 0) == .fail(Self.gone))
  }

  @Test func `a wrong offset asks for the right one`() {
    var machine = Self.machine()
    _ = machine.begin(hasSession: false)
    _ = machine.started()
    let wrong = StorageServiceError(.outOfRange, "offset", reason: .wrongOffset(received: 3))
    #expect(machine.failed(wrong, jitter: 0) == .wait(seconds: 1))
    #expect(machine.waited() == .query)
  }

  @Test func `a failure that will not pass ends the upload`() {
    for code in [ServiceCode.permissionDenied, .unauthenticated, .invalidArgument, .resourceExhausted, .dataLoss] {
      var machine = Self.machine()
      _ = machine.begin(hasSession: false)
      let error = StorageServiceError(code, "no")
      #expect(machine.failed(error, jitter: 0) == .fail(error))
    }
  }

  @Test func `the budget of retries ends, and progress renews it`() {
    var machine = Self.machine(seconds: 3)
    _ = machine.begin(hasSession: false)
    _ = machine.started()
    for received in 0..<5 as Range<Int64> {
      #expect(machine.failed(Self.lost, jitter: 0) == .wait(seconds: 1))
      _ = machine.waited()
      _ = machine.queried(UploadStatus(state: .active, received: received, crc32c: 0))
      _ = machine.verified(isSame: true)
      _ = machine.acknowledged(received: received + 1, isLast: false)
    }
    #expect(machine.failed(Self.lost, jitter: 0) == .wait(seconds: 1))
    _ = machine.waited()
    #expect(machine.failed(Self.lost, jitter: 0) == .wait(seconds: 2))
    _ = machine.waited()
    #expect(machine.failed(Self.lost, jitter: 0) == .fail(Self.lost))
  }
}

@Suite struct RetryBudgetTests {
  @Test(arguments: [(600.0, 512.0), (120, 64), (1, 1), (2, 2), (3, 2), (4, 4)])
  func `the last delay is the largest power of two that the budget needs`(seconds: Double, last: Double) {
    var budget = RetryBudget(seconds: seconds)
    var delays: [Double] = []
    while let delay = budget.delay(jitter: 0) { delays.append(delay) }
    #expect(delays.last == last)
    #expect(delays == (0..<delays.count).map { Double(1 << $0) })
  }

  @Test func `a smaller first delay makes all of them smaller, and more of them fit`() {
    var budget = RetryBudget(seconds: 1, first: 0.25)
    let delays = (0..<4).map { _ in budget.delay(jitter: 0) }
    #expect(delays == [0.25, 0.5, 1, nil])
    budget.reset()
    #expect(budget.delay(jitter: 1) == 0.5)
  }

  @Test(arguments: [0.0, -1, .nan]) func `without a budget nothing is tried again`(seconds: Double) {
    var budget = RetryBudget(seconds: seconds)
    #expect(budget.delay(jitter: 0) == nil)
  }

  @Test func `a budget without end has an end of its delays`() {
    var budget = RetryBudget(seconds: .infinity)
    var count = 0
    while budget.delay(jitter: 0) != nil { count += 1 }
    #expect(count < 64)
  }
}

@Suite struct ChunkSizeTests {
  static let cases: [(Int64, Int)] = [
    (.max, 1_048_576), (0, 262_144), (-5, 262_144), (262_144, 262_144), (300_000, 262_144), (1_048_576, 1_048_576),
    (1_099_511_627_776, 8_388_608),
  ]

  @Test(arguments: cases)
  func `chunks are multiples of 256 KiB within bounds`(wanted: Int64, length: Int) {
    #expect(ChunkSize.length(for: wanted) == length)
  }
}
