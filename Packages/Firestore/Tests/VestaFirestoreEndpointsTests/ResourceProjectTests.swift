import Testing
import VestaServiceInterop

@testable import VestaFirestoreEndpoints

/// The parts of resource names by which a call finds its project and its database.
@Suite struct ResourceProjectTests {
  @Test(
    arguments: [
      "projects/p/databases/d", "projects/p/databases/d/", "projects/p/databases/d/documents/a/b",
      "projects/pröject/databases/(default)/documents", "projects/p/databases/d//",
    ])
  func `the project and the database are found, whatever follows them`(name: String) throws {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    #expect(try project(of: name) == parts[1])
    #expect(try database(of: name) == parts[0...3].joined(separator: "/"))
  }

  @Test(
    arguments: [
      "", "projects", "projects/", "projects/p", "projects/p/", "projects/p/databases", "projects/p/databases/",
      "projects//databases/d", "projects/p/databases//documents", "projects/p/database/d", "projects/p/databasesd",
      "project/p/databases/d", "/projects/p/databases/d", "Projects/p/databases/d", "projects/p/x/databases/d",
    ])
  func `a name without both is refused`(name: String) {
    #expect(throws: ServiceStatus.self) { _ = try project(of: name) }
    #expect(throws: ServiceStatus.self) { _ = try database(of: name) }
  }
}
