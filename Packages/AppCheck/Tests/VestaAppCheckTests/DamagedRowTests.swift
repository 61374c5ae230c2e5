import Testing
import VestaAppCheckBackend
import VestaBytes
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaAppCheckService

/// Rows of the service that cannot be read.
@Suite(.timeLimit(.minutes(10))) struct DamagedRowTests {
  private static let secret = "11111111-2222-4333-8444-555555555555"
  private let store = ModelStore()
  private let clock = ManualClock()

  private func engine() -> AppCheckEngine {
    AppCheckEngine(
      projectID: "demo", projectNumber: "7", crypto: FakeCrypto(),
      options: AppCheckServiceOptions(clock: clock.service)
    ) { [store] in store }
  }

  private func token(_ engine: AppCheckEngine) async throws -> String {
    try await engine.addDebugSecret(Self.secret, appID: "1:7:web:3", context: .owner)
    return try await engine.exchange(.debug(Self.secret), appID: "1:7:web:3", context: CallContext()).text
  }

  private func put(_ bytes: [UInt8], for key: [UInt8]) async throws {
    _ = try await store.write { try await $0.put(bytes, for: key) }
  }

  @Test func `keys that cannot be read are replaced, and tokens of the new ones are verified`() async throws {
    _ = try await token(engine())
    var wrong = SigningKeysRow()
    (wrong.keyID, wrong.pem, wrong.createTime) = ("k", "no key", clock.now)
    for damaged in try [[0xFF], wrong.fieldBytes()] {
      try await put(damaged, for: AppCheckKeys.keys)
      let first = engine(), second = engine()
      let text = try await token(first)
      let verified = try await second.verify(token: text, consumes: false, context: CallContext())
      #expect(verified.appID == "1:7:web:3")
    }
  }

  @Test func `a damaged row of a consumed token keeps no other one from being consumed`() async throws {
    let engine = engine(), text = try await token(engine)
    // A time without an id, long ago.
    try await put([], for: KeyEncoder(.string("end"), .int(0)).bytes)
    for isConsumed in [false, true] {
      let verified = try await engine.verify(token: text, consumes: true, context: CallContext())
      #expect(verified.isAlreadyConsumed == isConsumed)
    }
  }
}
