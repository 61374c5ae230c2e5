import Dispatch
import Testing
import VestaConcurrency

@Suite struct QueuedReceiverTests {
  /// A closure that is wrapped once more by each access would overflow the stack when it is called or freed.
  @Test func `a listener that has received a hundred thousand events is called as directly as at first`() {
    let count = Locked(0)
    let receiver = QueuedReceiver<Int>(queue: DispatchQueue(label: "test")) { event in count.withLock { $0 += event } }
    for _ in 0..<100_000 { receiver.receive(1) }
    #expect(count.withLock { $0 } == 100_000)
    receiver.silence()
    #expect(!receiver.isLive)
    receiver.receive(1)
    #expect(count.withLock { $0 } == 100_000)
  }
}
