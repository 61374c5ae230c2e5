import Dispatch
import Testing
import VestaConcurrency
import VestaTesting

@Suite struct ListenerSequenceTests {
  @Test func `each loop has a separate listener, removed when the loop is left`() async {
    let source = StateSource<Int, Int>(1, greeting: { $0 })
    let sequence = ListenerSequence { source.events }
    #expect(source.listenerCount == 0)
    for await value in sequence {
      #expect(value == 1)
      #expect(source.listenerCount == 1)
      break
    }
    #expect(source.listenerCount == 0)
    var iterator = Optional(sequence.makeAsyncIterator())
    _ = await iterator?.next()
    iterator = nil
    #expect(source.listenerCount == 0)
  }

  @Test func `an error of the listener is thrown by the loop`() async {
    let registry = ListenerRegistry<Int>()
    registry.finish(throwing: Failure())
    let sequence = ThrowingListenerSequence { registry.throwingEvents }
    await #expect(throws: Failure.self) { for try await value in sequence { _ = value } }
  }

  @Test(.timeLimit(.minutes(10))) func `a silenced receiver is not called for what was posted before`() async {
    let queue = DispatchQueue(label: "receiver")
    let heard = Log<Int>()
    let receiver = QueuedReceiver<Int>(queue: queue) { heard.add($0) }
    queue.suspend()
    receiver.post(1)
    receiver.silence()
    queue.resume()
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    #expect(heard.entries.isEmpty)
    #expect(!receiver.isLive)
  }
}
