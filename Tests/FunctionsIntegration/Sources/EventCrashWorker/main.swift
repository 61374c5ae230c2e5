// The process that the crash tests kill. Code lives in Worker.swift: closures here would be bound to the main actor.
await Worker.run(CommandLine.arguments)
