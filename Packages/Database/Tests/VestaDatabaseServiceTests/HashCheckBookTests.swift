import Testing
import VestaDatabaseBackend
import VestaTesting

@testable import VestaDatabaseService

/// The checks that run concurrently with writes, event by event.
@Suite struct HashCheckBookTests {
  private func writes(_ paths: DatabasePath...) -> [[DatabasePathValue]] {
    paths.map { [DatabasePathValue($0, .empty)] }
  }

  @Test func `the worked example`() {
    var book = HashCheckBook()
    #expect(book.begin(at: "scores") == 1)
    #expect(book.begin(at: "rooms") == 2)
    book.overtake(writes("scores/a"))
    let (first, second) = (book.end(1), book.end(2))
    #expect(first && !second)
    #expect(book.count == 0)
  }

  @Test(
    arguments: [
      ("a/b", true), ("a/b/c", true), ("a", true), ("", true), ("a/c", false), ("b", false), ("a/bc", false),
    ] as [(DatabasePath, Bool)])
  func `a write at, above or below the path overtakes a check`(path: DatabasePath, overtakes: Bool) {
    var book = HashCheckBook()
    let number = book.begin(at: "a/b")
    book.overtake(writes("x", path))
    let isOvertaken = book.end(number)
    #expect(isOvertaken == overtakes)
  }

  @Test func `what is not known overtakes every check, and none that begins later`() {
    var book = HashCheckBook()
    let early = [book.begin(at: "a"), book.begin(at: "b")]
    book.overtakeAll()
    let late = book.begin(at: "a")
    #expect(early.map { book.end($0) } == [true, true])
    let isLateOvertaken = book.end(late)
    #expect(!isLateOvertaken)
  }

  @Test func `a check that is not known counts as overtaken`() {
    var book = HashCheckBook()
    let isOvertaken = book.end(7)
    #expect(isOvertaken)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `in any order of events a check is overtaken by the writes since it began alone`(seed: UInt64) {
    let paths: [DatabasePath] = [.root, "a", "a/b", "a/b/c", "a/d", "e"]
    var random = SplitMix(seed: seed)
    var book = HashCheckBook()
    var model: [Int: (path: DatabasePath, isOvertaken: Bool)] = [:]
    for _ in 0..<400 {
      let path = paths.randomElement(using: &random) ?? .root
      switch Int.random(in: 0..<4, using: &random) {
      case 0: model[book.begin(at: path)] = (path, false)
      case 1:
        book.overtake(writes(path))
        for (number, check) in model where check.path.contains(path) || path.contains(check.path) {
          model[number]?.isOvertaken = true
        }
      case 2 where Int.random(in: 0..<8, using: &random) == 0:
        book.overtakeAll()
        for number in model.keys { model[number]?.isOvertaken = true }
      default:
        guard let (number, check) = model.randomElement(using: &random) else { continue }
        model[number] = nil
        let isOvertaken = book.end(number)
        #expect(isOvertaken == check.isOvertaken)
      }
      #expect(book.count == model.count)
    }
  }
}
