import FirebaseCore
import FirebaseDatabase
import Foundation
import Testing

@Suite(.serialized) struct DatabaseQueryProgramTests {
  @Test func `a program with ordered queries and events runs as it is`() async throws {
    try await withApp("dinosaurs") { app in
      let model = DinosaurModel(database: Database.database(app: app))
      #expect(await answer { model.seed($0) } == nil)
      #expect(await answer { model.tall($0) } == ["stegosaurus", "bruhathkayosaurus"])
      #expect(await answer { model.small($0) } == ["linhenykus", "pterodactyl"])
      #expect(await answer { model.between("l", "p", $0) } == ["lambeosaurus", "linhenykus"])
      #expect(await answer { model.exactly(0.6, $0) } == ["linhenykus", "pterodactyl"])
      #expect(await answer { model.byPriority($0) } == ["stegosaurus"])
      #expect(await answer { model.scores($0) } == ["bruhathkayosaurus", "linhenykus"])
      #expect(await answer { model.presence($0) })
      let found1 = try await model.modern()
      #expect(found1 == ["1", "true 2", "false", "false", "3", "gone", "root", "true"])
    }
  }

  @Test func `observers of one query see additions, changes and moves, then the value`() async throws {
    try await withApp("events") { app in
      let model = DinosaurModel(database: Database.database(app: app))
      try await model.ref.setValue(["a": ["weight": 1], "b": ["weight": 2]])
      let (events, continuation) = AsyncStream.makeStream(of: String.self)
      model.watch { continuation.yield($0) }
      var iterator = events.makeAsyncIterator()
      #expect(await iterator.next() == "added a after none")
      #expect(await iterator.next() == "added b after a")
      try await model.ref.child("trex").setValue(["weight": 3])
      #expect(await iterator.next() == "added trex after b")
      #expect(await iterator.next() == "3 in all")
      try await model.ref.child("a/weight").setValue(4)
      #expect(await iterator.next() == "moved a after trex")
      #expect(await iterator.next() == "changed a")
      model.stop()
      continuation.finish()
    }
  }
}
