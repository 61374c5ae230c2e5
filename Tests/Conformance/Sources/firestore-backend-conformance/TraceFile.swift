import Foundation
import VestaFirestoreBackend

/// A recorded action of a trace.
struct TraceAction {
  /// The trace, and the number of the action in it.
  let name: String
  /// The call, such as `run_query`.
  let kind: String
  /// The request, in the wire's JSON.
  let request: JSON
  /// The responses of a query.
  let responses: [JSON]
  /// The status code; zero when the call succeeded.
  let code: Int
  /// The service's text.
  let message: String
  /// The key of the database that a query was run on.
  let database: String?
}

/// The recorded traces, and the databases that go with them.
struct TraceFile {
  /// The actions in the order of the file.
  let actions: [TraceAction]
  /// Documents by the key of the database.
  let databases: [String: [Document]]

  /// Reads `traces.jsonl` and `databases.json` of a folder.
  init(folder: URL) throws {
    let root = try JSON(parsing: Data(contentsOf: folder.appendingPathComponent("databases.json")))
    databases = try root.object().mapValues { try $0.array().map(WireReader.document) }
    let lines = try Data(contentsOf: folder.appendingPathComponent("traces.jsonl"))
    actions = try lines.split(separator: UInt8(ascii: "\n")).flatMap { line in
      let trace = try JSON(parsing: Data(line))
      let name = try trace["trace"].string()
      return try trace["actions"].array().map { try TraceFile.action($0, of: name) }
    }
  }

  private static func action(_ json: JSON, of trace: String) throws -> TraceAction {
    let isQuery = try json["action"].string() == "run_query"
    return TraceAction(
      name: "\(trace) #\(try json["id"].integer())",
      kind: try json["action"].string(),
      request: json["request"],
      responses: isQuery && json["response"].isPresent ? try json["response"].array() : [],
      code: json["status"].isPresent ? Int(try json["status"]["code"].integer()) : 0,
      message: json["status"].isPresent ? try json["status"]["message"].string() : "",
      database: json["database"].isPresent ? try json["database"].string() : nil
    )
  }
}
