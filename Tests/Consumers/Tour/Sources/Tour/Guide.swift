import Foundation
import VestaCore

/// A part of the tour: what it is about, a title, and steps that are taken with a guide.
struct Chapter: Sendable {
  let product: String
  let title: String
  /// Whether it is part of the tour without options.
  let isShort: Bool
  /// Whether it runs against an emulator as well.
  var isRemote: Bool { reason == nil }
  /// Why it does not run against an emulator.
  let reason: String?
  let steps: @Sendable (Guide) async throws -> Void

  init(
    _ product: String, _ title: String, isShort: Bool = false, staysLocal reason: String? = nil,
    _ steps: @escaping @Sendable (Guide) async throws -> Void
  ) {
    (self.product, self.title, self.isShort, self.reason, self.steps) = (product, title, isShort, reason, steps)
  }
}

/// A step that did not hold.
struct Stumble: Error, CustomStringConvertible {
  let description: String
}

/// Leads through the chapters, says what is happening, and checks that it is true.
struct Guide: Sendable {
  /// The number of this run on the data of its folder, from 1.
  let run: Int

  /// The emulator that serves the products with remote backends; `nil` for their engines.
  let emulator: VestaOptions.Backend?

  private let folder: URL
  private let isColored = ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty && isatty(1) != 0

  /// A guide for the next run on the data of a folder, which is made if need be.
  init(folder: URL, emulator: VestaOptions.Backend? = nil) throws {
    self.folder = folder
    self.emulator = emulator
    // The data of apps of another backend on this machine lies in the folder as well.
    if emulator != nil { setenv("XDG_DATA_HOME", folder.path, 1) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let counter = folder.appending(path: "runs")
    let runs = (try? String(contentsOf: counter, encoding: .utf8)).flatMap { Int($0) } ?? 0
    run = runs + 1
    try "\(run)".write(to: counter, atomically: true, encoding: .utf8)
  }

  /// The options of an app that keeps its data in a part of the tour's folder.
  func options(_ part: String) -> VestaOptions {
    VestaOptions(projectID: "tour", backend: .embedded(directory: folder.appending(path: part)))
  }

  /// The options of an app of a product that has a remote backend.
  func remoteOptions(_ part: String) -> VestaOptions {
    guard let emulator else { return options(part) }
    return VestaOptions(projectID: "tour", backend: emulator)
  }

  /// Names what is new in this run, also on a server that has the data of other tours.
  var suffix: String { emulator == nil ? "\(run)" : "\(run)-\(UUID().uuidString.prefix(8).lowercased())" }

  /// Says which chapters an emulator has no part in, and why.
  func explain(leftOut chapters: [Chapter]) {
    guard !chapters.isEmpty else { return }
    print("\nNot run against the emulator:")
    for chapter in chapters { note("\(chapter.title): \(chapter.reason ?? "")") }
  }

  /// Takes every step of every chapter; `true` when all of them held.
  func lead(through chapters: [Chapter]) async -> Bool {
    var stumbles = 0
    for (number, chapter) in chapters.enumerated() {
      print("\n\(styled("\(number + 1). \(chapter.title)", "1"))")
      do {
        try await chapter.steps(self)
      } catch {
        stumbles += 1
        print("   \(styled("✗", "31")) \(error)")
        // The next chapter begins as if this one had ended.
        for app in (VestaApp.allApps ?? [:]).values { await app.delete() }
      }
    }
    let summary =
      stumbles == 0
      ? styled("Every step held.", "32") : styled("\(stumbles) of \(chapters.count) chapters did not hold.", "31")
    print("\n\(summary)")
    return stumbles == 0
  }

  /// States a fact and checks it.
  func show(_ fact: String, _ holds: Bool) throws {
    guard holds else { throw Stumble(description: "This should be so and is not: \(fact)") }
    print("   \(styled("✓", "32")) \(fact)")
  }

  /// Prints what happens while a step is under way; nothing is checked.
  func note(_ event: String) { print("   \(styled("·", "2")) \(event)") }

  /// Draws a progress bar in place; on something else than a terminal nothing is drawn.
  func bar(_ what: String, done: Int64, of total: Int64) {
    guard isatty(1) != 0, total > 0 else { return }
    let filled = Int(done * 30 / total)
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
    print("\r   \(bar) \(what)", terminator: done >= total ? "\r\u{1B}[K" : "")
    fflush(nil)
  }

  /// Says where the data is.
  func sayGoodbye(keepsData: Bool) {
    guard keepsData else {
      return print("The data was in a temporary folder; --data FOLDER keeps it.")
    }
    print("The data of run \(run) is in \(folder.path). The next run continues from it.")
  }

  private func styled(_ text: String, _ code: String) -> String { isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}

/// Ends the process with the status that says that a step did not hold.
func leaveWithFailure() -> Never { exit(1) }
