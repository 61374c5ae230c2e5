// The code lives in other files: closures here would be bound to the main actor.
await Task.detached { await Benchmarks.run() }.value
