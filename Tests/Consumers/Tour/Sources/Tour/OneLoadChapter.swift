import VestaConcurrency

@Sendable
func oneLoadChapter(_ guide: Guide) async throws {
  let tokens = SingleFlight<String, String>()

  // All callers ask while the first load runs; its end is reported when the last one has asked.
  let answers = Locked<[String]>([])
  var starts = 0
  var report: ((Result<String, any Error>) -> Void)?
  for caller in 0..<1_000 {
    tokens.join("ada") { finish in
      starts += 1
      report = finish
    } then: { outcome in
      answers.withLock { $0.append("\((try? outcome.get()) ?? "nothing") for \(caller)") }
    }
  }
  report?(.success("token"))
  try guide.show("1,000 callers, \(starts) load", starts == 1)
  let expected = (0..<1_000).map { "token for \($0)" }
  try guide.show("they were answered in the order in which they came", answers.withLock { $0 } == expected)

  struct Offline: Error {}
  var failures = 0
  for _ in 0..<2 {
    do { _ = try await tokens.value(for: "ada") { throw Offline() } } catch is Offline { failures += 1 }
  }
  let token = try await tokens.value(for: "ada") { "token after all" }
  try guide.show("a failure is reported and not kept: \"\(token)\"", failures == 2 && token == "token after all")
}
