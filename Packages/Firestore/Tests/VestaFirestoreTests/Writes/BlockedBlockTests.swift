import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaTesting

/// Blocks of transactions that wait on their threads.
@Suite(.timeLimit(.minutes(15)))
struct BlockedBlockTests {
  @Test func `more blocked blocks than cores hold up neither tasks nor other transactions`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    let (gate, blocked) = (Gate(), Log<Int>())
    let count = ProcessInfo.processInfo.activeProcessorCount + 8
    let ended = Log<Int>()
    for number in 0..<count {
      db.runTransaction({ _, _ in
        blocked.add(number)
        return gate.passes(within: .seconds(600))
      }) { value, _ in if value as? Bool == true { ended.add(number) } }
    }
    // Tasks run while all of them are blocked, and so does another transaction.
    await blocked.wait(for: count)
    let note = db.document("notes/a")
    _ = try await db.runTransaction { transaction, error -> Any? in
      do {
        _ = try transaction.getDocument(note)
        transaction.setData(["n": 1], forDocument: note)
      } catch let failure {
        error?.pointee = failure as NSError
      }
      return nil
    }
    #expect(try await note.getDocument().exists && ended.entries.isEmpty)
    gate.open()
    await ended.wait(for: count)
    await app.delete()
  }

  @Test func `a thousand transactions at once through the completion form all end`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    let ended = Log<Bool>()
    for number in 0..<1_000 {
      let note = db.document("notes/n\(number)")
      db.runTransaction({ transaction, error -> Any? in
        do {
          _ = try transaction.getDocument(note)
          transaction.setData(["n": number], forDocument: note)
        } catch let failure {
          error?.pointee = failure as NSError
        }
        return nil
      }) { ended.add($1 == nil) }
    }
    await ended.wait(for: 1_000)
    #expect(ended.entries.allSatisfy { $0 })
    #expect(try await db.collection("notes").count.getAggregation(source: .server).count == 1_000)
    await app.delete()
  }

  @Test func `a cancelled task ends its wait for a block, of which nothing is committed`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    let (begun, gate, ended) = (Gate(), Gate(), Gate())
    let note = db.document("notes/a")
    let task = Task {
      _ = try await db.runTransaction { transaction, _ -> Any? in
        begun.open()
        _ = gate.passes(within: .seconds(600))
        transaction.setData(["n": 1], forDocument: note)
        ended.open()
        return nil
      }
    }
    try await begun.pass()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    gate.open()
    try await ended.pass()
    #expect(try await !note.getDocument().exists)
    await app.delete()
  }
}
