import Glibc
import Testing
import VestaConcurrency
import VestaTesting

@testable import VestaTransport

@Suite(.timeLimit(.minutes(10))) struct LoopTests {
  @Test func `timers fire in the order of their times, then of their adding`() {
    var random = SplitMix(seed: 5)
    for _ in 0..<50 {
      var heap = TimerHeap()
      let fired = Log<Int>()
      let times = (0..<100).map { _ in Int64(random.below(20)) }
      for (number, time) in times.enumerated() { heap.add(at: time) { fired.add(number) } }
      for now in Int64(0)..<20 {
        while let work = heap.popDue(now) { work() }
        #expect(heap.first ?? .max > now)
      }
      #expect(fired.entries == times.indices.sorted { (times[$0], $0) < (times[$1], $1) })
    }
  }

  @Test func `timers that are cancelled do not fire, and do not stay`() {
    var heap = TimerHeap()
    let fired = Log<Int>()
    var timers: [LoopTimer] = []
    for number in 0..<1_000 { timers.append(heap.add(at: Int64(number)) { fired.add(number) }) }
    for (number, timer) in timers.enumerated() where number % 10 != 0 {
      heap.cancel(timer)
      heap.cancel(timer)
    }
    #expect(heap.count < 300)
    while let work = heap.popDue(.max) { work() }
    #expect(fired.entries == Array(stride(from: 0, to: 1_000, by: 10)))
    heap.cancel(timers[0])
    #expect(heap.count == 0)
  }

  @Test func `a task that outlives its loop finishes`() async throws {
    let loop = try EventLoop(TransportTuning())
    let gate = Gate()
    let task = Task(executorPreference: loop) {
      await gate.wait()
      return 7
    }
    await loop.stop()
    gate.open()
    #expect(await task.value == 7)
    #expect(!loop.perform {})
  }

  @Test func `tasks run on the thread of their loop, and return to it`() async throws {
    let loop = try EventLoop(TransportTuning())
    let isThere = await Task(executorPreference: loop) {
      var isThere = loop.isCurrent
      for _ in 0..<10 {
        await Task.yield()
        isThere = isThere && loop.isCurrent
      }
      let isElsewhere = await TestThreads.run { !loop.isCurrent }
      isThere = isThere && isElsewhere
      return isThere && loop.isCurrent
    }.value
    #expect(isThere && !loop.isCurrent)
    await loop.stop()
  }

  /// The number of turns of a loop that a task with some parts takes.
  private static func turns(of parts: Int, _ tuning: TransportTuning) async throws -> Int {
    let loop = try EventLoop(tuning)
    let turns = await Task(executorPreference: loop) {
      var times: Set<Int64> = [loop.now]
      for _ in 1..<parts {
        await Task.yield()
        times.insert(loop.now)
      }
      return times.count
    }.value
    await loop.stop()
    return turns
  }

  @Test func `the parts of a task run in one turn, up to the number of jobs of a turn`() async throws {
    var tuning = TransportTuning()
    // The number alone: on a busy machine few parts take long.
    tuning.jobsTime = .seconds(1_000)
    #expect(try await Self.turns(of: 20, tuning) == 1)
    tuning.jobsPerTurn = 10
    #expect((2..<20).contains(try await Self.turns(of: 20, tuning)))
    tuning.jobsPerTurn = 1
    #expect(try await Self.turns(of: 20, tuning) >= 20)
  }

  @Test(arguments: [1, 7, 256])
  func `jobs that were handed over together wait for timers and sockets too`(limit: Int) async throws {
    var tuning = TransportTuning()
    tuning.jobsPerTurn = limit
    let loop = try EventLoop(tuning)
    let (count, ran) = (5_000, Log<Int>())
    let (before, turns) = (Locked<Int?>(nil), Locked<Set<Int64>>([]))
    await Task(executorPreference: loop) {
      loop.schedule(after: .zero) { before.withLock { $0 = ran.entries.count } }
      // All of them are there before the first one runs.
      for number in 0..<count {
        Task(executorPreference: loop) {
          ran.add(number)
          turns.withLock { _ = $0.insert(loop.now) }
        }
      }
    }.value
    await ran.wait { $0.count == count }
    #expect(ran.entries == Array(0..<count))
    // The rest of the turn in which the timer was set, and the jobs of the next one, in which it is due.
    #expect(before.withLock { $0 ?? .max } < 2 * limit)
    #expect(turns.withLock { $0.count } >= count / limit)
    await loop.stop()
  }

  @Test func `jobs that enqueue jobs for ever leave sockets, timers and closures their turns, with one job a turn`()
    async throws
  {
    var tuning = TransportTuning()
    tuning.jobsPerTurn = 1
    let loop = try EventLoop(tuning)
    let (isOver, fired, performed) = (Locked(false), Log<Int>(), Log<Int>())
    let busy = (0..<20).map { number in
      Task(executorPreference: loop) {
        // Each part enqueues the next one, and each second one a task in addition.
        while !isOver.withLock({ $0 }) {
          if number.isMultiple(of: 2) { await Task(executorPreference: loop) { await Task.yield() }.value }
          await Task.yield()
        }
      }
    }
    var pair: [Int32] = [0, 0]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
    let (near, far) = (pair[0], pair[1])
    let received = Log<UInt8>()
    loop.perform { _ = loop.add(EchoChannel(near, received), .readable) }
    for number in 0..<20 {
      loop.perform {
        performed.add(number)
        loop.schedule(after: .microseconds(number)) { fired.add(number) }
      }
      var byte = UInt8(number)
      #expect(write(far, &byte, 1) == 1)
      await received.wait { $0.count == number + 1 }
      await fired.wait { $0.count == number + 1 }
    }
    #expect(performed.entries == Array(0..<20) && received.entries == Array(0..<20))
    isOver.withLock { $0 = true }
    for task in busy { await task.value }
    await loop.stop()
    close(far)
  }

  @Test func `what is handed to a loop runs in order, also what it hands to itself`() async throws {
    let loop = try EventLoop(TransportTuning())
    let log = Log<Int>()
    loop.perform {
      // Both from one closure: the loop cannot begin the first before it has the second.
      loop.perform {
        log.add(1)
        loop.perform { log.add(3) }
      }
      loop.perform { log.add(2) }
    }
    await log.wait(for: 3)
    #expect(log.entries == [1, 2, 3])
    loop.perform { loop.schedule(after: .milliseconds(1)) { log.add(4) } }
    await log.wait(for: 4)
    await loop.stop()
  }

  @Test func `a channel is called once for all that asked in a turn, and again for one that asks while it is called`()
    async throws
  {
    let loop = try EventLoop(TransportTuning())
    let log = Log<String>()
    loop.perform {
      let channel = LoggingChannel(loop, log)
      for _ in 0..<3 { loop.callSoon(channel) }
      log.add("asked")
      // After the calls of this turn.
      loop.perform { loop.perform { log.add("later") } }
    }
    await log.wait(for: 4)
    #expect(log.entries.prefix(2) == ["asked", "called"] && log.entries.count { $0 == "called" } == 2)
    await loop.stop()
    #expect(log.entries.count == 4)
  }

  @Test func `a loop ends when its channels have been called that asked for it`() async throws {
    let loop = try EventLoop(TransportTuning())
    let log = Log<String>()
    loop.perform {
      loop.callSoon(LoggingChannel(loop, log))
      Task { await loop.stop() }
    }
    await log.wait(for: 2)
    await loop.stop()
    #expect(log.entries == ["called", "called"])
  }

  @Test func `a channel that the system does not watch frees its place once, however often it is removed`() async throws
  {
    let loop = try EventLoop(TransportTuning())
    // Files cannot be watched.
    let file = PlatformSocket.spare()
    let pairs = (0..<2).map { _ in
      var pair: [Int32] = [-1, -1]
      #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
      return pair
    }
    let tokens: [UInt64] = await withCheckedContinuation { continuation in
      loop.perform {
        let refused = Channel(file)
        #expect(!loop.add(refused, .readable))
        loop.remove(refused)
        loop.remove(refused)
        let channels = pairs.map { Channel($0[0]) }
        for channel in channels { #expect(loop.add(channel, .readable)) }
        let tokens = channels.map(\.token)
        for channel in channels { loop.remove(channel) }
        continuation.resume(returning: tokens)
      }
    }
    #expect(Set(tokens).count == 2)
    await loop.stop()
    pairs.joined().forEach(PlatformSocket.close)
    PlatformSocket.close(file)
  }

  @Test func `a wake-up after the end of a loop reaches no other descriptor`() async throws {
    let loop = try EventLoop(TransportTuning())
    await loop.stop()
    // They take the numbers that are free.
    let pairs = (0..<16).map { _ in
      var pair: [Int32] = [-1, -1]
      let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
      #expect(socketpair(AF_UNIX, kind, 0, &pair) == 0)
      return pair
    }
    await loop.stop()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 8)
    defer { buffer.deallocate() }
    for descriptor in pairs.joined() { #expect(PlatformSocket.read(descriptor, buffer) == .wouldBlock) }
    pairs.joined().forEach(PlatformSocket.close)
  }

  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_767_225_599, "Wed, 31 Dec 2025 23:59:59 GMT"),
    (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
  ])
  func `dates are written as HTTP wants them`(seconds: Int, text: String) { #expect(DateLine.text(seconds) == text) }
}

/// Asks for another call the first time.
private final class LoggingChannel: Channel {
  private let loop: EventLoop
  private let log: Log<String>
  private var isFirst = true

  init(_ loop: EventLoop, _ log: Log<String>) {
    self.loop = loop
    self.log = log
    super.init(-1)
  }

  override func calledSoon() {
    log.add("called")
    if isFirst { loop.callSoon(self) }
    isFirst = false
  }
}

/// Notes each byte that arrives; the loop closes its descriptor at its end.
private final class EchoChannel: Channel {
  private let received: Log<UInt8>

  init(_ descriptor: Int32, _ received: Log<UInt8>) {
    self.received = received
    super.init(descriptor)
  }

  override func ready(_ events: PlatformPoll.Interest) {
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1 { received.add(byte) }
  }
}
