import Glibc
import Testing
import VestaTesting

@testable import VestaTransport

/// Jobs that hold the thread of their loop: others have their turn between them.
@Suite(.timeLimit(.minutes(10))) struct LoopHoldTests {
  /// Notes when its descriptor becomes readable, once.
  private final class FirstByte: Channel {
    private let body: () -> Void

    init(_ descriptor: Int32, _ body: @escaping () -> Void) {
      self.body = body
      super.init(descriptor)
    }

    override func ready(_ events: PlatformPoll.Interest) {
      var byte: UInt8 = 0
      if read(descriptor, &byte, 1) == 1 { body() }
    }
  }

  /// How many of 60 jobs of 5 ms, which are there at once, have run before a timer, a socket and a closure.
  private static func ranBefore(_ tuning: TransportTuning) async throws -> [Int] {
    let loop = try EventLoop(tuning)
    let (ran, before) = (Log<Int>(), Log<Int>())
    var pair: [Int32] = [0, 0]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
    let (near, far) = (pair[0], pair[1])
    await Task(executorPreference: loop) {
      #expect(loop.add(FirstByte(near) { before.add(ran.entries.count) }, .readable))
      for number in 0..<60 {
        Task(executorPreference: loop) {
          // The thread itself is held: the clock of a loop is the system's.
          usleep(5_000)
          ran.add(number)
        }
      }
      loop.schedule(after: .zero) { before.add(ran.entries.count) }
      loop.perform { before.add(ran.entries.count) }
      var byte: UInt8 = 1
      #expect(write(far, &byte, 1) == 1)
    }.value
    await ran.wait(for: 60)
    await before.wait(for: 3)
    #expect(ran.entries == Array(0..<60))
    await loop.stop()
    PlatformSocket.close(far)
    return before.entries
  }

  @Test func `timers, sockets and closures have their turns between slow jobs`() async throws {
    // Two turns: the rest of the one in which they came, and the jobs before timers in the next one.
    for count in try await Self.ranBefore(TransportTuning()) { #expect(count < 16) }
  }

  @Test func `without a limit of their time all jobs of a turn run first`() async throws {
    var tuning = TransportTuning()
    tuning.jobsTime = .seconds(1_000)
    #expect(try await Self.ranBefore(tuning) == [60, 60, 60])
  }
}
