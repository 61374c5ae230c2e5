import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// The call by which test kits set the rules of Storage: `PUT /internal/setRules`.
///
/// It needs no credential and names no project: the rules apply to all projects of a server for development.
enum StorageRulesCall {
  static let path = "/internal/setRules"

  static func isMeant(by method: HTTPMethod, _ target: String) -> Bool {
    method == .put && target.prefix { $0 != "?" } == path
  }

  /// Serves a request whose body was collected.
  static func response(to body: [UInt8], _ host: any EndpointHost) async -> HTTPResponse {
    guard host.isDevelopment, let rules = host.rulesOfAllProjects else {
      return message("This server is not one for development.", 404)
    }
    let source: String
    do throws(ServiceStatus) {
      source = try self.source(in: body)
    } catch {
      return message(error.message, 400)
    }
    do throws(RulesRefusal) {
      _ = try await rules.replaceRules(with: source, of: .storage)
      return message("Rules updated successfully", 200)
    } catch {
      return message("There was an error updating rules: \(error)", 400)
    }
  }

  /// Reads `{"rules":{"files":[{"name":"storage.rules","content":"…"}]}}`.
  static func source(in body: [UInt8]) throws(ServiceStatus) -> String {
    guard let object = try? JSONObject(json: body), let files = object["rules"]?.object?["files"]?.array,
      !files.isEmpty
    else { throw ServiceStatus(.invalidArgument, "Request body must include 'rules.files' array") }
    guard files.count == 1 else {
      throw ServiceStatus(.invalidArgument, "Rules of several buckets are not supported: send one file for all.")
    }
    guard let file = files[0].object, file["name"]?.string != nil, let content = file["content"]?.string else {
      throw ServiceStatus(.invalidArgument, "Each member of 'rules.files' array must contain 'name' and 'content'")
    }
    return content
  }

  private static func message(_ text: String, _ status: Int) -> HTTPResponse {
    let object: JSONObject = ["message": .string(text)]
    return .json((try? object.json()) ?? [], status: HTTPStatus(status))
  }
}
