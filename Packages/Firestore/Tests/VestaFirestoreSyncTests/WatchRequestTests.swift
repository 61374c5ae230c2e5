import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaFirestoreSync

/// The order of requests to a backend, and the time that removals wait.
@Suite(.timeLimit(.minutes(5))) struct WatchRequestTests {
  private let clock = ManualClock()
  private let sent = Log<ListenRequest>()
  private let thread = OneThread.Executor()

  private func requests(isRemote: Bool) -> WatchRequests {
    var options = SyncOptions()
    options.clock = clock.service
    options.tuning.removalSeconds = 0.5
    let sent = sent
    let call = WatchRequests.Call(
      responses: AsyncThrowingStream { nil }, send: { sent.add($0) }, finish: {}, cancel: {})
    return WatchRequests(options, on: { isRemote ? thread : nil }) { $0 == 1 ? call : nil }
  }

  private func addition(_ id: Int32) -> ListenRequest { .addTarget(Target(id: id, .documents(["d"]))) }

  @Test func `a removal leaves with the next request, before it`() async {
    let requests = requests(isRemote: true)
    requests.sendSoon(.removeTarget(id: 2), 1)
    requests.sendSoon(.removeTarget(id: 4), 1)
    #expect(sent.entries.isEmpty && clock.deadlines.count == 1)
    requests.send(addition(2), 1)
    await sent.wait { $0.count == 3 }
    #expect(sent.entries == [.removeTarget(id: 2), .removeTarget(id: 4), addition(2)])
  }

  @Test func `a removal without a next request is sent after its time`() async {
    let requests = requests(isRemote: true)
    for id: Int32 in [2, 4] {
      requests.sendSoon(.removeTarget(id: id), 1)
      clock.advance(by: .milliseconds(499))
      #expect(!sent.entries.contains(.removeTarget(id: id)))
      clock.advance(by: .milliseconds(1))
      #expect(sent.entries.last == .removeTarget(id: id))
    }
  }

  @Test func `requests for a stream that has ended are dropped`() async {
    let requests = requests(isRemote: true)
    requests.sendSoon(.removeTarget(id: 2), 0)
    requests.send(addition(4), 1)
    await sent.wait { $0.count == 1 }
    #expect(sent.entries == [addition(4)])
  }

  @Test func `an engine in the process gets a removal at once`() {
    let requests = requests(isRemote: false)
    requests.sendSoon(.removeTarget(id: 2), 1)
    requests.send(addition(2), 1)
    #expect(sent.entries == [.removeTarget(id: 2), addition(2)] && clock.deadlines.isEmpty)
  }

  @Test func `requests of many threads are sent once each, in the order of each thread`() async {
    let requests = requests(isRemote: true)
    await withTaskGroup(of: Void.self) { group in
      for first: Int32 in 0..<8 {
        group.addTask {
          for number: Int32 in 0..<200 {
            let id = number * 8 + first + 1
            if number.isMultiple(of: 3) {
              requests.send(addition(id), 1)
            } else {
              requests.sendSoon(.removeTarget(id: id), 1)
            }
          }
        }
      }
    }
    clock.advance(by: .seconds(1))
    await sent.wait { $0.count == 1_600 }
    let ids = sent.entries.map { request in
      switch request {
      case .addTarget(let target): target.id
      case .removeTarget(let id): id
      }
    }
    for first: Int32 in 0..<8 {
      let own = ids.filter { ($0 - 1) % 8 == first }
      #expect(own.count == 200 && own == own.sorted())
    }
  }
}
