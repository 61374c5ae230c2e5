import Foundation
import Testing
import VestaConcurrency
import VestaTesting

@testable import VestaCore

/// The days that are counted, and what is kept of them between runs.
@Suite struct HeartbeatTests {
  private let day = Locked("2026-11-21")

  private func heartbeat(_ agent: String = "a/1", _ directory: TemporaryDirectory? = nil) -> Heartbeat {
    let file = directory.map { URL(filePath: $0.path).appending(path: "heartbeats.json") }
    return Heartbeat(userAgent: agent, file: file) { [day] in day.withLock { $0 } }
  }

  private func set(_ text: String) { day.withLock { $0 = text } }

  @Test func `a day is counted once, however often the program is started on it`() throws {
    let directory = try TemporaryDirectory("heartbeat")
    #expect(heartbeat("a/1", directory).payload() != nil)
    for _ in 0..<3 { #expect(heartbeat("a/1", directory).payload() == nil) }
    set("2026-11-22")
    heartbeat("a/1", directory).log()
    set("2026-11-23")
    // The day that no request has named is named by a later run, with the libraries of that time.
    #expect(
      heartbeat("a/2", directory).payload()
        == #"{"heartbeats":[{"agent":"a/1","dates":["2026-11-22"]},{"agent":"a/2","dates":["2026-11-23"]}],"version":2}"#
    )
  }

  @Test func `today is taken alone, and not again by the payload`() {
    let heartbeat = heartbeat()
    heartbeat.log()
    set("2026-11-22")
    #expect(heartbeat.takeToday() && !heartbeat.takeToday())
    #expect(heartbeat.payload() == #"{"heartbeats":[{"agent":"a/1","dates":["2026-11-21"]}],"version":2}"#)
    #expect(heartbeat.payload() == nil)
    set("2026-11-23")
    #expect(heartbeat.payload() != nil && !heartbeat.takeToday())
  }

  @Test func `a clock that was set back counts no day twice`() {
    let heartbeat = heartbeat()
    #expect(heartbeat.payload() != nil)
    set("2026-11-20")
    #expect(heartbeat.payload() == nil && !heartbeat.takeToday())
    set("2026-11-21")
    #expect(heartbeat.payload() == nil)
  }

  @Test func `a damaged file and one that cannot be written stop nothing`() throws {
    let directory = try TemporaryDirectory("heartbeat")
    try directory.write(Array("[".utf8), to: "heartbeats.json")
    #expect(heartbeat("a/1", directory).payload() != nil)
    let nowhere = Heartbeat(userAgent: "a/1", file: URL(filePath: "/proc/none/heartbeats.json")) { "2026-11-21" }
    #expect(nowhere.payload() != nil && nowhere.payload() == nil)
  }

  @Test func `of many threads one names the day`() async {
    let heartbeat = heartbeat()
    let named = await withTaskGroup(of: Bool.self) { group in
      for index in 0..<64 { group.addTask { index % 2 == 0 ? heartbeat.payload() != nil : heartbeat.takeToday() } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(named == 1)
  }

  @Test func `a day begins at midnight in UTC, whatever day was asked for before`() {
    let midnight = 1_795_996_800.0
    for (offset, expected) in [(-0.5, "2026-11-29"), (0, "2026-11-30"), (86_399, "2026-11-30"), (-0.5, "2026-11-29")] {
      #expect(Heartbeat.day(of: Date(timeIntervalSince1970: midnight + offset)) == expected)
    }
    #expect(Heartbeat.day(of: Date(timeIntervalSince1970: -1)) == "1969-12-31")
    #expect(Heartbeat.day(of: Date(timeIntervalSince1970: 0)) == "1970-01-01")
  }
}
