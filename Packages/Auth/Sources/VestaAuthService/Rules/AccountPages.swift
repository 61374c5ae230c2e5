import VestaAuthBackend
import VestaServiceInterop

/// The tokens of the pages of one list: the id of the last item, and a checksum of what is listed.
struct AccountPages {
  private let scope: [UInt8]

  /// The accounts of a tenant, or of the project itself.
  static func accounts(of tenant: TenantKey) -> AccountPages { AccountPages("accounts", tenant.rawValue) }

  /// The tenants.
  static let tenants = AccountPages("tenants", "")

  /// The identity providers of one kind in a tenant, or in the project itself.
  static func providers(_ kind: IdentityProvider.Kind, of tenant: TenantKey) -> AccountPages {
    AccountPages("providers \(kind.rawValue)", tenant.rawValue)
  }

  private init(_ list: String, _ tenant: String) { scope = Array("\(list)\u{0}\(tenant)".utf8) }

  /// The token of the page after an item; `nil` for none.
  func token(after id: String?) -> String? { id.map { PageToken(position: Array($0.utf8), of: scope).text } }

  /// The id that a page begins after; `nil` for the first page.
  ///
  /// - Throws: `INVALID_PAGE_SELECTION` for the token of another list, and for a string that is no token.
  func id(_ token: String?) throws(AuthServiceError) -> String? {
    guard let token, !token.isEmpty else { return nil }
    guard let position = try? PageToken(token, of: scope).position,
      let id = String(validating: position, as: UTF8.self)
    else {
      throw AuthServiceError(
        .invalidPageSelection, "The page token is not of this list. Pass the token of the page before.")
    }
    return id
  }
}
