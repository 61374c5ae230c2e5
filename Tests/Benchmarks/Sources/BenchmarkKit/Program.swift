import Foundation

/// Programs that the benchmarks compare with.
public enum Program {
  /// The output of a program; nothing where it cannot be started.
  ///
  /// - Parameters:
  ///   - path: The program.
  ///   - arguments: Its arguments.
  public static func output(_ path: String, _ arguments: String...) async -> String {
    await output(path, arguments: arguments)
  }

  /// The output of a program; nothing where it cannot be started.
  ///
  /// - Parameters:
  ///   - path: The program.
  ///   - arguments: Its arguments.
  public static func output(_ path: String, arguments: [String]) async -> String {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        guard (try? process.run()) != nil else { return continuation.resume(returning: "") }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        continuation.resume(returning: String(decoding: data, as: UTF8.self))
      }
    }
  }
}
