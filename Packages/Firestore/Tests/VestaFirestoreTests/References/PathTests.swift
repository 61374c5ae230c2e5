import Testing

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

  #if os(Linux) || os(macOS) || os(Windows)
    @Test func `a path of nothing stops the program`() async {
      await #expect(processExitsWith: .failure) { _ = UserPath.parse("", kind: .document) }
      await #expect(processExitsWith: .failure) { _ = UserPath.parse("/", kind: .document) }
      await #expect(processExitsWith: .failure) { _ = UserPath.parse("//", kind: .document) }
    }
  #endif
}
