import Testing
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Several commits in one turn of the listeners: a document may enter and leave in between.
struct SnapshotMovesTests {
  /// A listener at an engine that looks at the store when the clock says so, and another engine that writes.
  private struct Pair {
    let clock = ManualClock()
    let listening: FirestoreEngine
    let writing: FirestoreEngine

    init(_ tuning: EngineTuning = EngineTuning()) {
      let store = ModelStore(clock: clock.ofStore)
      let engines = twoEngines(on: store, clock, isSilent: true) {
        $0.tuning = tuning
        // A second of the clock is a turn, and no new tokens are sent for hours.
        $0.pollInterval = .seconds(1)
        $0.tokenInterval = .seconds(36_000)
      }
      (listening, writing) = (engines[0], engines[1])
    }

    /// The follower of one target, current.
    func follower(_ subject: Target.Subject) async throws -> Follower {
      var follower = try await Follower(listening)
      follower.add(Target(id: 1, subject))
      try await follower.current([1])
      return follower
    }

    /// Lets the listeners have a turn.
    func turn() async {
      // The one of the turns, and the one of the tokens.
      await clock.waitForTimers(2)
      clock.advance(by: .seconds(1))
    }
  }

  private static let matching: MapValue = ["b": .integer(2)]
  private static let other: MapValue = ["b": .integer(1)]

  private static func query(limit: Int32? = nil) -> Target.Subject {
    .query(
      parent: root,
      StructuredQuery(
        from: [.init(collectionID: "rooms")], filter: .field(path: "b", .equal, .integer(2)), limit: limit))
  }

  /// The writer of the first state waits for a snapshot of it, or of a later one.
  @Test(arguments: [nil, 1, 5] as [Int32?], [262_144, 1])
  func `a document that matched between two commits of a turn brings a snapshot`(
    limit: Int32?, betweenBytes: Int
  ) async throws {
    var tuning = EngineTuning()
    tuning.listening.betweenBytes = betweenBytes
    let pair = Pair(tuning)
    try await pair.writing.commit(update("rooms/z", Self.matching))
    var follower = try await pair.follower(Self.query(limit: limit))
    let before = follower.readTime
    try await pair.writing.commit(update("rooms/a", Self.matching))
    let last = try await pair.writing.commit(update("rooms/a", Self.other)).commitTime
    await pair.turn()
    try await follower.snapshot(from: last)
    #expect(follower.readTime >= last && follower.readTime > before)
    #expect(follower.targets[1]?.keys.map(\.self) == [name("rooms/z")])
    #expect(follower.causes.isEmpty)
  }

  @Test func `a document that was made and deleted in one turn brings a snapshot`() async throws {
    for subject in [Self.query(), .documents([name("rooms/a")])] {
      let pair = Pair()
      try await pair.writing.commit(update("halls/z", Self.matching))
      var follower = try await pair.follower(subject)
      try await pair.writing.commit(update("rooms/a", Self.matching))
      let last = try await pair.writing.commit(.delete(name("rooms/a"))).commitTime
      await pair.turn()
      try await follower.snapshot(from: last)
      #expect(follower.targets[1]?.isEmpty != false)
    }
  }

  /// One damaged row ends the targets that may have its document, and no other.
  @Test func `a document that cannot be read stops the listeners of other documents not`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", Self.matching), update("rooms/b", Self.matching))
    try await engine.commit(update("halls/a", Self.matching))
    var (rooms, halls) = (try await Follower(engine), try await Follower(engine))
    rooms.add(Target(id: 1, Self.query()))
    halls.add(Target(id: 2, .query(parent: root, .all("halls"))))
    try await rooms.current([1])
    try await halls.current([2])
    let base = try await engine.engine(database)
    let key = base.keys.document(PathKey(ResourcePath(splitting: "rooms/a")))
    // The times stay, so that the document can be replaced; the fields go.
    try await base.store.write { transaction in
      let row = try #require(try await transaction.get(key))
      try await transaction.put(Array(row.prefix(16)) + [0xFF, 0xFF, 0xFF, 0xFF], for: key)
    }
    try await engine.commit(update("rooms/a", ["b": .integer(3)]))
    let isEnded = try await rooms.read { response in
      guard case .targetChange(let change) = response else { return false }
      return change.kind == .remove && change.cause != nil
    }
    #expect(isEnded)
    let last = try await engine.commit(update("halls/b", Self.matching)).commitTime
    try await halls.snapshot(from: last)
    #expect(halls.targets[2]?.count == 2 && halls.causes.isEmpty)
    // The document is whole again, and the call of the ended target continues.
    rooms.add(Target(id: 3, Self.query()))
    try await rooms.current([3])
    #expect(rooms.targets[3]?.keys.map(\.self) == [name("rooms/b")])
  }

  /// A document without a listener costs no call a message.
  @Test func `a call is not sent documents that never matched`() async throws {
    let pair = Pair()
    try await pair.writing.commit(update("rooms/z", Self.matching))
    var follower = try await pair.follower(Self.query())
    let snapshots = follower.changes.count { $0 == .noChange }
    for number in 0..<3 {
      try await pair.writing.commit(update("rooms/a", ["b": .integer(Int64(10 + number))]))
      try await pair.writing.commit(update("halls/a", Self.matching))
    }
    await pair.turn()
    let last = try await pair.writing.commit(update("rooms/c", Self.matching)).commitTime
    await pair.turn()
    try await follower.snapshot(from: last)
    #expect(follower.changes.count { $0 == .noChange } == snapshots + 1, "the snapshot of the last commit alone")
  }
}
