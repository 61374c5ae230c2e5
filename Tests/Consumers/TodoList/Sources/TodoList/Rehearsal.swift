import Foundation

/// A step that did not hold.
struct Unexpected: Error {
  let what: String
}

/// Two people, one list, a tunnel without a network, and a second day: what the tests run.
enum Rehearsal {
  static func run() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "todo-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    try await firstDay(directory)
    let ada = try Person("ada", directory: directory)
    try expect(try await ada.state().summary == "(Bread), (Milk)", "the list is there on the next day")
    await ada.leave()
  }

  private static func firstDay(_ directory: URL) async throws {
    let (ada, bob) = (try Person("ada", directory: directory), try Person("bob", directory: directory))
    try await until(bob.present, { $0 == ["ada", "bob"] }, "both are there")
    try await ada.add("Milk")
    try await until(bob.states, { $0.summary == "Milk" }, "bob sees what ada adds")

    try await ada.goOffline()
    try await until(bob.present, { $0 == ["bob"] }, "ada has left")
    try await ada.add("Bread")
    try await until(
      ada.states, { $0.summary == "Bread, Milk" && $0.pending.count == 1 }, "ada continues without a network")
    try expect(try await bob.toggle("Milk"), "bob has bought the milk")
    try expect(try await bob.state().summary == "(Milk)", "bob does not know of the bread")

    try await ada.goOnline()
    try await until(bob.states, { $0.summary == "Bread, (Milk)" }, "the bread arrives")
    try await until(ada.states, { $0.summary == "Bread, (Milk)" && $0.pending.isEmpty }, "and nothing waits")
    try await until(bob.present, { $0 == ["ada", "bob"] }, "ada is back")
    try expect(try await ada.toggle("Bread"), "ada has bought the bread")
    try expect(try await !ada.toggle("Beer"), "there is no beer on the list")
    await ada.leave()
    try await until(bob.present, { $0 == ["bob"] }, "a person who leaves is not there")
    await bob.leave()
  }

  /// Waits for an element of a stream.
  private static func until<Element>(
    _ elements: some AsyncSequence<Element, any Error>, _ isMet: (Element) -> Bool, _ what: String
  ) async throws {
    for try await element in elements where isMet(element) {
      print("ok: \(what)")
      return
    }
    throw Unexpected(what: what)
  }

  private static func expect(_ condition: Bool, _ what: String) throws {
    guard condition else { throw Unexpected(what: what) }
    print("ok: \(what)")
  }
}
