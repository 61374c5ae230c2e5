import VestaConcurrency

struct Refused: Error {}

/// A step of the program: what should hold, and whether it does.
typealias Step = (claim: String, holds: Bool)

/// Does the real task, and says what held.
func runSteps() async -> [Step] {
  let (loads, shouldFail) = (Locked(0), Locked(true))
  let service = TokenService {
    await Task.yield()
    if shouldFail.withLock({ $0 }) { throw Refused() }
    let number = loads.withLock { loads in
      loads += 1
      return loads
    }
    return Token(text: "token \(number)", isValid: true)
  }

  let failure = await Task { try await service.retrieveToken() }.result
  shouldFail.withLock { $0 = false }

  let changes = service.tokenChanges
  let first = await retrieve(by: 100, from: service)
  service.invalidate()
  let second = await retrieve(by: 100, from: service)

  let watcher = Task {
    var seen: [String] = []
    for await token in changes { seen.append(token.text) }
    return seen
  }
  let isWatched = service.listenerCount == 1
  // Buffered elements are still delivered to a task that is cancelled.
  watcher.cancel()
  let seen = await watcher.value

  return [
    ("a failure reaches the caller and is not kept", isFailure(failure) && first == ["token 1"]),
    ("a hundred callers get one token", first == ["token 1"]),
    ("an invalid token is replaced, by one more load", second == ["token 2"] && loads.withLock { $0 } == 2),
    ("changes arrive in order", seen == ["token 1", "token 2"]),
    ("a cancelled watcher is no listener any more", isWatched && service.listenerCount == 0),
  ]
}

private func isFailure(_ result: Result<Token, any Error>) -> Bool {
  if case .failure(let error) = result { error is Refused } else { false }
}

/// The different tokens that `count` tasks get.
private func retrieve(by count: Int, from service: TokenService) async -> Set<String> {
  await withTaskGroup(of: String.self) { group in
    for _ in 0..<count { group.addTask { (try? await service.retrieveToken().text) ?? "none" } }
    return await group.reduce(into: []) { $0.insert($1) }
  }
}
