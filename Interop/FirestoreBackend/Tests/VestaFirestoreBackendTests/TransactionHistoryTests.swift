import Testing
import VestaFirestoreBackendContracts

/// The checker by itself: it accepts what is serial, and finds what is not.
struct TransactionHistoryTests {
  private typealias Transaction = TransactionHistory.Transaction

  private let setUp = Transaction(writes: ["a": 1, "b": 1], version: 1)

  private func flaw(_ transactions: [TransactionHistory.Transaction]) -> TransactionHistory.Flaw? {
    do throws(TransactionHistory.Flaw) { try TransactionHistory(transactions: [setUp] + transactions).check() } catch {
      return error
    }
    return nil
  }

  @Test func `a serial history passes`() throws {
    let history = TransactionHistory(transactions: [
      Transaction(reads: [.document("a", 2), .query(atLeast: 2, limit: nil, ["a": 2])], version: 2),
      setUp,
      Transaction(reads: [.document("a", 1)], writes: ["a": 2], version: 2),
      Transaction(reads: [.query(atLeast: 0, limit: 1, ["a": 2])], writes: ["b": nil, "c": 4], version: 3),
      Transaction(reads: [.document("b", 1)], version: 2),
    ])
    #expect(try history.check() == ["a": 2, "c": 4])
  }

  @Test func `a lost update is found`() {
    let read = TransactionHistory.Read.document("a", 1)
    let both = [
      Transaction(reads: [read], writes: ["a": 2], version: 2),
      Transaction(reads: [read], writes: ["a": 3], version: 3),
    ]
    #expect(flaw(both) == .wrongRead(read, version: 3))
  }

  @Test func `write skew is found`() {
    let reads = [TransactionHistory.Read.document("a", 1), .document("b", 1)]
    let both = [
      Transaction(reads: reads, writes: ["a": 0], version: 2), Transaction(reads: reads, writes: ["b": 0], version: 3),
    ]
    #expect(flaw(both) == .wrongRead(reads[0], version: 3))
  }

  @Test func `a phantom is found`() {
    let read = TransactionHistory.Read.query(atLeast: 5, limit: nil, [:])
    let both = [
      Transaction(writes: ["c": 7], version: 2), Transaction(reads: [read], writes: ["d": 0], version: 3),
    ]
    #expect(flaw(both) == .wrongRead(read, version: 3))
  }

  @Test func `a read between two versions is found`() {
    let torn = TransactionHistory.Read.document("b", 1)
    let both = [
      Transaction(writes: ["a": 2, "b": 2], version: 2), Transaction(reads: [.document("a", 2), torn], version: 2),
    ]
    #expect(flaw(both) == .wrongRead(torn, version: 2))
  }

  @Test func `a read that is not of a prefix is found`() {
    let early = TransactionHistory.Read.document("a", 2)
    #expect(
      flaw([Transaction(writes: ["a": 2], version: 3), Transaction(reads: [early], version: 2)])
        == .wrongRead(early, version: 2))
  }

  @Test func `a write that changes nothing returns the version that it has seen`() throws {
    let deletions = [
      Transaction(reads: [.document("a", nil)], writes: ["a": nil], version: 2),
      Transaction(reads: [.document("a", 1)], writes: ["a": nil], version: 2),
      Transaction(writes: ["x": nil], version: 2),
    ]
    #expect(try TransactionHistory(transactions: [setUp] + deletions).check() == ["b": 1])
    let late = TransactionHistory.Read.document("a", 1)
    let wrong = Transaction(reads: [late], writes: ["x": nil], version: 2)
    #expect(flaw(deletions + [wrong]) == .wrongRead(late, version: 2))
  }

  @Test func `versions that do not grow are found`() {
    #expect(flaw([Transaction(writes: ["a": 2], version: 1)]) == .sameVersion(1))
  }
}
