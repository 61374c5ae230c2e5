import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreReference
import VestaFirestoreSync
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaFirestore

/// How often transactions run, after which pauses, and under which conditions they write.
@Suite(.timeLimit(.minutes(15)))
struct TransactionRuleTests {
  private let aborted = FirestoreErrorCode(.aborted, "Another transaction was in the way.")

  @Test(arguments: [1, 2, 5])
  func `a transaction runs as often as its options say`(attempts: Int) {
    var retry = TransactionRetry(attempts: attempts)
    var runs = 1
    while runs < 20, retry.pause(after: aborted, random: 0) != nil { runs += 1 }
    #expect(runs == attempts)
  }

  @Test func `an error that the next attempt meets as well ends the transaction`() {
    struct Other: Error {}
    var retry = TransactionRetry(attempts: 5)
    #expect(retry.pause(after: FirestoreErrorCode(.permissionDenied), random: 0) == nil)
    #expect(retry.pause(after: Other(), random: 0) == nil)
    #expect(retry.pause(after: aborted, random: 0) != nil)
  }

  @Test func `the second attempt follows at once and the pauses grow from a second by half to a minute`() {
    var retry = TransactionRetry(attempts: 30)
    let pauses = (0..<20).map { _ in retry.pause(after: aborted, random: 0) }
    var expected = [0.0, 1]
    while expected.count < 20 { expected.append(min(expected[expected.count - 1] * 1.5, 60)) }
    #expect(pauses.map { $0?.microseconds } == expected.map { Duration.seconds($0).microseconds })
    #expect(pauses.last == .seconds(60))
  }

  @Test func `chance makes a pause shorter or longer by half of it`() {
    for (random, second) in [(-0.5, 0.5), (0.5, 1.5)] {
      var retry = TransactionRetry(attempts: 5)
      #expect(retry.pause(after: aborted, random: random) == .zero)
      #expect(retry.pause(after: aborted, random: random) == .seconds(second))
    }
  }

  /// Makes clients with a clock that tests advance.
  private struct ClockSource: FirestoreClientSource {
    let clock: ManualClock

    func makeClient(
      database: DatabaseName, settings: FirestoreSettings.Values, after predecessor: Latch?
    ) throws -> SyncClient {
      var options = SyncOptions()
      options.clock = clock.service
      return SyncClient(database: database, backend: ReferenceBackend(), store: nil, options: options)
    }

    func clearCache(database: DatabaseName, settings: FirestoreSettings.Values) async throws {}
    func close() async {}
  }

  @Test func `a transaction that was refused waits on the clock of its client`() async throws {
    let app = try makeApp()
    let clock = ManualClock()
    let db = Firestore(app: app, database: DatabaseName(project: "demo"), source: ClockSource(clock: clock))
    let attempts = Log<Int64>()
    let transaction = Task { [aborted] in
      try await db.runTransaction { _ in
        attempts.add(clock.now)
        throw aborted
      }
    }
    for (count, longest) in [(2, 1.5), (3, 2.25), (4, 3.375)] {
      await attempts.wait(for: count)
      await clock.waitForTimers()
      #expect(attempts.entries.count == count)
      clock.advance(by: .seconds(longest))
    }
    await #expect(throws: FirestoreErrorCode.self) { try await transaction.value }
    #expect(attempts.entries.count == 5 && attempts.entries[0] == attempts.entries[1])
    try await db.terminate()
    await app.delete()
  }

  @Test func `an error that a block reports has the code of Firestore's domain and no other`() {
    func error(_ domain: String, _ code: FirestoreErrorCode.Code) -> NSError {
      NSError(domain: domain, code: code.rawValue, userInfo: [NSLocalizedDescriptionKey: "text"])
    }
    #expect(
      TransactionRetry.firestoreError(error(FirestoreErrorDomain, .aborted)) == FirestoreErrorCode(.aborted, "text"))
    #expect(TransactionRetry.firestoreError(error("other", .aborted)) == nil)
    #expect(TransactionRetry.firestoreError(NSError(domain: FirestoreErrorDomain, code: 99)) == nil)
  }

  @Test func `a document that was read and does not exist may be created and not updated`() throws {
    let reference = testDatabase.document("c/a")
    var created = TransactionMachine()
    try created.didRead(CachedDocument(reference.resource, .missing, version: WireTimestamp(seconds: 1)))
    var updated = created
    created.add(.success(Mutation(reference.resourcePath, .set([:]))))
    #expect(try created.finish() == [Mutation(reference.resourcePath, .set([:]), precondition: .exists(false))])
    updated.add(Result { try Mutation.update(reference, ["n": 1]) })
    let error = #expect(throws: FirestoreErrorCode.self) { try updated.finish() }
    #expect(error == .invalid("Can't update a document that doesn't exist."))
  }

  @Test func `a document that was read is written only at the version that was read`() throws {
    let reference = testDatabase.document("c/a")
    let version = WireTimestamp(seconds: 1)
    var machine = TransactionMachine()
    try machine.didRead(CachedDocument(reference.resource, .found([:]), version: version))
    machine.add(Result { try Mutation.update(reference, ["n": 1]) })
    #expect(try machine.finish().map(\.precondition) == [.updateTime(version)])
  }

  @Test func `a document that a transaction reads is the backend's and has no pending writes`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    let (found, missing) = (db.document("c/a"), db.document("c/none"))
    try await found.setData(["n": 1])
    for reference in [found, missing] {
      let snapshot = try await db.runTransaction { try await $0.document(reference) }
      #expect(snapshot.exists == (reference == found))
      #expect(snapshot.metadata == SnapshotMetadata(hasPendingWrites: false, isFromCache: false))
    }
    await app.delete()
  }
}
