import Foundation
import VestaBytes
public import VestaCore

/// Writes each log message as a line of JSON to the standard error output: `time`, `level`, `service`, `code`,
/// `message`.
public struct JSONLogSink: LogSink {
  /// A sink.
  public init() {}

  /// Writes the message as one line.
  public func write(_ entry: LogEntry) {
    // The terminal may be closed.
    try? FileHandle.standardError.write(contentsOf: Data(Self.line(of: entry)))
  }

  /// The line of a message, with its end.
  static func line(of entry: LogEntry) -> [UInt8] {
    let object: JSONObject = [
      "time": .string(entry.date.formatted(.iso8601)), "level": .string("\(entry.level)"),
      "service": .string(entry.service), "code": .string(entry.code), "message": .string(entry.message),
    ]
    return ((try? JSONValue.object(object).json()) ?? []) + [UInt8(ascii: "\n")]
  }
}
