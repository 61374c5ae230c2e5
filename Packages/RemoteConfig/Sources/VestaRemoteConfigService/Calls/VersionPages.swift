import VestaBytes
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInterop

/// Lists versions, the newest first.
struct VersionPages {
  let reader: any StoreReader
  let request: ListVersionsRequest

  func page() async throws -> VersionPage {
    guard (1...300).contains(request.pageSize) else {
      throw RemoteConfigServiceError(.invalidArgument, "pageSize is between 1 and 300, not \(request.pageSize).")
    }
    var first = request.endVersion ?? .max - 1
    if let token = request.pageToken {
      guard let version = try? PageToken(token, of: scope).number(), version > 0 else {
        throw RemoteConfigServiceError(.invalidArgument, "\"\(token)\" is not a page token of this list.")
      }
      first = min(first, version)
    }
    return try await page(from: first)
  }

  private func page(from first: Int64) async throws -> VersionPage {
    let range = Keys.versions(request.namespace, upTo: min(first, .max - 1))
    var versions: [ConfigVersion] = []
    var next: Int64?
    for entry in try await reader.entries(in: range, order: .descending) {
      let version = ConfigReader.version(entry.value, entry.key, try Keys.version(of: entry.key))
      guard isWanted(version) else { continue }
      if versions.count == request.pageSize {
        next = version.versionNumber
        break
      }
      versions.append(version)
    }
    return VersionPage(versions: versions, nextPageToken: next.map { PageToken(number: $0, of: scope).text })
  }

  /// The request without its page.
  private var scope: [UInt8] {
    let bounds = [request.endVersion, request.startTime, request.endTime].map { bound in bound.map { "\($0)" } ?? "" }
    return Array((bounds + [request.namespace]).joined(separator: " ").utf8)
  }

  private func isWanted(_ version: ConfigVersion) -> Bool {
    let time = version.updateTime ?? 0
    return time >= request.startTime ?? .min && time < request.endTime ?? .max
  }
}
