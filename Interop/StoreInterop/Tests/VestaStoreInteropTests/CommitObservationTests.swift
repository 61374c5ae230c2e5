import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

/// The model store calls its observers before a commit returns.
@Suite struct CommitObservationTests {
  private func commit(_ value: UInt8, to store: ModelStore) async throws {
    _ = try await store.write { try await $0.put([value], for: [1]) }
  }

  @Test func `each commit is observed once, however often the observation is begun`() async throws {
    let store = ModelStore()
    let (observation, log) = (CommitObservation(), Log<String>())
    for name in ["first", "second"] { observation.begin(store) { _ in log.add(name) } }
    try await commit(1, to: store)
    try await commit(2, to: store)
    #expect(log.entries == ["first", "first"])
  }

  @Test func `nothing is observed after the end, also when it is begun again`() async throws {
    let store = ModelStore()
    let (observation, log) = (CommitObservation(), Log<String>())
    observation.begin(store) { _ in log.add("before the end") }
    try await commit(1, to: store)
    observation.end()
    observation.end()
    observation.begin(store) { _ in log.add("after the end") }
    try await commit(2, to: store)
    #expect(log.entries == ["before the end"])
  }

  @Test func `an observation that is ended before it has begun observes nothing`() async throws {
    let store = ModelStore()
    let (observation, log) = (CommitObservation(), Log<String>())
    observation.end()
    observation.begin(store) { _ in log.add("never") }
    try await commit(1, to: store)
    #expect(log.entries.isEmpty)
  }
}
