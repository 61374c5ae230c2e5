import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// The call by which test kits set the rules of Storage: `PUT /internal/setRules`.
enum StorageRulesCall {
  /// Serves a request whose body was collected.
  static func response(to body: [UInt8], _ host: any EndpointHost) async throws -> HTTPResponse {
    guard let rules = host.rulesOfAllProjects else {
      return StorageSuiteCall.message("This server has no rules.", .notFound)
    }
    switch try self.sources(in: body) {
    case .all(let source): _ = try await rules.replaceRules(ofBuckets: [:], others: source)
    case .buckets(let sources): _ = try await rules.replaceRules(ofBuckets: sources, others: nil)
    }
    return StorageSuiteCall.message("Rules updated successfully", .ok)
  }

  /// The rules that a request sets.
  enum Sources: Equatable {
    /// The same for all buckets.
    case all(String)
    /// By bucket; other buckets have none.
    case buckets([String: String])
  }

  /// Reads `{"rules":{"files":[{"name":"storage.rules","content":"…"}]}}`; several files have the bucket as `resource`.
  ///
  /// One file has the rules of all buckets, whatever it names as `resource`, as in the suite.
  static func sources(in body: [UInt8]) throws(ServiceStatus) -> Sources {
    guard let object = try? JSONObject(json: body), let files = object["rules"]?.object?["files"]?.array,
      !files.isEmpty
    else { throw ServiceStatus(.invalidArgument, "Request body must include 'rules.files' array") }
    var sources: [String: String] = [:]
    for file in files {
      guard let file = file.object, file["name"]?.string != nil, let content = file["content"]?.string else {
        throw ServiceStatus(.invalidArgument, "Each member of 'rules.files' array must contain 'name' and 'content'")
      }
      if files.count == 1 { return .all(content) }
      guard let bucket = file["resource"]?.string else {
        throw ServiceStatus(
          .invalidArgument, "Each member of 'rules.files' array must contain 'name', 'content', and 'resource'")
      }
      sources[bucket] = content
    }
    return .buckets(sources)
  }
}
