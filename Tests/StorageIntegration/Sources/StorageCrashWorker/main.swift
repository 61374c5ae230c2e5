await Worker.run(Array(CommandLine.arguments.dropFirst()))
