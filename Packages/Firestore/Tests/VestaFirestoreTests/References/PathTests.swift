import Testing
import VestaFirestoreModel

@testable import VestaFirestore

/// The paths that an application writes.
@Suite struct PathTests {
  @Test(arguments: ["c/a", "/c/a", "c/a/", "/c/a/"])
  func `one slash at either end of a path is tolerated`(path: String) {
    #expect(testDatabase.document(path).path == "c/a")
  }

  @Test(arguments: ["c", "/c", "c/", "/c/"])
  func `one slash at either end of an id is tolerated`(id: String) {
    #expect(testDatabase.collection(id).path == "c")
    #expect(testDatabase.collection("x").document(id).path == "x/c")
  }

  @Test(arguments: [
    (["cities"], UserPath.Kind.document, #"Write document("cities/ID") for a document of this collection"#),
    (["cities", "bonn"], .collection, #"Write document("cities/bonn") for this document"#),
  ])
  func `a path of the other kind is refused with what to write`(segments: [String], kind: UserPath.Kind, remedy: String)
  {
    #expect(UserPath.wrongCount(ResourcePath(segments), kind: kind).contains(remedy))
  }

  #if os(Linux) || os(macOS) || os(Windows)
    @Test func `a path of nothing stops the program`() async {
      await #expect(processExitsWith: .failure) { _ = UserPath.parse("", kind: .document) }
      await #expect(processExitsWith: .failure) { _ = UserPath.parse("/", kind: .document) }
      await #expect(processExitsWith: .failure) { _ = UserPath.parse("//", kind: .document) }
    }
  #endif
}
