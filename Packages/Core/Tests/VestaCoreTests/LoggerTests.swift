import Foundation
import Testing
import VestaConcurrency
import VestaCore

private final class RecordingSink: LogSink {
  let entries = Locked<[LogEntry]>([])
  let service: String
  init(service: String) { self.service = service }
  func write(_ entry: LogEntry) {
    if entry.service == service { entries.withLock { $0.append(entry) } }
  }
}

/// The log settings belong to the process: one test at a time.
@Suite(.serialized) struct LoggerTests {
  @Test func `only messages up to the level are put together and written`() {
    let service = uniqueName()
    let (sink, log) = (RecordingSink(service: service), Logger(service: service))
    VestaConfiguration.shared.setLogSink(sink)
    VestaConfiguration.shared.setLoggerLevel(.warning)
    defer {
      VestaConfiguration.shared.setLoggerLevel(.notice)
      VestaConfiguration.shared.setLogSink(StandardErrorSink())
    }
    #expect(VestaConfiguration.shared.loggerLevel() == .warning)
    var built = 0
    func text(_ text: String) -> String {
      built += 1
      return text
    }
    log.error("I-1", text("e"))
    log.warning("I-2", text("w"))
    log.notice("I-3", text("n"))
    log.info("I-4", text("i"))
    log.debug("I-5", text("d"))
    #expect(sink.entries.withLock { $0.map(\.message) } == ["e", "w"])
    #expect(sink.entries.withLock { $0.map(\.level) } == [.error, .warning])
    #expect(built == 2)
    let line = sink.entries.withLock { $0[0].description }
    #expect(line.hasSuffix("[error] \(service) I-1: e"))
  }

  @Test func `levels have the numbers of the Firebase SDK`() {
    #expect([VestaLoggerLevel.error, .warning, .notice, .info, .debug].map(\.rawValue) == [3, 4, 5, 6, 7])
    #expect(VestaLoggerLevel.min == .error && VestaLoggerLevel.max == .debug)
    #expect(VestaLoggerLevel.error < .debug)
  }
}
