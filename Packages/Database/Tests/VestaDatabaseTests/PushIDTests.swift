import Dispatch
import Testing
import VestaConcurrency
import VestaDatabaseBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaDatabase

/// The keys that a client makes, while the service says what the time is.
@Suite(.timeLimit(.minutes(20)))
struct PushIDTests {
  private let backend = ScriptedDatabaseBackend()
  private let clock = ManualClock()

  /// The time of the test, and no timers.
  private var service: ServiceClock { ServiceClock(now: { [clock] in clock.now }) { _, _ in ListenerRegistration {} } }

  /// Connects again, to a service whose clock is so far ahead.
  private func reconnect(_ client: Database, _ number: Int, offset: Int64) async {
    client.goOffline()
    client.goOnline()
    let link = await backend.link(number)
    link.hello(at: clock.milliseconds + offset)
    client.repo.queue.sync {}
  }

  /// The milliseconds of an id.
  private func time(_ id: String) -> Int64 {
    let alphabet = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
    return id.prefix(8).reduce(0) { $0 * 64 + Int64(alphabet.firstIndex(of: $1) ?? 0) }
  }

  @Test func `ids tell the time of the service, and grow also when the service says that it was earlier`() async {
    let client = World().client(backend: backend, clock: service)
    let reference = client.reference(withPath: "list")
    client.goOnline()
    let link = await backend.link(0)
    let hour: Int64 = 3_600_000
    link.hello(at: clock.milliseconds + 24 * hour)
    client.repo.queue.sync {}
    #expect(client.serverTimeOffset == 24 * hour)
    let first = clock.milliseconds
    var ids = (0..<100).compactMap { _ in reference.childByAutoId().key }
    #expect(ids.count == 100 && ids.allSatisfy { $0.count == 20 && time($0) >= first + 24 * hour })
    for (number, offset) in [-24 * hour, 23 * hour, 0].enumerated() {
      await reconnect(client, number + 1, offset: offset)
      #expect(client.serverTimeOffset == offset)
      ids += (0..<100).compactMap { _ in reference.childByAutoId().key }
    }
    #expect(ids == ids.sorted() && Set(ids).count == 400)
  }

  @Test func `ids that many threads make at once are in order on each of them, while the time jumps`() async {
    let client = World().client(backend: backend, clock: service)
    client.goOnline()
    let link = await backend.link(0)
    link.hello(at: clock.milliseconds)
    let made = Log<[String]>()
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          made.add((0..<300).compactMap { _ in client.reference().childByAutoId().key })
        }
      }
      for number in 1...6 {
        await reconnect(client, number, offset: number % 2 == 0 ? 90_000 : -90_000)
      }
    }
    let lists = made.entries
    #expect(lists.count == 8 && lists.allSatisfy { $0 == $0.sorted() })
    #expect(Set(lists.joined()).count == 2400)
  }

  @Test func `a time of the service shows at once as that time, as far as it is known`() async {
    let client = World().client(backend: backend, clock: service)
    client.goOnline()
    let link = await backend.link(0)
    link.hello(at: clock.milliseconds - 5000)
    client.repo.queue.sync {}
    let shown = Log<Int64>()
    client.reference(withPath: "t").observe(.value) { shown.add(($0.value as? Int).map { Int64($0) } ?? -1) }
    client.reference(withPath: "t").setValue(ServerValue.timestamp(), withCompletionBlock: { _, _ in })
    await shown.wait { !$0.isEmpty }
    #expect(shown.entries == [clock.milliseconds - 5000])
  }
}
