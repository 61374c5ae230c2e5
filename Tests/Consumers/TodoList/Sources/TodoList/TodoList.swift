import Foundation

/// The program: `TodoList NAME [FOLDER]` is the list in a terminal, and without arguments the rehearsal.
@main
enum TodoList {
  @MainActor static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    do {
      guard let name = arguments.first else { return try await Rehearsal.run() }
      let folder = URL(filePath: arguments.dropFirst().first ?? "todo-\(name)")
      try await terminal(try Person(name, directory: folder))
    } catch {
      print("TodoList: \(error)")
      exit(1)
    }
  }

  private static let help = "add TITLE, done TITLE, list, who, offline, online, quit"

  @MainActor private static func terminal(_ person: Person) async throws {
    print("Hello \(person.name). \(help)")
    while let line = readLine() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      switch (words.first, words.dropFirst().first) {
      case ("add", let title?): try await person.add(title)
      case ("done", let title?): if try await !person.toggle(title) { print("There is no \"\(title)\".") }
      case ("list", nil): show(try await person.state())
      case ("who", nil): try await showPresent(person)
      case ("offline", nil): try await person.goOffline()
      case ("online", nil): try await person.goOnline()
      case ("quit", nil): return await person.leave()
      case (nil, _): break
      default: print(help)
      }
    }
    await person.leave()
  }

  private static func show(_ state: ListState) {
    for item in state.items {
      let note = item.id.map(state.pending.contains) == true ? ", not sent yet" : ""
      print("\(item.done ? "[x]" : "[ ]") \(item.title) (\(item.author)\(note))")
    }
  }

  private static func showPresent(_ person: Person) async throws {
    for try await names in person.present { return print(names.joined(separator: ", ")) }
  }
}
