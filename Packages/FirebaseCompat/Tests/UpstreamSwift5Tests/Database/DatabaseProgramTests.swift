import FirebaseCore
import FirebaseDatabase
import Foundation
import Testing

@Suite(.serialized) struct DatabaseProgramTests {
  @Test func `a program with the Realtime Database runs as it is`() async throws {
    try await withApp("database") { app in
      let model = BlogModel(database: Database.database(app: app))
      #expect(await answer { model.addUser("jane", name: "Jane", $0) })
      #expect(await answer { model.name(of: "jane", $0) } == "Jane")
      #expect(await answer { model.nameOnce(of: "jane", $0) } == "Jane")
      let first = try #require(model.writePost("jane", "First"))
      _ = model.writePost("jane", "Second")
      #expect(await answer { model.star(first, by: "joe", $0) } == 1)
      #expect(await answer { model.star(first, by: "jim", $0) } == 2)
      #expect(await answer { model.star(first, by: "joe", $0) } == 1)
      #expect(await answer { model.top(1, $0) } == ["First"])
      let outcome1 = try await model.modern("jane")
      #expect(outcome1 == ["2", "2", "Jane"])

      let (events, continuation) = AsyncStream.makeStream(of: String.self)
      model.watchComments(first, added: { continuation.yield($0) }, removed: { continuation.yield("-\($0)") })
      var iterator = events.makeAsyncIterator()
      let comments = model.ref.child("post-comments").child(first)
      try await comments.child("a").setValue(["text": "Nice"])
      #expect(await iterator.next() == "Nice")
      try await comments.child("a").removeValue()
      #expect(await iterator.next() == "-a")
      model.stop()
      continuation.finish()
      model.presence()
    }
  }
}
