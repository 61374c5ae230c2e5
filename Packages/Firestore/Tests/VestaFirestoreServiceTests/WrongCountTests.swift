import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreService
import VestaStoreInteropFakes
import VestaTesting

/// Listeners that come back with a document too many.
struct WrongCountTests {
  private func target(_ resume: Target.Resume? = nil) -> Target {
    Target(id: 2, .query(parent: root, .all("rooms")), resume: resume)
  }

  @Test func `a wrong count that is the right one by chance brings the names that are unchanged`() async throws {
    let digest: @Sendable ([UInt8]) -> [UInt8] = { bytes in
      var generator = SplitMix(seed: bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
      return (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
    var options = FirestoreServiceOptions()
    options.md5 = digest
    let engine = FirestoreEngine(store: ModelStore(), options: options)
    for number in 0..<10 { try await engine.commit(update("rooms/\(number)", ["n": .integer(1)])) }
    var follower = try await Follower(engine)
    follower.add(target())
    try await follower.snapshot()
    try await engine.commit(update("rooms/new", ["n": .integer(1)]))

    // It believes in one that is not there, so that the response leaves it with twelve documents for eleven.
    var later = try await Follower(engine)
    var resumed = target(.token(follower.token))
    resumed.expectedCount = 11
    later.add(resumed)
    try await later.current([2])
    let filter = try #require(later.filters.first)
    #expect(filter.count == 11)
    let names = try BloomFilter(try #require(filter.unchangedNames), digest: digest)
    for number in 0..<10 { #expect(names.mayContain(name("rooms/\(number)"))) }
    #expect(!names.mayContain(name("rooms/gone")))
  }

  @Test func `the right count of the results of a limited query brings none`() async throws {
    let engine = makeEngine()
    for number in 1...5 { try await engine.commit(update("rooms/\(number)", ["n": .integer(Int64(number))])) }
    var query = StructuredQuery.all("rooms")
    (query.orderBy, query.limit) = ([.init(fieldPath: "n")], 3)
    var follower = try await Follower(engine)
    follower.add(Target(id: 2, .query(parent: root, query)))
    try await follower.snapshot()
    try await engine.commit(update("rooms/0", ["n": .integer(0)]))
    var later = try await Follower(engine)
    var resumed = Target(id: 2, .query(parent: root, query), resume: .token(follower.token))
    resumed.expectedCount = 3
    later.add(resumed)
    try await later.current([2])
    #expect(later.filters.isEmpty)
  }
}
