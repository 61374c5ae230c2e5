import Testing
import VestaTesting

@Suite struct HostileInputsTests {
  private static let messages = [Array("first message".utf8), Array("another".utf8)]

  private func inputs(seed: UInt64, count: Int = 2_000) -> [[UInt8]] {
    var found: [[UInt8]] = []
    HostileInputs("Test", [.init(Self.messages) { found.append($0) }]).run(count: count, seed: seed)
    return found
  }

  @Test func `the same seed has the same inputs, and another one has others`() {
    #expect(inputs(seed: 1) == inputs(seed: 1))
    #expect(inputs(seed: 1) != inputs(seed: 2))
  }

  @Test func `inputs are shorter, longer and as long as their message, and nearly all differ from it`() {
    let found = inputs(seed: 3)
    #expect(found.count == 2_000)
    #expect(Set(found).count > 1_500)
    #expect(found.contains { $0.count < 5 } && found.contains { $0.count > 20 } && found.contains { $0.count == 13 })
    #expect(found.filter { Self.messages.contains($0) }.count < 20)
    #expect(found.allSatisfy { $0.count < 200 })
  }

  @Test func `decoders take turns, and throwing ones are counted`() {
    struct Refusal: Error {}
    var counts = [0, 0]
    let inputs = HostileInputs(
      "Test",
      [
        .init(Self.messages) { _ in counts[0] += 1 },
        .init(Self.messages) { _ in
          counts[1] += 1
          throw Refusal()
        },
        .init([[]]) { _ in Issue.record("a decoder without a message is left out") },
      ])
    #expect(inputs.run(count: 1_000, seed: 1) == 500)
    #expect(counts == [500, 500])
    #expect(HostileInputs("Empty", []).run(count: 5, seed: 1) == 0)
  }

  @Test func `a process says how much memory it has`() {
    let memory = ProcessMemory.current
    #expect(memory.peak >= memory.resident)
    // Zero where the system does not say.
    #expect(memory.resident == 0 || memory.resident > 1 << 20)
  }
}
