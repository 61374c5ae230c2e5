import Testing
import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaMessagingService

@Suite struct SharedClockTests {
  @Test(arguments: [600, -600, 0])
  func `a message with a short time to live arrives in a process whose clock is ten minutes off`(lead: Int) async throws
  {
    let start: Int64 = 1_800_000_000_000_000
    let store = ModelStore(clock: ManualStoreClock(wall: start).clock)
    let (right, wrong) = (ManualClock(), ManualClock())
    right.jump(to: start)
    wrong.jump(to: start + Int64(lead) * 1_000_000)
    let (sender, receiver) = (
      makeEngine(SharedStore(store), clock: right), makeEngine(SharedStore(store), clock: wrong)
    )
    let token = try await sender.register()
    try await sender.send("short", to: .token(token), ttl: "20s")
    let (log, connection) = receiver.inbox(token)
    try await log.wait(forTexts: ["short"])
    connection.cancel()
    // The other way: what the process with the wrong clock sends is not over at once, and not kept for longer.
    try await receiver.send("back", to: .token(token), ttl: "20s")
    let (again, second) = sender.inbox(token)
    try await again.wait(forTexts: ["short", "back"])
    second.cancel()
    right.advance(by: .seconds(21))
    try await sender.send("end", to: .token(token))
    let (late, third) = sender.inbox(token)
    try await late.wait(forTexts: ["end"])
    third.cancel()
  }

  @Test func `a store that one process has alone keeps the clock of the service`() async throws {
    let (store, clock) = (ModelStore(clock: ManualStoreClock(wall: 5_000_000_000).clock), ManualClock())
    let engine = makeEngine(store, clock: clock)
    _ = try await engine.register()
    #expect(engine.time() == clock.now)
  }
}
