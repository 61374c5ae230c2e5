import VestaAuthBackend
import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// The page for sign-in with another provider, as an app has opened it.
struct SignInCall: Sendable {
  let call: AuthExchange
  let fields: FormFields

  func respond() async -> HTTPResponse {
    do {
      let provider = try value("providerId")
      _ = try value("apiKey")
      try await checkTarget()
      return SignInFile.handler(SignInPage(provider: provider, accounts: try await accounts(of: provider)).html)
    } catch {
      let text = SignInPage.escape(AuthResponse.error(error).wireMessage)
      return SignInFile.handler(
        "<!DOCTYPE html><meta charset=\"utf-8\"><title>Error</title><p>\(text)</p>", status: HTTPStatus(400))
    }
  }

  private func value(_ name: String) throws(AuthServiceError) -> String {
    guard let value = fields[name], !value.isEmpty else {
      throw AuthServiceError(.invalidArgument, "The address has no \(name).")
    }
    return value
  }

  /// Refuses a page to continue at that is neither on this machine nor of an authorized domain.
  ///
  /// A pop-up window continues nowhere, though apps name their page for it too.
  private func checkTarget() async throws {
    let type = fields["authType"] ?? fields["eventType"] ?? ""
    guard !type.lowercased().hasSuffix("popup") else { return }
    guard let target = fields["redirectUrl"], !target.isEmpty else { return }
    guard let host = RedirectTarget.host(of: target) else {
      throw AuthServiceError(.invalidContinueURI, "The redirectUrl is no http or https address.")
    }
    let domains = try await call.admin.projectConfig(context: call.context).authorizedDomains
    guard RedirectTarget.isLocal(host) || domains.contains(where: { $0.lowercased() == host }) else {
      throw AuthServiceError(
        .unauthorizedDomain, "Add \(host.prefix(200)) to authorizedDomains of the project's settings.")
    }
  }

  /// The first accounts of a provider, in the order of their user ids.
  private func accounts(of provider: String) async throws -> [ProviderUserInfo] {
    var accounts: [ProviderUserInfo] = []
    var request = BatchGetRequest(maxResults: 1_000)
    repeat {
      let page = try await call.admin.batchGet(request, context: call.context)
      accounts += page.users.flatMap(\.providerUserInfo).filter { $0.providerID == provider }
      request.nextPageToken = page.nextPageToken
    } while request.nextPageToken != nil && accounts.count < SignInPage.limit
    return Array(accounts.prefix(SignInPage.limit))
  }
}

/// The address at which an app continues after a sign-in.
enum RedirectTarget {
  /// The host in lower case; `nil` for anything but an address of http or https that all readers read alike.
  static func host(of text: String) -> String? {
    // Browsers skip some of these, and read a backslash as a slash.
    guard text.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "\\") }) else { return nil }
    let lowercased = text.lowercased()
    guard let scheme = ["https://", "http://"].first(where: lowercased.hasPrefix) else { return nil }
    let authority = lowercased.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    guard !authority.contains("@") else { return nil }
    let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]").map { authority.index(after: $0) } : nil
    let host = end.map { authority[..<$0] } ?? authority.prefix { $0 != ":" }
    return host.isEmpty ? nil : String(host)
  }

  static func isLocal(_ host: String) -> Bool { ["localhost", "127.0.0.1", "[::1]"].contains(host) }
}
