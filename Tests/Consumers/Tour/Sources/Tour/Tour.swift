/// A walk through what Vesta can do, in the order in which it was built.
///
/// Read the chapters from top to bottom: each is a short program whose steps are checked as they run.
@main
enum Tour {
  static let chapters: [Chapter] = [
    Chapter("Components find one another by protocol", componentsChapter),
    Chapter("Many callers, one load", oneLoadChapter),
    Chapter("Every event source is a stream", streamsChapter),
    Chapter("Data that stays", storageChapter),
    Chapter("Tokens and passwords", tokensChapter),
    Chapter("Auth: users, with no server", authChapter),
    Chapter("Documents: the engine under Firestore", documentsChapter),
  ]

  static func main() async throws {
    // The main function belongs to the main actor; nothing of Vesta needs it.
    let held = try await Task.detached {
      if try await isVisit() { return true }
      return await Guide().lead(through: chapters)
    }.value
    if !held { leaveWithFailure() }
  }
}
