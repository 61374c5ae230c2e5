import Dispatch
import Testing
import VestaTesting

@testable import VestaConcurrency

@Suite struct SnapshotStreamTests {
  private typealias Stream = AsyncThrowingStream<[Int], any Error>

  private func makeStream(
    merge: @escaping @Sendable ([Int], [Int]) -> [Int] = { $0 + $1 }
  ) -> (stream: Stream, sink: StreamSink<[Int]>) {
    let sinks = Log<StreamSink<[Int]>>()
    let stream = Stream.snapshots(merge: merge) { sink in
      sinks.add(sink)
      return ListenerRegistration {}
    }
    return (stream, sinks.entries[0])
  }

  @Test func `snapshots that wait are merged into one in order`() async throws {
    let (stream, sink) = makeStream()
    sink.send([0])
    #expect(try await next(of: stream) == [0])
    for number in 1...1_000 { sink.send([number]) }
    #expect(try await next(of: stream) == Array(1...1_000))
    sink.send([1_001])
    #expect(try await next(of: stream) == [1_001])
  }

  @Test func `a snapshot is not merged with one that the consumer has taken`() async throws {
    let merges = Log<[[Int]]>()
    let (stream, sink) = makeStream { waiting, new in
      merges.add([waiting, new])
      return waiting + new
    }
    for number in 0..<5 {
      sink.send([number])
      #expect(try await next(of: stream) == [number])
    }
    #expect(merges.entries.isEmpty)
    sink.send([5])
    sink.send([6])
    #expect(merges.entries == [[[5], [6]]])
    #expect(try await next(of: stream) == [5, 6])
  }

  @Test func `merge runs with no lock held and may send itself`() async throws {
    let sinks = Log<StreamSink<[Int]>>()
    let (stream, sink) = makeStream { waiting, new in
      // Would deadlock if the mailbox were locked; a value sent here follows the values that are being merged.
      if new == [2] { sinks.entries[0].send([3]) }
      return waiting + new
    }
    sinks.add(sink)
    sink.send([1])
    sink.send([2])
    #expect(try await next(of: stream) == [1, 2, 3])
  }

  @Test func `an end during a merge follows the merged values`() async throws {
    for failure in [nil, Failure(3)] {
      let sinks = Log<StreamSink<[Int]>>()
      let (stream, sink) = makeStream { waiting, new in
        sinks.entries[0].finish(throwing: failure)
        return waiting + new
      }
      sinks.add(sink)
      sink.send([1])
      sink.send([2])
      #expect(try await next(of: stream) == [1, 2])
      do {
        #expect(try await next(of: stream) == nil)
        #expect(failure == nil)
      } catch {
        #expect(error as? Failure == failure)
        #expect(try await next(of: stream) == nil)
      }
    }
  }

  @Test func `a consumer that arrives during a merge gets its outcome then the end`() async throws {
    let (inside, leave) = (Gate(), DispatchSemaphore(value: 0))
    let mailbox = SnapshotMailbox<[Int]> { waiting, new in
      inside.open()
      leave.wait()
      return waiting + new
    }
    mailbox.post([1])
    let sender = startThread { mailbox.post([2]) }
    await inside.wait()
    mailbox.finish(throwing: Failure(7))
    let isDone = Log<Bool>()
    let consumers = (0..<3).map { _ in
      Task {
        defer { isDone.add(true) }
        return try await mailbox.next()
      }
    }
    while mailbox.consumerCount < 3, isDone.entries.isEmpty { await Task.yield() }
    leave.signal()
    var (elements, errors, ends) = ([[Int]](), 0, 0)
    for consumer in consumers {
      switch await consumer.result {
      case .success(let element?): elements.append(element)
      case .success(nil): ends += 1
      case .failure: errors += 1
      }
    }
    #expect(elements == [[1, 2]])
    #expect(errors == 1 && ends == 1)
    await waitFor(sender)
  }

  @Test func `a snapshot that waits is released when the stream is dropped`() {
    let released = Log<Int>()
    do {
      let sinks = Log<StreamSink<Witness>>()
      var stream: AsyncThrowingStream<Witness, any Error>? = .snapshots(merge: { $1 }) { sink in
        sinks.add(sink)
        return ListenerRegistration {}
      }
      sinks.entries[0].send(Witness { released.add(1) })
      #expect(released.entries.isEmpty)
      _ = stream
      stream = nil
      #expect(released.entries == [1])
      // There is no reader: nothing is kept.
      sinks.entries[0].send(Witness { released.add(2) })
      #expect(released.entries == [1, 2])
    }
  }

  @Test func `nothing is lost when many threads send to a slow consumer`() async throws {
    let (stream, sink) = makeStream()
    let senders = (0..<4).map { thread in
      startThread { for number in 0..<500 { sink.send([thread * 1_000 + number]) } }
    }
    let end = startThread {
      for sender in senders { sender.wait() }
      sink.finish()
    }
    var all: [Int] = []
    for try await snapshot in stream { all += snapshot }
    #expect(all.count == 2_000)
    for thread in 0..<4 {
      #expect(all.filter { $0 / 1_000 == thread } == (0..<500).map { thread * 1_000 + $0 })
    }
    await waitFor(end)
  }
}
