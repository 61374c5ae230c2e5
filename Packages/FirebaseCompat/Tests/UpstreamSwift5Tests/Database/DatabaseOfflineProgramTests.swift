import FirebaseCore
import FirebaseDatabase
import Foundation
import Testing

@Suite(.serialized) struct DatabaseOfflineProgramTests {
  @Test func `a program that works without a connection runs as it is`() async throws {
    try await withApp("offline") { app in
      let model = ScoreModel(app: app)
      #expect(await answer { model.connection($0) })
      #expect(await answer { model.skew($0) } > 1_700_000_000_000)
      // A write that is taken back before it is sent has failed, as written for `write_canceled`.
      async let canceled = answer { model.writeOffline($0) }
      while try await model.database.reference(withPath: "scores/ada").isShown() == false { await Task.yield() }
      model.database.purgeOutstandingWrites()
      #expect(await canceled == "com.firebase 3")
      async let saved = answer { model.writeOffline($0) }
      while try await model.database.reference(withPath: "scores/ada").isShown() == false { await Task.yield() }
      model.database.goOnline()
      #expect(await saved == "saved")
      let first: [Int] = await answer { done in model.give(up: 4) { done([$0 ? 1 : 0, $1]) } }
      #expect(first == [1, 4])
      let second: [Int] = await answer { done in model.give(up: 4) { done([$0 ? 1 : 0, $1]) } }
      #expect(second == [0, 4])
      let joe = try await model.typed()
      #expect(joe.name == "Joe" && joe.points == 9 && joe.badges == ["first"] && joe.updated != nil)
      #expect(await answer { model.after(4, $0) } == ["Joe"])
      let another = try await model.another(app)
      #expect(another == ["true", "false", "here", "-", "https://other.firebaseio.com"])
    }
  }

  @Test func `every kind of event has the key of the sibling before`() async throws {
    try await withApp("siblings") { app in
      let model = ScoreModel(app: app)
      let (events, continuation) = AsyncStream.makeStream(of: String.self)
      model.watch { continuation.yield($0) }
      var iterator = events.makeAsyncIterator()
      for (number, key) in ["a", "b", "c"].enumerated() {
        try await model.scoresRef.child(key).setValue(number, andPriority: number)
        let before = number == 0 ? "-" : ["a", "b"][number - 1]
        #expect(await iterator.next() == "added \(key) after \(before)")
      }
      try await model.scoresRef.child("b").setValue(9, andPriority: 1)
      #expect(await iterator.next() == "changed b after a")
      try await model.scoresRef.child("a").setPriority(5)
      #expect(await iterator.next() == "moved a after c")
      #expect(await iterator.next() == "changed a after c")
      try await model.scoresRef.child("c").removeValue()
      #expect(await iterator.next() == "removed c at 2")
      model.scoresRef.removeAllObservers()
      continuation.finish()
    }
  }
}

extension DatabaseReference {
  /// Whether an observer sees a value, from the device or from the service.
  fileprivate func isShown() async throws -> Bool {
    for try await snapshot in value { return snapshot.exists() }
    return false
  }
}
