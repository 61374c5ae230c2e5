import Foundation
import VestaBytes
import VestaRules

/// Runs the recorded cases of the rules languages: every batch of every file of a suite.
@main
enum RulesConformance {
  static let suites = ["database-rules", "firestore-rules", "storage-rules"]

  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    let root = ProcessInfo.processInfo.environment["VESTA_CONFORMANCE_DIR"] ?? "../shared/conformance"
    var isKept = true
    for suite in suites where arguments.isEmpty || arguments.contains(suite) {
      isKept = run(suite, URL(filePath: root).appending(path: suite)) && isKept
    }
    if arguments.isEmpty || arguments.contains("real-rulesets") {
      isKept = compileAll(URL(filePath: root).appending(path: "real-rulesets/text")) && isKept
    }
    exit(isKept ? 0 : 1)
  }

  /// Compiles the rules files of public apps; whether all of them are accepted.
  private static func compileAll(_ folder: URL) -> Bool {
    let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    var count = Score.Count()
    for file in files.sorted(by: { $0.path < $1.path }) {
      let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
      do throws(RulesetError) {
        if file.pathExtension == "json" {
          _ = try DatabaseRuleset(text)
        } else {
          _ = try Ruleset(text, for: file.lastPathComponent.hasPrefix("storage") ? .storage : .firestore)
        }
        count.passed += 1
      } catch {
        count.failed += 1
        print("real-rulesets: \(file.lastPathComponent) is refused: \(error)")
      }
    }
    print("real-rulesets: \(count.passed) passed, \(count.failed) failed, 0 skipped")
    return count.failed == 0
  }

  /// Runs a suite; whether all its verdicts are right.
  private static func run(_ suite: String, _ folder: URL) -> Bool {
    let files = ((try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? [])
      .filter { $0.pathExtension == "jsonl" }.sorted { $0.path < $1.path }
    guard !files.isEmpty else {
      print("\(suite): 0 passed, 0 failed, 0 skipped (there is no data at \(folder.path))")
      return true
    }
    var total = Score()
    for file in files {
      let score = run(suite, file: file)
      print("\(suite): \(file.lastPathComponent): \(score.summary)")
      total.add(score)
    }
    for (topic, score) in total.topics.sorted(by: { $0.key < $1.key }) {
      print("\(suite): topic \(topic): \(score.passed) of \(score.passed + score.failed)")
    }
    print("\(suite): messages: \(total.messages.passed) of \(total.messages.passed + total.messages.failed)")
    print("\(suite): \(total.verdicts.passed) passed, \(total.verdicts.failed) failed, \(total.skipped) skipped")
    return total.verdicts.failed == 0
  }

  private static func run(_ suite: String, file: URL) -> Score {
    var score = Score()
    guard let text = try? String(contentsOf: file, encoding: .utf8) else {
      print("\(suite): \(file.lastPathComponent) cannot be read")
      score.verdicts.failed += 1
      return score
    }
    for line in text.split(separator: "\n") {
      do {
        let json = try JSONObject(json: Array(line.utf8), limits: JSONLimits(maximumDepth: 128))
        run(try Batch(json), suite, &score)
      } catch {
        print("\(suite): \(file.lastPathComponent): a batch cannot be read: \(error)")
        score.verdicts.failed += 1
      }
    }
    return score
  }

  private static func run(_ batch: Batch, _ suite: String, _ score: inout Score) {
    for testCase in batch.cases {
      guard let result = batch.result(of: testCase) else {
        print("\(suite): \(batch.id)/\(testCase.id) skipped: the kind \(testCase.kind) is not known")
        score.skipped += 1
        continue
      }
      score.count(result, batch.topic)
      if let failure = result.verdictFailure { print("\(suite): \(batch.id)/\(testCase.id) \(failure)") }
      if let failure = result.messageFailure { print("\(suite): \(batch.id)/\(testCase.id) message: \(failure)") }
    }
  }
}

/// The result of a case; nil is what was right, or not recorded.
struct CaseResult {
  var verdictFailure: String?
  var messageFailure: String?
  /// Whether a message was recorded that could be compared.
  var hasMessage = false

  init(expected: String, got: String) {
    if expected != got { verdictFailure = "expected \(expected), got \(got)" }
  }

  mutating func compare(message expected: String, _ got: String) {
    hasMessage = true
    if expected != got { messageFailure = "expected \(expected)\n    got \(got)" }
  }
}

/// Counts of results: verdicts and messages apart.
struct Score {
  struct Count {
    var passed = 0
    var failed = 0

    mutating func count(_ isPassed: Bool) {
      if isPassed { passed += 1 } else { failed += 1 }
    }
  }

  var verdicts = Count()
  var messages = Count()
  var topics: [String: Count] = [:]
  var skipped = 0

  var summary: String {
    "\(verdicts.passed) passed, \(verdicts.failed) failed, \(skipped) skipped; messages \(messages.passed) of "
      + "\(messages.passed + messages.failed)"
  }

  mutating func count(_ result: CaseResult, _ topic: String) {
    verdicts.count(result.verdictFailure == nil)
    topics[topic, default: Count()].count(result.verdictFailure == nil)
    if result.hasMessage { messages.count(result.messageFailure == nil) }
  }

  mutating func add(_ other: Score) {
    verdicts.passed += other.verdicts.passed
    verdicts.failed += other.verdicts.failed
    messages.passed += other.messages.passed
    messages.failed += other.messages.failed
    skipped += other.skipped
    for (topic, count) in other.topics {
      topics[topic, default: Count()].passed += count.passed
      topics[topic, default: Count()].failed += count.failed
    }
  }
}
