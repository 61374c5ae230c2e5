/// A walk through what Vesta can do, in the order in which it was built.
///
/// Read the chapters from top to bottom: each is a short program whose steps are checked as they run.
@main
enum Tour {
  static let chapters: [Chapter] = [
    Chapter("core", "Components find one another by protocol", componentsChapter),
    Chapter("core", "Many callers, one load", oneLoadChapter),
    Chapter("core", "Every event source is a stream", streamsChapter),
    Chapter("store", "Data that stays", storageChapter),
    Chapter("crypto", "Tokens and passwords", tokensChapter),
    Chapter("auth", "Auth: users, with no server", authChapter),
    Chapter("firestore", "Firestore: documents, live", firestoreChapter),
    Chapter("database", "Realtime Database: a tree for everybody", databaseChapter),
    Chapter("storage", "Storage: files", filesChapter),
    Chapter("remoteconfig", "Remote Config: values that change while you watch", configChapter),
    Chapter("messaging", "Messaging: to everybody who follows", messagesChapter),
    Chapter("functions", "Functions: code by name", functionsChapter),
  ]

  static func main() async throws {
    // The main function belongs to the main actor; nothing of Vesta needs it.
    let held = try await Task.detached {
      if try await isVisit() { return true }
      return await Guide().lead(through: try selection(CommandLine.arguments.dropFirst()))
    }.value
    if !held { leaveWithFailure() }
  }

  /// All chapters, or those of the product that `--product NAME` names.
  private static func selection(_ arguments: ArraySlice<String>) throws -> [Chapter] {
    guard let option = arguments.first else { return chapters }
    let selected = chapters.filter { $0.product == arguments.dropFirst().first }
    guard option == "--product", !selected.isEmpty else {
      let names = Set(chapters.map(\.product)).sorted().joined(separator: ", ")
      throw Stumble(description: "Use: Tour [--product NAME], where NAME is one of \(names).")
    }
    return selected
  }
}
