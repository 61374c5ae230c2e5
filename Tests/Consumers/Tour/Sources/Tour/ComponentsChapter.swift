import VestaCore

// Two products that do not know each other: a clock, and a diary that would like to know the time. They share
// a protocol, and the program below decides who is there.

private protocol ClockInterop: Sendable {
  var time: String { get }
}

private enum ClockLibrary: Library {
  static let name = "tour-clock"
  static let version = "1.0.0"

  private struct NoonClock: ClockInterop {
    let time = "12:00"
  }

  static func components() -> [Component] {
    [
      Component((any ClockInterop).self) { _, isCacheable in
        isCacheable = true
        return NoonClock()
      }
    ]
  }
}

private final class Diary: Sendable {
  private let clock: (any ClockInterop)?

  init(clock: (any ClockInterop)?) { self.clock = clock }

  func entry(_ text: String) -> String { "\(clock?.time ?? "some time"): \(text)" }
}

private enum DiaryLibrary: Library {
  static let name = "tour-diary"
  static let version = "1.0.0"

  static func components() -> [Component] {
    [
      Component(Diary.self, dependencies: [.optional((any ClockInterop).self)]) { container, isCacheable in
        isCacheable = true
        return Diary(clock: try container.find((any ClockInterop).self))
      }
    ]
  }
}

private protocol PaperInterop: Sendable {}

private enum PrinterLibrary: Library {
  static let name = "tour-printer"
  static let version = "1.0.0"

  static func components() -> [Component] {
    let paper = Dependency.required((any PaperInterop).self, providedBy: "TourPaper (white, A4)")
    return [Component(String.self, dependencies: [paper]) { _, _ in "printed" }]
  }
}

@Sendable
func componentsChapter(_ guide: Guide) async throws {
  let app = try VestaApp.configure(options: VestaOptions(), libraries: [DiaryLibrary.self, ClockLibrary.self])
  let diary = try app.container.require(Diary.self)
  try guide.show("the diary was given the clock: \"\(diary.entry("tea"))\"", diary.entry("tea") == "12:00: tea")
  try guide.show("asked again, it is the same diary", app.container.resolve(Diary.self) === diary)

  let lonely = try VestaApp.configure(name: "lonely", options: VestaOptions(), libraries: [DiaryLibrary.self])
  let entry = try lonely.container.require(Diary.self).entry("tea")
  try guide.show("in an app without a clock it still works: \"\(entry)\"", entry == "some time: tea")

  do {
    try VestaApp.configure(name: "printer", options: VestaOptions(), libraries: [PrinterLibrary.self])
    try guide.show("what is required and missing stops configure()", false)
  } catch VestaError.Code.missingDependency {
    try guide.show("what is required and missing stops configure(), which names the package to add", true)
  }

  _ = await (app.delete(), lonely.delete())
  try guide.show(
    "deleted apps are gone, and provide nothing", VestaApp.allApps == nil && app.container.resolve(Diary.self) == nil)
}
