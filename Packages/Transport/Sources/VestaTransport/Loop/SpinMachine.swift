/// Decides whether a loop looks for something to do for a short time before its thread sleeps.
///
/// The system takes longer to wake a thread than many a call takes, and a call is handed from thread to thread a few
/// times. So a loop whose waits have been short looks again before it sleeps. A loop that waits long, or that has many
/// connections, of which one or another always has something to do, sleeps at once.
///
/// Worked example, for a time of 50 microseconds: a call is answered, and the next one arrives 40 microseconds later:
/// that wait was short. The next wait begins with looking, which finds a request after 5 microseconds. Then no call
/// arrives: after 50 microseconds the thread sleeps, and after four long waits it sleeps at once.
struct SpinMachine {
  /// How long a loop looks, in nanoseconds.
  let time: Int64
  private let connections: Int
  /// A bit for each of the last waits: whether it was short.
  private var waits: UInt8 = 0

  init(time: Int64, connections: Int) {
    self.time = time
    self.connections = connections
  }

  /// Whether a loop with so many connections is to note its waits.
  func mayPay(connections count: Int) -> Bool { time > 0 && count > 0 && count <= connections }

  /// Whether one of the last four waits was short.
  var isWorthwhile: Bool { waits & 0xF != 0 }

  /// Notes a wait, in nanoseconds; with the wake-up it is longer than what was waited for.
  mutating func waited(_ nanoseconds: Int64) { waits = waits << 1 | (nanoseconds < 2 * time ? 1 : 0) }
}
