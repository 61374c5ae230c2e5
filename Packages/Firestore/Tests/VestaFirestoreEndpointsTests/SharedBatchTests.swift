import Testing
import VestaConcurrency
import VestaTransportInterop

@testable import VestaFirestoreEndpoints

/// Batches of responses that many calls share.
@Suite struct SharedBatchTests {
  private let written = Locked(0)

  private func batches(limit: Int) -> SharedBatch<String> {
    SharedBatch(limit: limit) { [written] in
      written.withLock { $0 += 1 }
      return Array($0.utf8)
    }
  }

  private func frames(_ messages: String...) -> GRPCFrames { GRPCFrames(messages.map { Array($0.utf8) }) }

  @Test func `a batch that many calls share is written once`() throws {
    let batches = batches(limit: 100)
    let batch = ["one", "two"]
    for _ in 0..<10 { #expect(try batches.frames(of: batch) == frames("one", "two")) }
    #expect(written.withLock { $0 } == 2)
  }

  @Test func `an array that was changed is another batch`() throws {
    let batches = batches(limit: 100)
    var batch = ["one"]
    #expect(try batches.frames(of: batch) == frames("one"))
    batch[0] = "two"
    #expect(try batches.frames(of: batch) == frames("two"))
    #expect(try batches.frames(of: []) == frames())
    #expect(written.withLock { $0 } == 2)
  }

  @Test func `a large batch is not kept`() throws {
    let batches = batches(limit: 2)
    let batch = ["one"]
    for _ in 0..<3 { _ = try batches.frames(of: batch) }
    #expect(written.withLock { $0 } == 3)
  }
}
