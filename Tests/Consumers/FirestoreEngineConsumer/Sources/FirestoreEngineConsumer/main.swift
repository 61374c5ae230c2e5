try await Task.detached { try await runConsumer() }.value
