import Testing
import VestaTesting

@Suite struct ContractTests {
  private struct Broken: Error {}

  @Test func `run returns one outcome for each promise, in order`() async {
    let contracts: [Contract<Int>] = [
      Contract("is positive") { try expect($0 > 0, "\($0) is not positive") },
      Contract("is even") { try expect($0 % 2, equals: 0, "remainder") },
      Contract("throws nothing") { _ in throw Broken() },
    ]
    let outcomes = await contracts.run { 7 }
    #expect(outcomes.map(\.isKept) == [true, false, false])
    #expect(outcomes.map(\.name) == contracts.map(\.name))
    #expect(outcomes[1].description.hasPrefix("BROKEN: is even: remainder: expected 0, found 1"))
  }

  @Test func `a subject that cannot be made breaks every promise`() async {
    let contracts = [Contract<Int>("anything") { _ in }]
    let outcomes = await contracts.run { throw Broken() }
    #expect(outcomes.map(\.isKept) == [false])
  }

  @Test func `expectThrows distinguishes no error from a wrong one`() async throws {
    let error = try await expectThrows(Broken.self, "a call") { throw Broken() }
    #expect(type(of: error) == Broken.self)
    await #expect(throws: ContractViolation.self) { try await expectThrows(Broken.self, "a call") { 1 } }
    await #expect(throws: ContractViolation.self) {
      try await expectThrows(Broken.self, "a call") { throw CancellationError() }
    }
  }

  @Test func `expectValue unwraps or says what is missing`() throws {
    #expect(try expectValue(Optional(3), "three") == 3)
    #expect(throws: ContractViolation.self) { try expectValue(Optional<Int>.none, "three") }
  }
}
