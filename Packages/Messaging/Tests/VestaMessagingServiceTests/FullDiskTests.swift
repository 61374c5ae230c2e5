import Testing
import VestaMessagingBackend
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaMessagingService

/// Removals on a full disk.
@Suite struct FullDiskTests {
  @Test func `messages are acknowledged and swept on a full disk, and registrations removed`() async throws {
    let (store, clock) = (SmallDiskStore(), ManualClock())
    let engine = makeEngine(store, clock: clock)
    let one = try await engine.register("one"), two = try await engine.register("two")
    var ids: [String] = []
    for number in 0..<4 {
      let name = try await engine.send("\(number)", to: .token(one))
      ids.append(String(name.split(separator: "/").last ?? ""))
    }
    for number in 0..<3 { try await engine.send("\(number)", to: .token(two), ttl: "60s") }
    store.isFull = true
    let refused = await #expect(throws: MessagingServiceError.self) { try await engine.send("new", to: .token(one)) }
    #expect(refused?.code == .resourceExhausted)
    await #expect(throws: Never.self) {
      try await engine.acknowledge(token: one, messageIDs: [ids[0], ids[1]], context: CallContext())
    }
    clock.advance(by: .seconds(120))
    await #expect(throws: Never.self) { try await engine.sweep() }
    let left = try await engine.outbox(pageSize: 100, pageToken: nil, context: .owner)
    #expect(left.messages.filter { $0.isWaiting == true }.map(\.messageID).sorted() == ids[2...].sorted())
    await #expect(throws: Never.self) { try await engine.unregister(token: two, context: CallContext()) }
    store.isFull = false
    try await engine.send("new", to: .token(one))
    try await engine.close()
  }
}
