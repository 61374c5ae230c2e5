import Foundation
import VestaCore

/// A walk through what Vesta can do, in the order in which it was built.
///
/// Read the chapters from top to bottom: each is a short program whose steps are checked as they run.
///
/// ```
/// Tour [--product NAME] [--data FOLDER] [--emulator HOST:PORT]
/// ```
///
/// With a folder the data stays, and the next run continues from it. With an emulator, such as `vesta serve`, the
/// chapters of the products that have a remote backend run against it, and the other chapters are left out.
@main
enum Tour {
  static let chapters: [Chapter] = [
    Chapter("core", "Components find one another by protocol", componentsChapter),
    Chapter("core", "Many callers, one load", oneLoadChapter),
    Chapter("core", "Every event source is a stream", streamsChapter),
    Chapter("store", "Data that stays", storageChapter),
    Chapter("crypto", "Tokens and passwords", tokensChapter),
    Chapter("auth", "Auth: users, with no server", isRemote: true, authChapter),
    Chapter("firestore", "Firestore: documents, live", isRemote: true, firestoreChapter),
    Chapter("firestore", "Killed while it writes", crashChapter),
    Chapter("database", "Realtime Database: a tree for everybody", databaseChapter),
    Chapter("storage", "Storage: files", isRemote: true, filesChapter),
    Chapter("remoteconfig", "Remote Config: values that change while you watch", isRemote: true, configChapter),
    Chapter("messaging", "Messaging: to everybody who follows", messagesChapter),
    Chapter("functions", "Functions: code by name", functionsChapter),
    Chapter("rules", "Security rules: tested without a server", rulesChapter),
  ]

  /// The products whose chapters run against an emulator as well.
  static var remoteProducts: Set<String> { Set(chapters.filter(\.isRemote).map(\.product)) }

  static func main() async {
    do {
      // The main function belongs to the main actor; nothing of Vesta needs it.
      let held = try await Task.detached { try await walk() }.value
      if !held { leaveWithFailure() }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      leaveWithFailure()
    }
  }

  /// Takes the chapters of the command line; `true` when every step held.
  private static func walk() async throws -> Bool {
    if try await playsAPart() { return true }
    let options = try Options(CommandLine.arguments.dropFirst())
    let guide = try Guide(folder: options.folder, emulator: options.emulator)
    let held = await guide.lead(through: options.chapters)
    guide.sayGoodbye(keepsData: options.keepsData)
    if !options.keepsData { try FileManager.default.removeItem(at: options.folder) }
    return held
  }

  /// The command line.
  private struct Options {
    /// All chapters, or those of one product.
    var chapters = Tour.chapters
    var folder = FileManager.default.temporaryDirectory.appending(path: "vesta-tour-\(UUID().uuidString)")
    var keepsData = false
    var emulator: VestaOptions.Backend?

    init(_ arguments: ArraySlice<String>) throws {
      var arguments = arguments
      while let name = arguments.popFirst() {
        let value = arguments.popFirst()
        switch (name, value) {
        case ("--product", let product?): chapters = chapters.filter { $0.product == product }
        case ("--data", let path?): (folder, keepsData) = (URL(filePath: path), true)
        case ("--emulator", let address?):
          emulator = try VestaOptions.fromEnvironment(["VESTA_BACKEND": "emulator:\(address)"]).backend
          chapters = chapters.filter(\.isRemote)
        default: chapters = []
        }
      }
      guard chapters.isEmpty else { return }
      let names = Set(Tour.chapters.map(\.product)).sorted().joined(separator: ", ")
      throw Stumble(
        description: """
          Use: Tour [--product NAME] [--data FOLDER] [--emulator HOST:PORT], where NAME is one of \(names). An emulator \
          serves \(Tour.remoteProducts.sorted().joined(separator: ", ")).
          """)
    }
  }
}
