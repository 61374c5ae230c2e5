import Testing
import VestaBytes

@testable import VestaFirestoreSync

/// The callers that wait for pending writes.
@Suite struct WriteCallersTests {
  private let alice = UTF8String("alice")

  @Test func `a batch has one caller that gets the answer, and others that only wait`() {
    var callers = WriteCallers()
    callers.add(7, of: 1, alice)
    callers.wait(8, for: 1)
    callers.wait(9, for: 1)
    #expect(callers.take(1, UTF8String("bob")) == (nil, [8, 9]))
    #expect(callers.take(1, alice) == (7, []))
    #expect(callers.take(1, alice) == (nil, []) && callers.counts == (0, 0))
  }

  @Test func `all callers of a user are told in the order of their batches, and no other user's`() {
    var callers = WriteCallers()
    for batch in [3, 1, 2] { callers.add(10 + batch, of: batch, alice) }
    callers.add(20, of: 1, UTF8String("bob"))
    for batch in [2, 1] { callers.wait(30 + batch, for: batch) }
    #expect(callers.takeAll(of: alice) == [11, 12, 13] && callers.takeAll(of: alice) == [])
    #expect(callers.takeWaiting() == [31, 32] && callers.takeWaiting() == [])
    #expect(callers.counts == (1, 0))
  }
}
