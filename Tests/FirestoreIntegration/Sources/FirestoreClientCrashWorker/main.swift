// The process that the crash tests of the client kill. Closures here would be bound to the main actor.
await ClientWorker.run(CommandLine.arguments)
