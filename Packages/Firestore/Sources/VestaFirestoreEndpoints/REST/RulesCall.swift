import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// The calls by which test kits and tools set and read the rules of a project.
///
/// Rules that do not compile are an error, or with `ignore_errors` a list of issues: an editor shows them while rules
/// are being written.
struct RulesCall {
  private let source: String
  private let fileName: String?
  private let ignoresErrors: Bool

  /// Reads the body: `{"rules":{"files":[{"name":"…","content":"…"}]},"ignore_errors":true}`; the name may be absent.
  init(_ body: [UInt8]) throws(ServiceStatus) {
    guard let object = try? JSONObject(json: body),
      let files = object["rules"]?.object?["files"]?.array, files.count == 1,
      let content = files[0].object?["content"]?.string
    else { throw ServiceStatus(.invalidArgument, "The body has to have one file of rules.") }
    source = content
    fileName = files[0].object?["name"]?.string
    ignoresErrors = (object["ignore_errors"] ?? object["ignoreErrors"]) == true
  }

  func run(_ rules: any RulesAdministration) async throws -> HTTPResponse {
    let remarks: [RulesRemark]
    do throws(RulesRefusal) {
      let warnings = try await rules.replaceRules(with: source, of: .firestore)
      remarks = ignoresErrors ? warnings : []
    } catch {
      guard ignoresErrors else { throw ServiceStatus(.invalidArgument, error.description) }
      remarks = error.remarks
    }
    return try response(remarks)
  }

  /// The rules in force, in the form in which they are set.
  static func response(rulesInForce source: String?) throws -> HTTPResponse {
    let files = source.map { [["content": .string($0)]] as [JSONValue] } ?? []
    return RESTResponse.success(try (["rules": ["files": .array(files)]] as JSONObject).json())
  }

  private func response(_ remarks: [RulesRemark]) throws -> HTTPResponse {
    let issues = remarks.map { remark -> JSONValue in
      var issue: JSONObject = [
        "description": .string(remark.message), "severity": .string(remark.isError ? "ERROR" : "WARNING"),
      ]
      if let place = remark.place {
        var position: JSONObject = [
          "line": .integer(Int64(place.line)), "column": .integer(Int64(place.column)),
          "currentOffset": .integer(Int64(place.startOffset)), "endOffset": .integer(Int64(place.endOffset)),
        ]
        position["fileName"] = fileName.map { .string($0) }
        issue["sourcePosition"] = .object(position)
      }
      return .object(issue)
    }
    let object: JSONObject = issues.isEmpty ? [:] : ["issues": .array(issues)]
    return RESTResponse.success(try JSONValue.object(object).json())
  }
}
