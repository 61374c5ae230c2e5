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
/// Without a product this takes the short way, one chapter for each of the main products; `--product core` takes those
/// of one product, and `--product all` every chapter. With a folder the data stays, and the next run continues from it.
/// With an emulator, such as `vesta serve --memory --project tour`, the chapters of the products that have a remote
/// backend run against it; at the end the tour says which chapters were left out, and why.
@main
enum Tour {
  private static let inProcess = "it needs no service."

  /// The chapters in their order.
  static let chapters: [Chapter] = [
    Chapter("core", "Components find one another by protocol", staysLocal: inProcess, componentsChapter),
    Chapter("core", "Many callers, one load", staysLocal: inProcess, oneLoadChapter),
    Chapter("core", "Every event source is a stream", staysLocal: inProcess, streamsChapter),
    Chapter("store", "Data that stays", staysLocal: inProcess, storageChapter),
    Chapter("crypto", "Tokens and passwords", staysLocal: inProcess, tokensChapter),
    Chapter("auth", "Auth: users, with no server", isShort: true, authChapter),
    Chapter("firestore", "Firestore: documents, live", isShort: true, firestoreChapter),
    Chapter("firestore", "Killed while it writes", staysLocal: "it kills the process of the engine.", crashChapter),
    Chapter("database", "Realtime Database: a tree for everybody", isShort: true, databaseChapter),
    Chapter("storage", "Storage: files", isShort: true, filesChapter),
    Chapter("remoteconfig", "Remote Config: values that change while you watch", configChapter),
    Chapter("messaging", "Messaging: to everybody who follows", messagesChapter),
    Chapter(
      "functions", "Functions: code by name", isShort: true,
      staysLocal: "its functions are closures of this program; a server finds functions by --function NAME=URL.",
      functionsChapter),
    Chapter(
      "rules", "Security rules: tested without a server", isShort: true, staysLocal: inProcess, rulesChapter),
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
    let held = options.chapters.isEmpty ? true : await guide.lead(through: options.chapters)
    guide.explain(leftOut: options.leftOut)
    guide.sayGoodbye(keepsData: options.keepsData)
    if !options.keepsData { try FileManager.default.removeItem(at: options.folder) }
    return held
  }

  /// The command line.
  private struct Options {
    /// All chapters, or the chapters of one product.
    var chapters = Tour.chapters
    var folder = FileManager.default.temporaryDirectory.appending(path: "vesta-tour-\(UUID().uuidString)")
    var keepsData = false
    var emulator: VestaOptions.Backend?
    /// The chapters that would be taken without an emulator alone.
    var leftOut: [Chapter] = []

    init(_ arguments: ArraySlice<String>) throws {
      var arguments = arguments
      var product: String?
      while let name = arguments.popFirst() {
        let value = arguments.popFirst()
        switch (name, value) {
        case ("--product", let name?): product = name
        case ("--data", let path?): (folder, keepsData) = (URL(filePath: path), true)
        case ("--emulator", let address?):
          emulator = try VestaOptions.fromEnvironment(["VESTA_BACKEND": "emulator:\(address)"]).backend
        default: chapters = []
        }
      }
      chapters = chapters.filter { chapter in
        switch product {
        case nil: chapter.isShort || emulator != nil
        case "all": true
        default: chapter.product == product
        }
      }
      if emulator != nil {
        leftOut = chapters.filter { !$0.isRemote }
        chapters = chapters.filter(\.isRemote)
      }
      guard chapters.isEmpty, leftOut.isEmpty else { return }
      let names = Set(Tour.chapters.map(\.product)).sorted().joined(separator: ", ")
      throw Stumble(
        description: """
          Use: Tour [--product NAME] [--data FOLDER] [--emulator HOST:PORT], where NAME is one of \(names), or all. An \
          emulator serves \(Tour.remoteProducts.sorted().joined(separator: ", ")).
          """)
    }
  }
}
