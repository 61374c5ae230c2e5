import Testing
import VestaCore

private final class Thing: Sendable {
  let name: String
  init(_ name: String) { self.name = name }
}
private struct Broken: Error {}

@Suite struct InstanceTableTests {
  private let table = InstanceTable<String, Thing>()

  @Test func `a key keeps its instance`() throws {
    let first = try table.instance(for: "a") { Thing("first") }
    let second = try table.instance(for: "a") { Thing("second") }
    #expect(first === second)
  }

  @Test func `a failure is thrown and tried again`() throws {
    #expect(throws: Broken.self) { try table.instance(for: "a") { throw Broken() } }
    #expect(try table.instance(for: "a") { Thing("now") }.name == "now")
  }

  @Test func `one instance may need another`() throws {
    let outer = try table.instance(for: "outer") {
      Thing("outer of \(try table.instance(for: "inner") { Thing("inner") }.name)")
    }
    #expect(outer.name == "outer of inner")
    #expect(table.all.map(\.name) == ["inner", "outer of inner"])
  }

  @Test func `an instance that needs itself is an error and not a deadlock`() throws {
    let error = try #require(throws: VestaError.self) {
      try table.instance(for: "a") { try table.instance(for: "a") { Thing("never") } }
    }
    #expect(error.code == .dependencyCycle)
  }

  @Test func `removing everything gives the last one first and closes the table`() async throws {
    for name in ["a", "b", "c"] { _ = try table.instance(for: name) { Thing(name) } }
    #expect(await table.removeAll().map(\.name) == ["c", "b", "a"])
    #expect(table.all.isEmpty)
    let error = try #require(throws: VestaError.self) { try table.instance(for: "d") { Thing("d") } }
    #expect(error.code == .appDeleted)
  }
}
