import VestaConcurrency

/// Runs a call, or a part of it; one with a large request apart from the loop of its connection.
///
/// Reading a message of 10 MiB takes long, and the other callers of the loop would wait meanwhile; so does writing the
/// responses of a listener that begins with many documents.
///
/// - Parameters:
///   - count: The number of bytes of the request, or of responses.
///   - limit: The largest number for which the loop is used.
func served<Result, Failure: Error>(
  _ count: Int, upTo limit: Int, _ body: () async throws(Failure) -> Result
) async throws(Failure) -> Result {
  guard count > limit else { return try await body() }
  return try await withTaskExecutorPreference(globalConcurrentExecutor) { () async throws(Failure) in
    // The preference counts from the next suspension on.
    await Task.yield()
    return try await body()
  }
}
